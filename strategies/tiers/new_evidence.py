"""What further sessions say of a line that is only seen, or supported: whether it keeps its tier."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from strategies.gate.replay.contrast import cases_of, contrast, judged
from strategies.gate.stats.mantel_haenszel import Z95
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.tiers.seen import LEAST_TRIED, TAIL, is_counted, is_offered, most_likely, seen_in, tried_by

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.claims import Claim
    from events.types.score import Effect
    from events.types.tiers import SeenFigures
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.contrast import Contrast
    from strategies.policy.presets import Preset
    from strategies.policy.written_rules import GatePolicy

FIRST_LOOK: Final = 25
"""Further sessions at which a line is looked at first; then at twice as many: looks that may err stay few."""
LOOK_TAIL: Final = 0.01
"""How often one look may take back what is as stated."""
LEAST_SIDE: Final = 3
"""Sessions on either side from which those that did it are compared with those that did not (a guess)."""
_Z_LOOK: Final = NormalDist().inv_cdf(1 - LOOK_TAIL)
_Z_AGAIN: Final = NormalDist().inv_cdf(1 - TAIL)


@dataclass(frozen=True, slots=True)
class Finding:
    """What further sessions say: a line goes, or with `again` it was seen to work once more; and why."""

    reason: str
    again: SeenFigures | None = None


def first_sessions(further: Sequence[EpisodeRecord]) -> Sequence[EpisodeRecord]:
    """Give the sessions of the last look that is due: the first 25, 50, 100 … of those that came since.

    Shapes: further sessions in the order of time; none where there are fewer than 25.
    """
    size = FIRST_LOOK
    while size * 2 <= len(further):
        size *= 2
    return further[:size] if len(further) >= size else ()


def is_due(effect: Effect, asked_on: int, policy: GatePolicy) -> bool:
    """Tell whether outcomes are asked about a line only seen: where both sides suffice, then at twice.

    `asked_on` is the number of decisions that it was asked on last, 0 before. None of this looks at what became of
    them; each time spends a share of alpha, and with logs that grow a line is asked a few times, not each day.
    """
    suffices = min(effect.obeyed, effect.disobeyed) >= policy.least_arm and effect.tasks >= policy.least_tasks
    return suffices and effect.obeyed + effect.disobeyed >= 2 * asked_on


def against_supported(claim: Claim, further: Sequence[EpisodeRecord]) -> Finding | None:
    """Tell that the effect of a supported line is refuted by labels that came since; None where it is not."""
    labelled = judged(further)
    figures = contrast(cases_of(claim, first_sessions(() if labelled.heuristic else labelled.records)))
    if figures is None or min(figures.obeyed, figures.disobeyed) < WRITTEN_RULE.least_arm:
        return None
    if _highest(figures) >= WRITTEN_RULE.least_difference:
        return None
    return Finding(f"in sessions since then {_compared(figures)}")


def on_seen(
    claim: Claim | None, figures: SeenFigures, further: Sequence[EpisodeRecord], preset: Preset, age_days: float
) -> Finding | None:
    """Tell whether a line that is only seen goes, or was seen again where it was to expire; None where it stays.

    It goes where its bound no longer holds, where those that did otherwise did better, and where its time is over
    and it was not seen to work again, better than what else was done.
    """
    checked = claim if claim is not None and is_counted(claim) else None
    due = first_sessions(further)
    if checked and (reason := _against_bound(checked, figures, due, LOOK_TAIL) or _against_effect(checked, due)):
        return Finding(reason)
    if len(further) < preset.seen_sessions and age_days < preset.seen_days:
        return None
    return _at_expiry(checked, figures, further, age_days)


def _at_expiry(
    claim: Claim | None, figures: SeenFigures, further: Sequence[EpisodeRecord], age_days: float
) -> Finding:
    since = f"{len(further):,} sessions and {age_days:.0f} days"
    again = None if claim is None else seen_in(claim, further)
    if claim is None or again is None or not is_offered(again):
        return Finding(f"it was not seen to work again in {since}")
    if reason := _against_bound(claim, figures, further, TAIL):
        return Finding(reason)
    beside = contrast(cases_of(claim, tried_by(claim, further)))
    if beside and min(beside.obeyed, beside.disobeyed) >= LEAST_SIDE and beside.z < _Z_AGAIN:
        return Finding(f"in {since} it did not work better than anything else: {_compared(beside)}")
    return Finding(f"it was seen to work again, {again.worked:,} of {again.tried:,} times in {since}", again)


def _against_bound(claim: Claim, figures: SeenFigures, records: Sequence[EpisodeRecord], tail: float) -> str:
    """Say that something works less often than was stated, "" where it may work as often."""
    again = seen_in(claim, records)
    if again is None or again.tried < LEAST_TRIED or most_likely(claim, records, tail) >= figures.low:
        return ""
    return (
        f"it worked {again.worked:,} of {again.tried:,} times since, where at least {figures.low:.0%} was stated"
    )


def _against_effect(claim: Claim, records: Sequence[EpisodeRecord]) -> str:
    """Say that those that did otherwise did better, "" where that is not sure."""
    figures = contrast(cases_of(claim, tried_by(claim, records)))
    if figures is None or min(figures.obeyed, figures.disobeyed) < LEAST_SIDE or _highest(figures) >= 0:
        return ""
    return f"what else was done worked more often: {_compared(figures)}"


def _highest(figures: Contrast) -> float:
    """Bound a difference from above, as surely as one look must be."""
    return figures.difference.value + (figures.difference.high - figures.difference.value) / Z95 * _Z_LOOK


def _compared(figures: Contrast) -> str:
    value, low, high = (100 * bound for bound in figures.difference)
    return (
        f"{abs(value):.0f} points {'more' if value >= 0 else 'less'} often ({low:.0f} to {high:.0f}), "
        f"{figures.obeyed:,} did it and {figures.disobeyed:,} did not"
    )
