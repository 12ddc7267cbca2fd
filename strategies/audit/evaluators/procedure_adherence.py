"""Whether the agent did what passages say, and what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.audit.evaluators.evaluator_types import EvaluatorReport
from strategies.audit.evaluators.line_rewrites import MOVE_CONSTRAINT
from strategies.audit.evaluators.model_opinion import with_opinion
from strategies.audit.evaluators.passage_terms import skill_terms
from strategies.audit.evaluators.quote_check import on_passage
from strategies.audit.evaluators.run_contrast import (
    anchor_change,
    blamed_for,
    harmful,
    has_contrast,
    holds,
    quotes_of,
    run_text,
    traces,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.audit_events import AuditResult
    from strategies.audit.evaluators.evaluator_types import ActionSignal, AskModel, AuditMaterial
    from strategies.audit.evaluators.passage_terms import PassageTerms

_QUESTION = "Which passages did the agent follow, which did it ignore, and did following them help or hurt?"


class ProcedureAdherence:
    """Finds the passages that show in the run with the skill alone."""

    name = "procedure-adherence"

    def applies(self, material: AuditMaterial) -> bool:
        """Tell whether there is a skill."""
        return bool(material.skill)

    def report(self, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
        """Say which passages were followed; they are protected where anchors were gained and none was lost."""
        report = EvaluatorReport(evaluator=self.name, task=material.task, result="null", read=("steps", "files"))
        if not has_contrast(material):
            return report.model_copy(update={"reason": "the run without the skill went nowhere"})
        traced, change = traces(material), anchor_change(material)
        quotes = quotes_of(traced)
        terms = skill_terms(material.skill)
        guilty = blamed_for(traced, material, change.lost) if change.lost else ()
        result: AuditResult = (
            "hurt" if guilty else "helped" if traced and change.gained and not change.lost else "inert"
        )
        signals = harmful(guilty, f"the agent followed it, and lost {change.lost[0]}") if guilty else ()
        return with_opinion(
            report.model_copy(
                update={
                    "result": result,
                    "reason": f"{len(traced)} passages show in what the agent did",
                    "signals": (*signals, *_moved(material, terms)),
                    "traced": quotes,
                    "protected": quotes if result == "helped" else (),
                    "figures": {"followed": len(traced), "passages": sum(not term.frame for term in terms)},
                }
            ),
            _QUESTION,
            material,
            ask,
        )


def _moved(material: AuditMaterial, terms: tuple[PassageTerms, ...]) -> Iterator[ActionSignal]:
    """Ask that a constraint which was not kept goes beside the step it is about, where something went wrong."""
    if all(material.with_skill.anchors.values()):
        return
    text = run_text(material.with_skill)
    for passage, own in zip(material.skill, terms, strict=True):
        if not any(holds(text, term) and not holds(material.prompt, term) for term in own.barred):
            continue
        steps = [
            (len(own.words & other.words), step)
            for step, other in zip(material.skill, terms, strict=True)
            if other.asks and not other.barred and step.file == passage.file and step.gene != passage.gene
        ]
        shared, step = max(steps, key=lambda scored: scored[0], default=(0, passage))
        if shared > 1:
            yield on_passage(
                "swap",
                passage,
                f"the agent does what it forbids; it is far from its step {step.text.strip()!r}",
                MOVE_CONSTRAINT,
                replacement=passage.text.strip(),
                section=f"{step.gene}:{step.line}",
            )
