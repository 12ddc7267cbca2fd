"""What the parts of an audit hand to each other: anchors of two runs, a verdict, a route, and edits of a draft.

The loop (audit_skill.py) calls, once an iteration:

    audit_verdict.judged(reports, outcomes) -> AuditVerdict
    edit_routing.routed(reports, passages, outcomes) -> EditRoute
    edit_moves.draft_edits(route, capsule, materials) -> Sequence[DraftEdit]
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from events.types.frozen import Frozen
from events.types.parts import Edit, Reason
from strategies.audit.evaluators.evaluator_types import Action, ActionSignal, Result


class AnchorOutcome(Frozen):
    """The anchors of one task: with the draft, without any skill, and with the last good draft (None at first).

    Each holds every check by name, and whether it holds.
    """

    task: str
    with_skill: dict[str, bool]
    without_skill: dict[str, bool]
    before: dict[str, bool] | None = None

    @property
    def lost(self) -> tuple[str, ...]:
        """The anchors that held with the last good draft, and fail with this one."""
        return tuple(name for name, held in (self.before or {}).items() if held and not self.with_skill.get(name))


class AuditVerdict(Frozen):
    """What a draft does, over all tasks; `by` says which rule decided, `lost_anchors` what an edit broke."""

    result: Result
    by: Literal["veto", "anchors", "artifacts", "majority"]
    reason: str
    lost_anchors: tuple[str, ...] = ()

    @property
    def rolls_back(self) -> bool:
        """Whether the draft goes back to the last good one."""
        return self.result == "hurt" or bool(self.lost_anchors)


class RoutedSignal(Frozen):
    """A signal in its place in the order of edits, with who gave it, and on which task."""

    evaluator: str
    task: str
    signal: ActionSignal


class EditRoute(Frozen):
    """How the draft is mended: which signals, in which order, what must stay, and how many edits there may be.

    `void` counts signals whose quote is not in the skill.
    """

    way: Literal["refine", "repair"]
    reason: str
    signals: tuple[RoutedSignal, ...] = ()
    protected: tuple[str, ...] = ()
    most_edits: int = 4
    void: int = 0


class DraftEdit(Frozen):
    """One named operation on a draft: what it does to lines and files beside, who asked for it, and why.

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
