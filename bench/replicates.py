"""What each run shows of the lines that recorded runs teach, and whether it holds in a run that was left out.

The first table learns on all runs, for several split keys. The second learns on all runs but one, and asks the one
that was left out: of lines that are said of all runs (general), and of those that name their runs (scoped). The
third does so with every claim that all other runs together show (p .01), whether or not a gate would promote it.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from events.types.claims import AfterError
from strategies.claims.catalogue import sentence
from strategies.gate.replay.claimed_episodes import ClaimedEpisodes
from strategies.gate.replay.contrast import cases_of, contrast, effect_of, judged
from strategies.gate.replay.explore_split import Explore
from strategies.gate.replay.replicates import answers, replicates, scope_of_line, turned_part
from strategies.gate.replay.run_left_out import answered, shown_by_others, without_each_run
from strategies.gate.run_rules import each_run
from strategies.gate.verdict import judge
from strategies.logs.scan import scan
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.propose.guard import guard, guard_claims
from strategies.propose.habit import habit, habit_claims
from strategies.propose.recovery import recovery
from tests.worlds import asking, division_of, sent_through

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.claims import Claim
    from events.types.score import Effect
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.run_left_out import InTheRunLeftOut
    from strategies.propose.proposal import ProposalRequest, Proposer
    from tests.worlds import Judgement

OFTEN = 40
"""Calls of a class, or steps with an error, from which it is asked about."""


class Line(NamedTuple):
    """A line that the other rules of the gate let through, and whether those about runs do."""

    claim: Claim
    effect: Effect
    kept: bool

    @property
    def scope(self) -> tuple[str, ...]:
        """The runs that the line names; none where it is general."""
        return scope_of_line(self.effect.replicates)


def lines_of(records: Sequence[EpisodeRecord], key: str) -> list[Line]:
    """Learn from all signals of these logs, and give each claim once that all rules but those on runs promote."""
    lines: dict[Claim, Line] = {}
    for number, judgement in enumerate(_judgements(records, key), 1):
        effect, figures = judgement.evidence.sealed.effect, judgement.evidence.figures
        if effect is None or effect.replicates is None:
            continue
        pooled = replace(figures, effect=effect.model_copy(update={"replicates": None}))
        if judge(pooled, WRITTEN_RULE, number).decision == "promote":
            kept = judgement.verdict.decision == "promote"
            lines.setdefault(judgement.claim, Line(judgement.claim, effect, kept))
    return list(lines.values())


def _judgements(records: Sequence[EpisodeRecord], key: str) -> list[Judgement]:
    division = division_of(records, key)
    explore = Explore(division.explore)
    steps = [step for record in division.explore for step in record.steps]
    templates, actions = _often(step.template for step in steps if step.error), _often(s.action for s in steps)
    asks: list[tuple[ProposalRequest, Sequence[Proposer]]] = [
        *((asking(explore, template=template), (recovery,)) for template in templates),
        *((asking(explore, action=action, calls_for="harden"), (guard,)) for action in actions),
        (asking(explore, calls_for="innovate"), (habit,)),
    ]
    return sent_through(asks, division, key)


def _often(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if name and count >= OFTEN)


def in_the_run_left_out(line: Line, records: Sequence[EpisodeRecord]) -> InTheRunLeftOut | None:
    """Ask a run that a line was not learned from; None where it has too few on either side."""
    shown = contrast(cases_of(line.claim, records))
    if shown is None or not answers(shown) or line.effect.replicates is None:
        return None
    return answered(shown, line.effect.replicates.spread)


def on_all_runs(records: Sequence[EpisodeRecord], keys: Sequence[str]) -> None:
    """Print which lines are promoted on how many keys, with which runs, and where their effect turns."""
    every: defaultdict[tuple[Claim, str], list[tuple[str, ...]]] = defaultdict(list)
    turned = 0
    for key in keys:
        for line in lines_of(records, key):
            every[line.claim, "promoted" if line.kept else "held"].append(line.scope)
            turned += line.kept and bool(turned_part(ClaimedEpisodes(line.claim, records)))
    print(f"learned on all runs, {len(keys)} split keys")
    for (claim, became), scopes in sorted(every.items(), key=lambda item: -len(item[1])):
        print(f"{len(scopes):>3} {became:<9}{sentence(claim)}")
        for scope, times in Counter(scopes).most_common():
            print(f"{'':>13}{times:>3} {'seen with ' + ', '.join(scope) if scope else 'general'}")
    print(f"promoted lines whose effect turns its sign somewhere, on all logs: {turned}")


def on_all_but_one(records: Sequence[EpisodeRecord], keys: Sequence[str]) -> None:
    """Print what lines learned without a run show in it, for each run and key."""
    shown: defaultdict[str, list[InTheRunLeftOut]] = defaultdict(list)
    silent: Counter[str] = Counter()
    for without in without_each_run(records):
        for key in keys:
            for line in lines_of(without.rest, key):
                way = ("scoped" if line.scope else "general") if line.kept else "held for its runs"
                there = in_the_run_left_out(line, without.itself)
                silent[way] += there is None
                shown[way] += [] if there is None else [there]
    print(f"\nlearned on all runs but one, {len(keys)} split keys each, asked in the one")
    print(f"{'lines':<20}{'asked':>7}{'better':>8}{'surely harmed':>15}{'predicted':>11}{'no answer':>11}")
    for way in ("general", "scoped", "held for its runs"):
        asked = shown[way]
        predicted = [there.covered for there in asked if there.covered is not None]
        print(
            f"{way:<20}{len(asked):>7}{sum(there.better for there in asked):>8}"
            f"{sum(there.harmed for there in asked):>15}{sum(predicted):>5} of {len(predicted):<3}{silent[way]:>9}"
        )


def claims_in(records: Sequence[EpisodeRecord]) -> set[Claim]:
    """List every claim that a proposer could make of these logs."""
    steps = [step for record in records for step in record.steps]
    templates, actions = _often(step.template for step in steps if step.error), _often(s.action for s in steps)
    after = (AfterError(template=template, do=action) for template in templates for action in actions)
    return {*guard_claims("", records), *habit_claims(records), *after}


def all_that_is_shown(records: Sequence[EpisodeRecord]) -> None:
    """Print what a run shows of every claim that all others show together, by what the rules on runs say of it."""
    rows: defaultdict[str, list[tuple[InTheRunLeftOut, bool]]] = defaultdict(list)
    for without in without_each_run(records):
        for claim, pooled, there in shown_by_others(claims_in(without.rest), without):
            shown = replicates(ClaimedEpisodes(claim, without.rest))
            effect = effect_of(pooled).model_copy(update={"replicates": shown})
            passed = all(rule.holds for rule in each_run(effect))
            way = "held for its runs" if not passed else "scoped" if scope_of_line(shown) else "general"
            inside = pooled.difference.low <= there.difference.value <= pooled.difference.high
            rows[way].append((answered(there, shown.spread if shown else None), inside))
    print("\nevery claim that all runs but one show together, asked in the one")
    print(f"{'claims':<20}{'asked':>7}{'better':>8}{'surely harmed':>15}{'pooled interval':>17}{'predicted':>12}")
    for way, asked in sorted(rows.items()):
        known = [there.covered for there, _ in asked if there.covered is not None]
        print(
            f"{way:<20}{len(asked):>7}{sum(there.better for there, _ in asked):>8}"
            f"{sum(there.harmed for there, _ in asked):>15}{sum(inside for _, inside in asked):>17}"
            f"{sum(known):>6} of {len(known):<3}"
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("logs", type=Path, nargs="+", help="logs of several runs with outcomes")
    parser.add_argument("--keys", type=int, default=20, help="split keys of the first table")
    parser.add_argument("--left-out-keys", type=int, default=4, help="split keys of the second, for each run")
    asked = parser.parse_args()
    records = judged(scan(asked.logs).records).records
    on_all_runs(records, [str(key) for key in range(asked.keys)])
    on_all_but_one(records, [str(key) for key in range(asked.left_out_keys)])
    all_that_is_shown(records)


if __name__ == "__main__":
    main()
