"""Why a run of evolution ended, and whether it came to rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.gate.rules import estimate
from strategies.scope.scope import ASSIGN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.candidate_events import CandidateScored
    from strategies.evolve.results import CycleResult

QUIET_TURNS: Final = 2
"""The last turns none of which may have hurt before a run counts as settled (the written rule)."""


class Stop(NamedTuple):
    """Why a run ended; `settled` where there is nothing left to do and nothing that was just tried did harm."""

    why: str
    settled: bool


NO_SKILL: Final = Stop("there is no skill yet, and nothing else that could learn", settled=False)
"""Where a registry holds neither skills nor instructions, and no model may write one."""
NOTHING_READ: Final = Stop("no episode was read: there is nothing to learn from", settled=False)
"""Where a run had no logs, or files that are none."""


def harm_of(scored: CandidateScored | None) -> str:
    """Say how a candidate would have done harm, "" where nothing that was measured says so.

    Harm is an estimate below 0: in outcomes, on the endpoint that judged, or against no skill at all; and an
    anchor that was lost.
    """
    if scored is None:
        return ""
    rollouts = scored.rollouts
    if rollouts is not None:
        if rollouts.lost_anchors:
            return f"anchors were lost: {', '.join(rollouts.lost_anchors)}"
        if rollouts.no_skill is not None and rollouts.no_skill.effect == "hurt":
            return f"it hurts against no skill at all, {rollouts.no_skill.difference:+.3f}"
        return f"difference {rollouts.difference:+.3f}" if rollouts.difference < 0 else ""
    harmful = (
        effect
        for effect in (scored.outcome_effect, scored.effect)
        if effect is not None and effect.risk_difference < 0
    )
    return next((estimate(effect) for effect in harmful), "")


def stop_of(turns: Sequence[CycleResult], *, limit: int, capped: bool, unrouted: int = 0) -> Stop:
    """Say why a run ended after these turns: the cap, or that no eligible signal is left.

    Shapes: turns in the order they were taken; `capped` where the limit ended the run; `unrouted` counts the
    signals that no skill answers to, which only a person can settle.
    """
    if capped:
        noun = "cycle" if limit == 1 else "cycles"
        return Stop(f"the limit of {limit} {noun} was reached", settled=False)
    left = "no eligible signal is left"
    for back, turn in enumerate(reversed(turns[-QUIET_TURNS:])):
        if turn.harm:
            last = "the last turn" if back == 0 else "the last turn but one"
            return Stop(f"{left}; not settled, for what {last} tried would hurt: {turn.harm}", settled=False)
    if unrouted:
        lost = "1 signal is of no skill" if unrouted == 1 else f"{unrouted:,} signals are of no skill"
        return Stop(f"{left}; not settled, for {lost}: {ASSIGN}", settled=False)
    quiet = f"nothing that the last {QUIET_TURNS} turns tried would hurt, no anchor was lost"
    return Stop(f"settled: {left}, {quiet}", settled=True)
