"""Runs as replicates: what each run shows of a claim, whether one carries it all, and what a new one would show.

A rule that one model needs may do nothing for another, or harm it. So each run is asked by itself, and then all
but each. A claim that only one run shows is a claim about that run.
"""

from __future__ import annotations

from collections import defaultdict
from math import hypot
from typing import TYPE_CHECKING, Final

from events.types.score import Replicates, RunEffect, RunSpread
from strategies.gate.replay.contrast import CARRYING_SHARE, contrast, outcome_of
from strategies.gate.replay.decisions import last_seen
from strategies.gate.stats.mantel_haenszel import Z95
from strategies.gate.stats.random_effects import EffectEstimate, random_effects
from strategies.policy.written_rules import LEAST_OBEDIENT, WRITTEN_RULE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from strategies.gate.replay.claimed_episodes import ClaimedEpisodes
    from strategies.gate.replay.contrast import Case, Contrast
    from strategies.gate.stats.mantel_haenszel import Interval

NAMED: Final = 6
"""Runs that are kept by name and figure, largest first."""
Z_ONE_SIDED: Final = 1.644854
"""The 95 % point of the normal distribution."""
SURELY: Final = 2.33
"""The z from which a part differs from the rest (p .01)."""
LEAST_ERROR: Final = 1e-3
"""No run is more certain than this."""


def replicates(held: ClaimedEpisodes) -> Replicates | None:
    """Ask each run about a claim, and all others without it; None where no run holds both arms.

    Runs with LEAST_OBEDIENT on either side are summed up; to answer for others, or to speak against a claim, takes
    `least_arm` on either side.
    """
    by_run = _by_run(held.cases)
    compared = {run: contrast(own) for run, own in by_run.items()}
    figures = {run: shown for run, shown in compared.items() if shown is not None}
    if not figures:
        return None
    largest = sorted(figures, key=lambda run: (-_arm(figures[run]), -figures[run].disobeyed, run))
    left_out, left_low = _without_one(by_run, figures)
    apart = _turned([by_run])
    shows = [run for run in largest if answers(figures[run]) and figures[run].difference.low > 0]
    scope = tuple(shows) if apart or _carried(left_out, left_low) else ()
    elsewhere = _turned([_by_task_kind(held.cases), _by_what_was_seen(held)])
    return Replicates(
        runs=tuple(_run_effect(run, figures[run]) for run in largest[:NAMED]),
        more=max(len(figures) - NAMED, 0),
        silent=len(by_run) - len(figures),
        spread=_spread([shown for shown in figures.values() if _arm(shown) >= LEAST_OBEDIENT]),
        left_out=left_out,
        left_low=left_low,
        scope=scope,
        harmed=next((run for run in largest if answers(figures[run]) and figures[run].difference.high < 0), ""),
        turned=elsewhere if scope else apart or elsewhere,
    )


def is_carried(shown: Replicates) -> bool:
    """Tell whether a claim is not shown without one of its runs."""
    return _carried(shown.left_out, shown.left_low)


def without_one_run(shown: Replicates) -> str:
    """Say what is left of a claim without the run that it rests on most."""
    if not shown.left_out:
        return "no run carries enough to be left out"
    if shown.left_low is None:
        others = len(shown.runs) + shown.more + shown.silent > 1
        return f"only {shown.left_out} can tell" if others else "there is no other run"
    return f"at least {shown.left_low:+.3f} without {shown.left_out}"


def runs_words(shown: Replicates) -> str:
    """Say for which runs a claim is supported."""
    without = without_one_run(shown)
    return (
        f"supported for {', '.join(shown.scope)} alone: {without}"
        if shown.scope
        else f"in several runs: {without}"
    )


def scope_of_line(shown: Replicates | None) -> tuple[str, ...]:
    """Name the runs that a line has to be about; nothing where there are no others to tell them from."""
    return shown.scope if shown is not None and len(shown.runs) + shown.more + shown.silent > 1 else ()


def turned_part(held: ClaimedEpisodes) -> str:
    """Name a run, a kind of task, or what was seen just before, where obeying surely goes with the opposite.

    There it lies below 0, surely by itself or surely apart from the rest. "" where there is none.
    """
    return _turned([_by_run(held.cases), _by_task_kind(held.cases), _by_what_was_seen(held)])


def _by_run(cases: Iterable[Case]) -> dict[str, list[Case]]:
    return _grouped((case[0][0], case) for case in cases)


def _by_task_kind(cases: Iterable[Case]) -> dict[str, list[Case]]:
    return _grouped((case[0][1], case) for case in cases)


def _by_what_was_seen(held: ClaimedEpisodes) -> dict[str, list[Case]]:
    """Sort episodes by what the last action before their last decision showed: it worked, or an error template."""
    last = ((record, made[-1]) for record, made in zip(held.records, held.decisions, strict=True) if made)
    return _grouped(
        (last_seen(record, at), (held.stratum_of(record), record.task, obeyed, outcome_of(record)))
        for record, (at, obeyed) in last
    )


def _grouped(cases: Iterable[tuple[str, Case]]) -> dict[str, list[Case]]:
    groups: defaultdict[str, list[Case]] = defaultdict(list)
    for name, case in cases:
        groups[name].append(case)
    return groups


def _turned(groupings: Iterable[Mapping[str, Sequence[Case]]]) -> str:
    return next((part for cells in groupings for part in sorted(cells) if _turns(part, cells)), "")


def _turns(part: str, cells: Mapping[str, Sequence[Case]]) -> bool:
    own = contrast(cells[part])
    if own is None or not answers(own) or own.difference.value >= 0:
        return False
    if own.difference.high < 0:
        return True
    rest = contrast(case for other, cases in cells.items() if other != part for case in cases)
    if rest is None:
        return False
    here, elsewhere = _estimate(own), _estimate(rest)
    return here.value - elsewhere.value < -SURELY * hypot(here.error, elsewhere.error)


def _without_one(
    by_run: Mapping[str, Sequence[Case]], figures: Mapping[str, Contrast]
) -> tuple[str, float | None]:
    """Find the run without which least is left, and what that is; None where the others then cannot answer."""
    weights = {run: _weight(shown) for run, shown in figures.items()}
    least = CARRYING_SHARE * sum(weights.values())
    left: list[tuple[float, str, float | None]] = []
    for run in sorted(figures):
        if weights[run] >= least:
            rest = contrast(case for other, cases in by_run.items() if other != run for case in cases)
            low = _one_sided_low(rest.difference) if rest is not None and answers(rest) else None
            left.append((-2.0 - weights[run] if low is None else low, run, low))
    return min(left)[1:] if left else ("", None)


def _one_sided_low(difference: Interval) -> float:
    return difference.value - (difference.value - difference.low) * Z_ONE_SIDED / Z95


def _carried(left_out: str, left_low: float | None) -> bool:
    return bool(left_out) and (left_low is None or left_low <= 0)


def _weight(shown: Contrast) -> float:
    return shown.obeyed * shown.disobeyed / (shown.obeyed + shown.disobeyed)


def _arm(shown: Contrast) -> int:
    return min(shown.obeyed, shown.disobeyed)


def answers(shown: Contrast) -> bool:
    """Tell whether episodes on either side are enough to speak for others, or against a claim."""
    return _arm(shown) >= WRITTEN_RULE.least_arm


def _estimate(shown: Contrast) -> EffectEstimate:
    """Give an effect with its error, as the width of its interval tells it."""
    value, low, high = shown.difference
    return EffectEstimate(value, max((high - low) / (2 * Z95), LEAST_ERROR))


def _run_effect(run: str, shown: Contrast) -> RunEffect:
    value, low, high = shown.difference
    return RunEffect(
        run=run, risk_difference=value, low=low, high=high, obeyed=shown.obeyed, disobeyed=shown.disobeyed
    )


def _spread(shown: Sequence[Contrast]) -> RunSpread | None:
    summed = random_effects([_estimate(own) for own in shown])
    if summed is None:
        return None
    predicted_low, predicted_high = summed.predicted or (None, None)
    return RunSpread(
        runs=len(shown),
        risk_difference=summed.mean.value,
        low=summed.mean.low,
        high=summed.mean.high,
        predicted_low=predicted_low,
        predicted_high=predicted_high,
        q=summed.q,
        p=summed.p,
        share=summed.share,
    )
