"""What the agent does after a step fails: another way, or the same again."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.evaluator_types import ActionSignal, EvaluatorReport
from strategies.audit.evaluators.line_rewrites import ADD_RULE
from strategies.audit.evaluators.run_contrast import anchor_change, failures

if TYPE_CHECKING:
    from events.types.audit_events import AuditResult
    from strategies.audit.evaluators.evaluator_types import AskModel, AuditMaterial, RunRecord

_TOO_OFTEN: Final = 2
"""Repeats of a step that has failed already, from which the agent is stuck (a guess)."""
_RULE: Final = (
    "When a step fails, read its error and change something before you try again; never repeat it as it was."
)


class ErrorRobustness:
    """Counts steps that were repeated although they had failed."""

    name = "error-robustness"

    def applies(self, material: AuditMaterial) -> bool:
        """Tell whether a step failed in either run."""
        return bool(failures(material.with_skill) or failures(material.without_skill))

    def report(self, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
        """Say that the skill hurts where the agent is stuck with it alone, and ends worse."""
        del ask
        stuck, other = repeated_failures(material.with_skill), repeated_failures(material.without_skill)
        ends_worse = bool(anchor_change(material).lost) or (
            material.with_skill.ended == "stopped" and material.without_skill.ended == "done"
        )
        result: AuditResult = "inert"
        if stuck >= other + _TOO_OFTEN and ends_worse:
            result = "hurt"
        elif other >= stuck + _TOO_OFTEN and not ends_worse:
            result = "helped"
        gap = ActionSignal(
            action="gap",
            reason=f"failed steps were repeated as they were {stuck} times",
            replacement=_RULE,
            move=ADD_RULE,
        )
        return EvaluatorReport(
            evaluator=self.name,
            task=material.task,
            result=result,
            reason=f"failed steps were repeated {stuck} times with the skill, {other} times without it",
            signals=(gap,) if stuck >= _TOO_OFTEN else (),
            read=("steps",),
            figures={
                "repeated": stuck,
                "repeated without": other,
                "failed": len(failures(material.with_skill)),
                "failed without": len(failures(material.without_skill)),
            },
        )


def repeated_failures(run: RunRecord) -> int:
    """Count how often a step that had failed was taken again as it was, and failed."""
    return sum(times - 1 for times in Counter((action.tool, action.call) for action in failures(run)).values())
