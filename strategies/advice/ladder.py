"""The ladder that work on a skill climbs: prompt, skill, code, knowledge, training; cheap steps come first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.judge_events import AdviceGiven
from strategies.advice.advice_rules import GOOD_ENOUGH, LEAST_EXAMPLES
from strategies.advice.failure_stats import ROUNDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.judgements import FailureFigures, Rung, Track
    from registry.query.library import Library

RUNGS: Final[tuple[Rung, ...]] = ("prompt", "skill", "code", "knowledge", "fine-tune")
LEAST_RISE: Final = 0.02
"""What the last rounds on a rung must have brought together for another one: what the gate asks of any change."""
_RUNG_OF: Final[dict[Track, Rung | None]] = {
    "none": None,
    "prompt": "prompt",
    "skill": "skill",
    "both": "skill",
    "code": "code",
    "knowledge": "knowledge",
    "fine-tune": "fine-tune",
    "knowledge + fine-tune": "knowledge",
}


class RoundBegun(NamedTuple):
    """A round of work: on which rung, and how runs ended on average when it began."""

    rung: Rung
    mean: float


class LadderState(NamedTuple):
    """Where work on a skill is: the rung to work on next, None where it stops; rounds begun there, and why."""

    rung: Rung | None
    rounds: int
    why: str


def rounds_begun(library: Library, skill: str) -> list[RoundBegun]:
    """List the rounds that were begun on a skill, oldest first."""
    events = (envelope.event for envelope in library.log.read(types=("AdviceGiven",)))
    return [
        RoundBegun(event.started, event.figures.mean)
        for event in events
        if isinstance(event, AdviceGiven) and event.capsule == skill and event.started
    ]


def ladder_state(track: Track, figures: FailureFigures, begun: Sequence[RoundBegun]) -> LadderState:
    """Tell the rung to work on: that of the track, or the next above it that did not bring too little.

    A rung is used up where its last three rounds together raised the mean by less than two points. Training is
    blocked without enough examples.
    """
    named = _RUNG_OF[track]
    if named is None:
        why = f"runs end in {figures.mean:.2f} on average" if figures.mean >= GOOD_ENOUGH else "nothing to work on"
        return LadderState(None, 0, f"{why}: it stops")
    reasons: list[str] = []
    for rung in RUNGS[RUNGS.index(named) :]:
        starts = [each.mean for each in begun if each.rung == rung]
        if rung == "fine-tune" and figures.examples < LEAST_EXAMPLES:
            blocked = f"fine-tune is blocked: {figures.examples:,} of {LEAST_EXAMPLES} examples"
            return LadderState(None, len(starts), "; ".join((*reasons, blocked)))
        rise = _rise(begun, rung, figures.mean) if len(starts) >= ROUNDS else None
        if rise is None or rise >= LEAST_RISE:
            why = "; ".join(reasons) or "the advice names it"
            return LadderState(rung, len(starts), why)
        reasons.append(f"{rung}: {ROUNDS} rounds brought {rise:+.3f}")
    return LadderState(None, 0, f"{'; '.join(reasons)}: nothing is above that")


def _rise(begun: Sequence[RoundBegun], rung: Rung, mean: float) -> float:
    """Tell what the last three rounds on a rung brought, up to the round that came after them, or to now."""
    places = [at for at, each in enumerate(begun) if each.rung == rung]
    after = begun[places[-1] + 1].mean if places[-1] + 1 < len(begun) else mean
    return after - begun[places[-ROUNDS]].mean
