"""Advice that was given: the last of it for each skill."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from events.judge_events import AdviceGiven

if TYPE_CHECKING:
    from registry.library import Library


@dataclass(frozen=True, slots=True)
class Given:
    """Advice as it was given last, and when."""

    at: str
    event: AdviceGiven


def given(library: Library) -> dict[str, Given]:
    """Tell what was advised last, by skill; "" is the advice on all episodes."""
    found: dict[str, Given] = {}
    for envelope in library.log.read(types=("AdviceGiven",)):
        if isinstance(envelope.event, AdviceGiven):
            found[envelope.event.capsule] = Given(envelope.at, envelope.event)
    return found
