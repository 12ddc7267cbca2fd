"""What the files and the answer prove: anchors gained or lost, and what the task asks for that is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.audit.evaluators.deliverable_checks import deliverable_faults
from strategies.audit.evaluators.evaluator_types import EvaluatorReport
from strategies.audit.evaluators.line_rewrites import REMOVE
from strategies.audit.evaluators.quote_check import on_passage
from strategies.audit.evaluators.run_contrast import anchor_change, blamed_for, has_contrast, quotes_of, traces

if TYPE_CHECKING:
    from events.types.audit_events import AuditResult
    from strategies.audit.evaluators.evaluator_types import AskModel, AuditMaterial, RunRecord

_ABSENT = frozenset({"missing", "empty", "elsewhere"})


class OutputEvidenceCheck:
    """Compares what both runs left by the anchors of the task, and by the files that it asks for."""

    name = "output-evidence-check"

    def applies(self, material: AuditMaterial) -> bool:
        """Tell whether anything is known that the work must hold."""
        return bool(material.with_skill.anchors or material.requirements.deliverables)

    def report(self, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
        """Say that the skill hurts where an anchor or a file is lost, and helps where it is gained."""
        del ask
        change = anchor_change(material)
        absent = _absent(material, material.with_skill)
        other = _absent(material, material.without_skill)
        lost, gained = (*change.lost, *sorted(absent - other)), (*change.gained, *sorted(other - absent))
        result: AuditResult = "hurt" if lost else "helped" if gained else "inert"
        traced = traces(material)
        failing = sorted(name for name, kept in material.with_skill.anchors.items() if not kept)
        wrong = lost or failing
        guilty = blamed_for(traced, material, wrong) if wrong and has_contrast(material) else ()
        return EvaluatorReport(
            evaluator=self.name,
            task=material.task,
            result=result,
            reason=f"lost {list(lost)}, gained {list(gained)}" if lost or gained else "both runs prove the same",
            signals=tuple(
                on_passage(
                    "harmful",
                    blame.passage,
                    f"{wrong[0]} {'is lost' if lost else 'fails'} where the agent follows it",
                    REMOVE,
                    suspects=blame.suspects if lost else blame.suspects + 1,
                )
                for blame in guilty
            ),
            protected=quotes_of(traced) if gained and not lost else (),
            read=("anchors", "files", "answer"),
            figures={
                "gained": len(gained),
                "lost": len(lost),
                "anchors": change.total,
                "held": sum(material.with_skill.anchors.values()),
            },
        )


def _absent(material: AuditMaterial, run: RunRecord) -> set[str]:
    """List the files that the task asks for and a run did not leave, with something in them, at their places."""
    faults = deliverable_faults(material.requirements.deliverables, run)
    return {fault.path for fault in faults if fault.kind in _ABSENT}
