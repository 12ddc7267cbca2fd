"""Which proposers answer which kind of signal, and where signals show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.gate.moment import matches
from strategies.proposers.guard import guard
from strategies.proposers.habit import habit
from strategies.proposers.recovery import recovery
from strategies.proposers.subtract import subtract
from strategies.proposers.transfer import transfer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


class Sightings:
    """Where signals show among episodes: by their template, else by one of the actions they are about.

    A signal about neither, or about a skill as a whole, shows in every episode. Each distinct template and action
    of the episodes is compared with a signal once: there are far fewer of them than episodes.
    """

    def __init__(self, records: Sequence[EpisodeRecord]) -> None:
        self._records = records
        self._failing: dict[str, list[int]] = {}
        self._acting: dict[str, list[int]] = {}
        for at, record in enumerate(records):
            for template in {step.template for step in record.steps if step.error}:
                self._failing.setdefault(template, []).append(at)
            for action in {step.action for step in record.steps}:
                self._acting.setdefault(action, []).append(at)

    def of(self, signal: SignalRaised) -> Sequence[EpisodeRecord]:
        """Give the episodes in which a signal shows, in their order."""
        if signal.template:
            found = [ats for template, ats in self._failing.items() if matches(signal.template, template)]
        elif not signal.action or signal.kind in ABOUT_A_SKILL:
            return self._records
        else:
            about = set(signal.action.split(" + "))  # an action profile names several
            found = [ats for action, ats in self._acting.items() if about & {action, action.partition(":")[0]}]
        return [self._records[at] for at in sorted({at for ats in found for at in ats})]
