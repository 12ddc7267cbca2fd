"""An edit of a draft as an audit makes it: a named operation, with who asked for it, on which task, and why."""

from __future__ import annotations

from pydantic import Field

from events.types.frozen import Frozen
from events.types.parts import Edit, Reason
from strategies.audit.evaluators.evaluator_types import Action


class DraftEdit(Frozen):
    """One named operation on a draft: what it does to lines and other files, who asked for it, and why.

    `files` holds the new text of each file, None where it goes. `quote` is what it takes away, "" for a gap.
    """

    move: str
    action: Action
    evaluator: str
    task: str
    reason: Reason
    quote: str = ""
    edits: tuple[Edit, ...] = ()
    files: dict[str, str | None] = Field(default_factory=dict)
