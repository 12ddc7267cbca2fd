"""The twelve evaluators of an audit, and what they report on one pair of runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.coverage import RequirementCoverage
from strategies.audit.evaluators.error_robustness import ErrorRobustness
from strategies.audit.evaluators.evaluator_types import EvaluatorReport
from strategies.audit.evaluators.format_compliance import FormatCompliance
from strategies.audit.evaluators.incremental_value import IncrementalValue
from strategies.audit.evaluators.method_adherence import MethodAdherence
from strategies.audit.evaluators.output_evidence_check import OutputEvidenceCheck
from strategies.audit.evaluators.portfolio_quality import PortfolioQuality
from strategies.audit.evaluators.procedure_adherence import ProcedureAdherence
from strategies.audit.evaluators.quote_check import with_sound_signals
from strategies.audit.evaluators.safety_compliance import SafetyCompliance
from strategies.audit.evaluators.task_alignment import TaskAlignment
from strategies.audit.evaluators.tool_use_rationality import ToolUseRationality
from strategies.audit.evaluators.workspace_consistency import DataConsistency

if TYPE_CHECKING:
    from strategies.audit.evaluators.evaluator_types import AskModel, AuditEvaluator, AuditMaterial

EVALUATORS: Final[tuple[AuditEvaluator, ...]] = (
    ProcedureAdherence(),
    RequirementCoverage(),
    ToolUseRationality(),
    ErrorRobustness(),
    OutputEvidenceCheck(),
    FormatCompliance(),
    TaskAlignment(),
    DataConsistency(),
    MethodAdherence(),
    SafetyCompliance(),
    IncrementalValue(),
    PortfolioQuality(),
)
ARTIFACTS: Final = frozenset({OutputEvidenceCheck.name, FormatCompliance.name, DataConsistency.name})
"""The evaluators that look at what was made, not at how."""


def evaluate_pair(material: AuditMaterial, ask: AskModel | None = None) -> tuple[EvaluatorReport, ...]:
    """Let all twelve report on one pair of runs, `null` where one has nothing to look at; void signals go."""
    return tuple(_checked(evaluator, material, ask) for evaluator in EVALUATORS)


def _checked(evaluator: AuditEvaluator, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
    if not evaluator.applies(material):
        reason = "there is nothing here for it to look at"
        return EvaluatorReport(evaluator=evaluator.name, task=material.task, result="null", reason=reason)
    return with_sound_signals(evaluator.report(material, ask), material.skill)
