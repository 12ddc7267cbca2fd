"""What the skill adds to what the agent does by itself, and what that costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.evaluator_types import EvaluatorReport
from strategies.audit.evaluators.model_opinion import with_opinion
from strategies.audit.evaluators.run_contrast import anchor_change, has_contrast, quotes_of, traces

if TYPE_CHECKING:
    from collections.abc import Mapping

    from events.types.audit_events import AuditResult
    from strategies.audit.evaluators.evaluator_types import AskModel, AuditMaterial, RunRecord

_QUESTION = "Does the skill add anything that the agent would not have done by itself, and is it worth its length?"
_NO_CONTRAST: Final = "the run without the skill went nowhere: there is no contrast"


class IncrementalValue:
    """Compares what both runs achieve and what they cost, in words and tokens."""

    name = "incremental-value"

    def applies(self, material: AuditMaterial) -> bool:
        """Tell whether there is a skill."""
        return bool(material.skill)

    def report(self, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
        """Say that the skill helps where it gains anchors; null where the other run went nowhere."""
        figures = cost_figures(material)
        report = EvaluatorReport(
            evaluator=self.name,
            task=material.task,
            result="null",
            reason=_NO_CONTRAST,
            read=("anchors", "files", "skill"),
            figures=figures,
        )
        if not has_contrast(material):
            return report
        change, traced = anchor_change(material), traces(material)
        result: AuditResult = "hurt" if change.lost else "helped" if change.gained else "inert"
        quotes = quotes_of(traced)
        computed = report.model_copy(
            update={
                "result": result,
                "reason": f"{len(change.gained)} anchors gained, {len(change.lost)} lost; {_cost(figures)}",
                "traced": quotes,
                "protected": quotes if result == "helped" else (),
                "figures": {**figures, "traced": len(traced)},
            }
        )
        return with_opinion(computed, _QUESTION, material, ask)


def cost_figures(material: AuditMaterial) -> dict[str, float]:
    """Measure output in three ways: words of skill loaded, tokens that the agent reported, words that it left."""
    figures: dict[str, float] = {
        "skill words": sum(len(passage.text.split()) for passage in material.skill),
        "words left": _words(material.with_skill),
        "words left without": _words(material.without_skill),
        "steps": len(material.with_skill.actions),
        "steps without": len(material.without_skill.actions),
    }
    for name, run in (("tokens", material.with_skill), ("tokens without", material.without_skill)):
        if run.tokens is not None:
            figures[name] = run.tokens
    return figures


def _cost(figures: Mapping[str, float]) -> str:
    """Say what was put out with the skill and without: tokens where the agent reports them, else words."""
    unit = "tokens" if {"tokens", "tokens without"} <= figures.keys() else "words left"
    return f"{figures[unit]:,.0f} {unit} with the skill, {figures[f'{unit} without']:,.0f} without it"


def _words(run: RunRecord) -> int:
    return sum(len(text.split()) for text in (run.answer, *run.files.values()))
