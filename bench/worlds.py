"""How often the gate promotes where no action matters, world by world, and how often it finds a rule that is true.

Each world is lived through once for every seed, and every proposer is asked about every action and error in it. In
the first rows of a world anything promoted is false; in the others one rule is true, and only that counts. Beside
it an oracle knows that rule and tests it alone, once, on all episodes, at the same alpha: with the whole
adjustment of the gate, and (plain) without its control, so that it is also wrong where the gate rightly holds.
Takes minutes.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.claims import AfterError
from strategies.gate.replay.claimed_episodes import ClaimedEpisodes
from strategies.gate.replay.confounders import confounding
from strategies.gate.replay.support import is_noticed, support_p
from strategies.policy.written_rules import WRITTEN_RULE
from tests.worlds import NO_TABLE, promoted
from tests.worlds.confounded import WORLDS, judgements, with_rule, world

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.episodes.episode import EpisodeRecord

RULE: Final = AfterError(template=NO_TABLE, do="sql:SHOW")


class Told(NamedTuple):
    """Whether an oracle would promote the rule: with the gate's whole adjustment, and without its control."""

    whole: bool
    plain: bool


def oracle(records: Sequence[EpisodeRecord]) -> Told:
    """Test the one rule on all episodes, once."""
    cause = confounding(ClaimedEpisodes(RULE, records))
    plain, whole = (support_p(cause, controlled=controlled) for controlled in (False, is_noticed(cause)))
    return Told(max(plain, whole) <= WRITTEN_RULE.alpha, plain <= WRITTEN_RULE.alpha)


def main() -> None:
    """Print both parts of the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=40)
    parser.add_argument("--worlds", nargs="*", default=list(WORLDS), help="by name")
    parser.add_argument("--episodes", type=int, nargs="*", default=[600, 2_400], help="where nothing is true")
    parser.add_argument("--planted", type=int, nargs="*", default=[500, 2_000], help="where one rule is true")
    parser.add_argument("--lifts", type=float, nargs="*", default=[0.2, 0.1], help="what it adds, per episode")
    asked = parser.parse_args()
    seeds = range(asked.seeds)
    print(
        f"{'world':<16}{'episodes':>9}{'lift':>6}{'promoted':>9}{'oracle':>7}{'plain':>6}"
        f"   of {len(seeds)} seeds each"
    )
    for name in asked.worlds:
        for episodes in asked.episodes:
            answers, count = [], 0
            for seed in seeds:
                records = world(name, seed, episodes=episodes)
                count += bool(promoted(judgements(records, str(seed))))
                answers.append(oracle(records))
            _row(name, episodes, "none", count, answers)
        for lift in asked.lifts:
            for episodes in asked.planted:
                answers, count = [], 0
                for seed in seeds:
                    records = with_rule(world(name, seed, episodes=episodes), RULE, seed, lift=lift)
                    count += RULE in [judgement.claim for judgement in promoted(judgements(records, str(seed)))]
                    answers.append(oracle(records))
                _row(name, episodes, f"{lift:+.2f}", count, answers)


def _row(name: str, episodes: int, lift: str, count: int, answers: Sequence[Told]) -> None:
    whole, plain = sum(answer.whole for answer in answers), sum(answer.plain for answer in answers)
    print(f"{name:<16}{episodes:>9,}{lift:>6}{count:>9}{whole:>7}{plain:>6}", flush=True)


if __name__ == "__main__":
    main()
