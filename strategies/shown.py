"""What a turn came to, as people and scripts read it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from events.errors import EditError, NotFoundError
from registry.promote import edited
from registry.rendering import projected_lines

if TYPE_CHECKING:
    from events.candidate_events import CandidateProposed
    from events.claims import Claim
    from events.parts import Edit, Strategy
    from events.registry_events import SignalRaised
    from events.score import Delta, Effect, Measured
    from registry.capsule import Capsule


@dataclass(frozen=True, slots=True)
class EditShown:
    """An edit as people read it: where its text begins in the projected file, and the text."""

    op: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class CandidateShown:
    """A candidate as people read it."""

    id: str
    edits: tuple[EditShown, ...]
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleResult:
    """What one turn came to. `remembered` marks a verdict that was read, not measured again."""

    strategy: Strategy
    signal: SignalRaised
    capsule: str
    candidate: CandidateShown | None = None
    effect: Effect | None = None
    verdict: str = "hold"
    reasons: tuple[str, ...] = ()
    before: Measured | None = None
    after: Measured | None = None
    delta: Delta | None = None
    audit_before: Measured | None = None
    audit_after: Measured | None = None
    audit_delta: Delta | None = None
    version: int | None = None
    tried: int = 0
    needed_tasks: int | None = None
    remembered: bool = False


def shown_edits(base: Capsule, proposed: CandidateProposed) -> tuple[EditShown, ...]:
    """Say where each edit's text begins in the projected file, once it is there; line 0 where it no longer fits.

    Shapes: base is the capsule before the edits, or after them; only lines that have no event yet are counted.
    """
    return tuple(
        EditShown(edit.op, _first_line(base, edit), "".join(edit.text).strip("\n")) for edit in proposed.edits
    )


def _first_line(base: Capsule, edit: Edit) -> int:
    try:
        after = replace(edited(base, (edit,)), stamped=True, version=base.version + 1)
    except (EditError, NotFoundError):
        return 0
    numbers = [line.number for line in projected_lines(after) if line.origin == 0 and line.text.strip()]
    return numbers[0] if numbers else 0
