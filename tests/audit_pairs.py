"""Audits without a registry: a skill as a text, an agent as a function, and the loop in its plainest form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.decide.promote import edited
from registry.skill_md.render import skill_text
from strategies.audit.audit_verdict import AuditedPair, judge_draft
from strategies.audit.drafts import passages_in
from strategies.audit.edit_moves import draft_edits
from strategies.audit.edit_routing import route_edits
from strategies.audit.evaluators.evaluator_types import (
    AuditMaterial,
    Deliverable,
    RunAction,
    RunRecord,
    TaskRequirements,
)
from strategies.audit.evaluators.evaluators_table import evaluate_pair
from tests.registries import capsule_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from registry.state.capsule import Capsule
    from strategies.audit.audit_verdict import AuditVerdict
    from strategies.audit.evaluators.evaluator_types import AskModel

ORDERS = "order,customer,amount_cents\n7,Ann,1250\n8,Bob,330\n9,Ann,4125\n"
PROMPT = "Sum the orders of each customer. Write them into report.csv, with the header customer,total."


def action(call: str, *, failed: bool = False, output: str = "") -> RunAction:
    """Make a step in a shell."""
    return RunAction(tool="bash", call=call, output=output, failed=failed)


def material(text: str | Capsule, having: RunRecord, lacking: RunRecord, **changed: object) -> AuditMaterial:
    """Make what evaluators read: the task of the orders, unless something of it is changed."""
    base = capsule_of(text) if isinstance(text, str) else text
    given: dict[str, object] = {
        "task": "orders",
        "prompt": PROMPT,
        "workspace": {"orders.csv": ORDERS},
        "requirements": TaskRequirements(
            task="orders",
            requirements=("Write them into report.csv, with the header customer,total.",),
            deliverables=(Deliverable(path="report.csv", format="csv", header=("customer", "total")),),
        ),
        "skill": passages_in(base, {}),
        "with_skill": having,
        "without_skill": lacking,
        **changed,
    }
    return AuditMaterial.model_validate(given)


def audited(pair: AuditMaterial, ask: AskModel | None = None) -> AuditedPair:
    """Let all evaluators look at a pair."""
    return AuditedPair(pair, evaluate_pair(pair, ask))


def audit(
    text: str,
    pairs: Callable[[Capsule], Sequence[AuditMaterial]],
    ask: AskModel | None = None,
    files: Mapping[str, str] | None = None,
) -> tuple[str, list[AuditVerdict], dict[str, str]]:
    """Audit a skill with five drafts at most; gives its last good text, every verdict, and its other files.

    `pairs` runs a draft, with and without, on every task.
    """
    good, beside = capsule_of(text), dict(files or {})
    before = [audited(pair, ask) for pair in pairs(good)]
    verdicts, refused = [judge_draft(before)], list[frozenset[str]]()
    for _ in range(4):
        route = route_edits(before, refused)
        moves = draft_edits(route, good, beside)
        if not moves.edits:
            break
        draft = edited(good, tuple(edit for move in moves.edits for edit in move.edits))
        now = [audited(pair, ask) for pair in pairs(draft)]
        verdicts.append(judge_draft(now, before, route.aims))
        if verdicts[-1].rolls_back:
            refused.append(route.keys)
            continue
        good, before, refused = draft, now, []
        for move in moves.edits:
            beside.update({path: new for path, new in move.files.items() if new is not None})
            for path in (path for path, new in move.files.items() if new is None):
                beside.pop(path)
    return skill_text(good), verdicts, beside
