"""Advice that was given: the last for each skill, as the registry keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from registry.query.versions import event_of

if TYPE_CHECKING:
    from events.types.judge_events import AdviceGiven
    from registry.query.library import Library


@dataclass(frozen=True, slots=True)
class Given:
    """Advice as it was given last, and when."""

    at: str
    event: AdviceGiven


def given(library: Library) -> dict[str, Given]:
    """Tell what was advised last, by skill; "" is the advice on all episodes."""
    latest: dict[str, Given] = {}
    for envelope in library.log.read(types=("AdviceGiven",)):
        event = event_of("AdviceGiven", envelope)
        latest[event.capsule] = Given(envelope.at, event)
    return latest
