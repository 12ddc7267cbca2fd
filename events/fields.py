"""Fields: what is asked of events by what they hold and not by their class, so that plain ones answer too.

Importing this module loads neither pydantic nor the event classes (events/plain.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeGuard

if TYPE_CHECKING:
    from events.base import Frozen
    from events.candidate_events import CandidateProposed
    from events.score import Score


def type_of(event: Frozen) -> str:
    """Name the type of an event, "" for what is none."""
    kind: str = getattr(event, "type", "")
    return kind


def is_score(measured: object) -> TypeGuard[Score]:
    """Tell a score from the reason why there is none, and from null."""
    return hasattr(measured, "evaluator")


def new_lines(proposed: CandidateProposed) -> tuple[str, ...]:
    """List the lines that a candidate would bring, those of a new skill or gene first, with their endings."""
    own = proposed.born.lines if proposed.born else ()
    if proposed.skill is not None:
        own = (*proposed.skill.front, *(line for section in proposed.skill.sections for line in section.lines))
    return (*own, *(line for edit in proposed.edits for line in edit.text))
