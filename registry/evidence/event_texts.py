"""What of a log enters an event: no secret does, for an event is never erased."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from events.types.candidate_events import CandidateProposed
from events.types.frozen import Frozen
from events.types.registry_events import SignalRaised
from registry.evidence.redaction import without_secrets

if TYPE_CHECKING:
    from collections.abc import Mapping

_OF_LOGS: Final[Mapping[type[Frozen], tuple[str, ...]]] = {
    SignalRaised: ("template", "action", "runs"),
    CandidateProposed: ("edits", "claims", "triggers", "reason", "born", "skill"),
}
"""Fields with text that a log, or a model that read one, may have brought; what a person writes is kept."""

EventT = TypeVar("EventT", bound=Frozen)


def cleaned(event: EventT) -> EventT:
    """Give an event without the secrets in what a log brought; events append nothing else that a log says."""
    fields = _OF_LOGS.get(type(event), ())
    changed = {name: new for name in fields if (new := _cleaned(old := getattr(event, name))) != old}
    return event.model_copy(update=changed) if changed else event


def _cleaned(value: object) -> object:
    if isinstance(value, str):
        return without_secrets(value)
    if isinstance(value, tuple):
        return tuple(map(_cleaned, value))
    if isinstance(value, Frozen):
        return value.model_copy(update={name: _cleaned(inner) for name, inner in value})
    return value
