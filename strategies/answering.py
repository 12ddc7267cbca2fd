"""Which proposers answer which kind of signal, and where a signal shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.gate.moment import matches
from strategies.proposers.guard import guard
from strategies.proposers.habit import habit
from strategies.proposers.recovery import recovery
from strategies.proposers.subtract import subtract
from strategies.proposers.transfer import transfer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from events.registry_events import SignalRaised
    from strategies.logs.episode import EpisodeRecord
    from strategies.proposers.proposal import Proposer

_HARDEN: Final[tuple[Proposer, ...]] = (guard, subtract)
_INNOVATE: Final[tuple[Proposer, ...]] = (transfer, habit)

PROPOSERS: Final[Mapping[str, tuple[Proposer, ...]]] = {
    "error_template": (recovery,),
    "retry_loop": (guard,),
    "tool_failure": (guard,),
    "test_failure_after_edit": (guard,),
    "user_correction": (guard,),
    "regression": (subtract,),
    "burn_rate": (subtract, guard),
    "repeated_call": _HARDEN,
    "user_interrupt": _HARDEN,
    "permission_denied": _HARDEN,
    "latency_spike": _HARDEN,
    "context_overflow": _HARDEN,
    "timeout": _HARDEN,
    "rate_limited": _HARDEN,
    "abandoned": _HARDEN,
    "revert": _HARDEN,
    "missing_capability": _INNOVATE,
    "success_streak": _INNOVATE,
    "stagnation": _INNOVATE,
    "uncovered_failure": _INNOVATE,
}
"""Which proposers answer which kind of signal, in the order in which they try."""


ABOUT_A_SKILL: Final = frozenset({"regression", "burn_rate", "stagnation"})
"""Kinds whose `action` names a skill or a run, not an action class."""


def shows_in(signal: SignalRaised, record: EpisodeRecord) -> bool:
    """Tell whether a signal shows in an episode: by its template, else by one of the actions it is about.

    A signal about neither, or about a skill as a whole, shows in every episode.
    """
    if signal.template:
        return any(matches(signal.template, step.template) for step in record.steps if step.error)
    if not signal.action or signal.kind in ABOUT_A_SKILL:
        return True
    about = set(signal.action.split(" + "))  # an action profile names several
    return any(step.action in about or step.action.partition(":")[0] in about for step in record.steps)
