"""Whether the agent takes the steps of the task in their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.audit.evaluators.evaluator_types import EvaluatorReport
from strategies.audit.evaluators.model_opinion import with_opinion
from strategies.audit.evaluators.passage_terms import exact_terms
from strategies.audit.evaluators.run_contrast import anchor_change, has_contrast, holds

if TYPE_CHECKING:
    from events.types.audit_events import AuditResult
    from strategies.audit.evaluators.evaluator_types import AskModel, AuditMaterial, RunRecord

_LEAST_STEPS = 2
_QUESTION = "Did the skill make the agent keep to the method that the task asks for, or depart from it?"


class MethodAdherence:
    """Looks for the steps of the task in the calls of both runs."""

    name = "method-adherence"

    def applies(self, material: AuditMaterial) -> bool:
        """Tell whether the task states steps, and those of the agent are known."""
        return len(material.requirements.workflow) >= _LEAST_STEPS and bool(material.with_skill.actions)

    def report(self, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
        """Compare how many steps are taken in order; steps that name nothing cannot be looked for."""
        steps = [exact_terms(step) for step in material.requirements.workflow]
        report = EvaluatorReport(
            evaluator=self.name, task=material.task, result="null", read=("workflow", "steps")
        )
        if sum(map(bool, steps)) >= _LEAST_STEPS and has_contrast(material):
            kept, other = (steps_in_order(steps, run) for run in (material.with_skill, material.without_skill))
            lost = anchor_change(material).lost
            result: AuditResult = (
                "hurt" if kept < other and lost else "helped" if kept > other and not lost else "inert"
            )
            report = report.model_copy(
                update={
                    "result": result,
                    "reason": f"{kept} of {len(steps)} steps in order with the skill, {other} without it",
                    "figures": {"in order": kept, "in order without": other, "steps": len(steps)},
                }
            )
        return with_opinion(report, _QUESTION, material, ask)


def steps_in_order(steps: list[frozenset[str]], run: RunRecord) -> int:
    """Count the steps that calls show one after the other, in their order."""
    at, kept = 0, 0
    for terms in steps:
        place = next(
            (
                number
                for number, action in enumerate(run.actions[at:], start=at)
                if not action.failed and any(holds(action.call, term) for term in terms)
            ),
            None,
        )
        if place is not None:
            at, kept = place, kept + 1
    return kept
