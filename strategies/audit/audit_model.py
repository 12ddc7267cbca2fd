"""The model of an audit: asked by evaluators and for tasks, counted only while it agrees with what was made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from events.model_errors import UNFIT
from strategies.audit.audit_verdict import is_artifact
from strategies.audit.evaluators.evaluators_table import evaluate_pair
from strategies.audit.interpret_tasks import TaskReading
from strategies.gate.stats.clopper_pearson import lower_limit
from strategies.models.tasks.ask_audit import ask_evaluator, ask_task_reading

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import JsonValue

    from strategies.audit.audit_verdict import AuditedPair
    from strategies.audit.evaluators.evaluator_types import EvaluatorReport, TaskRequirements
    from strategies.models.protocol import Model
    from strategies.rollouts.tasks.task import RolloutTask

MOST_WRONG: Final = 0.15
"""The share of a model's results that may contradict what was made, for certain, before none counts (a guess)."""
_TAIL: Final = 0.05
DRIFT_PAIRS: Final = 3
"""Pairs of the first iteration whose questions are asked again each time (a guess: each costs as many answers)."""


@dataclass(frozen=True)
class AskingModel:
    """Asks one model for the evaluators; an answer that was paid for is taken, but for another `look`."""

    model: Model
    name: str
    look: int = 0

    def __call__(self, evaluator: str, question: str, shown: JsonValue) -> JsonValue | None:
        """Ask; None where what came back is of no use. Raises: what keeps a model from being asked at all."""
        try:
            reply = ask_evaluator(self.model, self.name, evaluator, question, shown, look=self.look)
        except UNFIT:
            return None
        return reply.answer.model_dump(mode="json")

    def read_task(self, task: RolloutTask, requirements: TaskRequirements) -> TaskReading | None:
        """Ask what a task asks for beyond the rules; None where what came back is of no use."""
        shown: dict[str, JsonValue] = {
            "task": task.prompt,
            "files": list(task.files),
            "read by rule": requirements.model_dump(mode="json", exclude_defaults=True),
        }
        try:
            answer = ask_task_reading(self.model, self.name, shown).answer
        except UNFIT:
            return None
        both = tuple(dict.fromkeys((*requirements.requirements, *answer.requirements)))
        workflow = requirements.workflow or answer.workflow
        read = requirements.model_copy(update={"requirements": both, "workflow": workflow})
        return TaskReading(read, tuple(check.fields for check in answer.checks))


class ModelStanding(NamedTuple):
    """How many results of a model could be held against what was made, and how many contradict it."""

    held: int
    wrong: int

    @property
    def counts(self) -> bool:
        """Whether its results count: not where it is certain that too many are wrong."""
        return not self.held or lower_limit(self.wrong, self.held, _TAIL) <= MOST_WRONG


def standing_of(pairs: Iterable[AuditedPair]) -> ModelStanding:
    """Hold what a model says against the artifacts, where those say which run is better."""
    held = wrong = 0
    for pair in pairs:
        made = {report.result for report in pair.reports if is_artifact(report)}
        opposite = {"hurt": "helped", "helped": "hurt"}
        sides = made & opposite.keys()
        if len(sides) == 1:
            results = [report.result for report in pair.reports if report.by_model and report.result != "null"]
            held += len(results)
            wrong += results.count(opposite[sides.pop()])  # type: ignore[arg-type] # both are results
    return ModelStanding(held, wrong)


def without_model(pairs: Sequence[AuditedPair]) -> tuple[AuditedPair, ...]:
    """Take away what a model says: its results are null, and its signals are gone."""
    return tuple(pair._replace(reports=tuple(map(_computed, pair.reports))) for pair in pairs)


def _computed(report: EvaluatorReport) -> EvaluatorReport:
    if not report.by_model:
        return report
    signals = tuple(signal for signal in report.signals if not signal.by_model)
    why = "the model contradicts what was made too often to count"
    return report.model_copy(update={"result": "null", "reason": why, "signals": signals, "protected": ()})


def drift_of(pairs: Sequence[AuditedPair], ask_afresh: AskingModel) -> float | None:
    """Ask the first questions again, and give the share of results that differ; None where none was asked."""
    asked = changed = 0
    for pair in pairs[:DRIFT_PAIRS]:
        for before, now in zip(pair.reports, evaluate_pair(pair.material, ask_afresh), strict=True):
            if before.by_model:
                asked += 1
                changed += before.result != now.result
    return changed / asked if asked else None
