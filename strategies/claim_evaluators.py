"""Evaluators of single claims: frozen with the first measurement that a claim has by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.registry_events import EvaluatorRegistered
from events.score import Score, Unmeasured
from registry.commands import Record
from strategies.gate.policy import METHOD, policy_text

if TYPE_CHECKING:
    from registry.registry import Registry
    from strategies.drafts import Draft


def register_evaluator(registry: Registry, drafted: Draft) -> None:
    """Freeze the evaluator that a claim has for itself where it is judged by `recovered`."""
    score = None if drafted.measured is None else drafted.measured.sealed.before
    if score is None or isinstance(score, Unmeasured) or score.endpoint != "recovered":
        return
    if registry.log.document("evaluator", score.evaluator) is not None:
        return
    audit = drafted.measured.audit.before if drafted.measured else None
    delta = drafted.figures.delta
    event = EvaluatorRegistered(
        evaluator=score.evaluator,
        kind="replay",
        scope="claim",
        method=METHOD,
        policy=policy_text("recovered"),
        episodes=score.n + (audit.n if isinstance(audit, Score) else 0),
        tasks=delta.tasks if delta else 0,
        sealed_tasks=delta.tasks if delta else 0,
    )
    registry.execute(Record((event,)), actor="germline")
