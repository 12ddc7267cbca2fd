"""What a model answers when an evaluator asks it, and how that joins what was computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pydantic import Field, ValidationError

from events.types.audit_events import AuditResult
from events.types.frozen import Frozen
from strategies.audit.evaluators.evaluator_types import ActionSignal, EvaluatorReport
from strategies.audit.evaluators.quote_check import everywhere, sound_signals

if TYPE_CHECKING:
    from pydantic import JsonValue

    from strategies.audit.evaluators.evaluator_types import AskModel, AuditMaterial, RunRecord

NO_MODEL: Final = "nothing that can be computed tells, and no model is set"
_MOST_TEXT_CHARS: Final = 4_000
"""What is shown of each text (a guess, as for judges)."""
_MOST_SIGNALS: Final = 20
_MOST_STEPS: Final = 60


class ModelOpinion(Frozen):
    """What a model thinks of one pair of runs: its reason first, then the result and what should change."""

    reason: str = Field(min_length=1, max_length=2_000)
    result: AuditResult
    signals: tuple[ActionSignal, ...] = Field(default=(), max_length=_MOST_SIGNALS)
    protected: tuple[str, ...] = Field(default=(), max_length=_MOST_SIGNALS)


def with_opinion(
    computed: EvaluatorReport, question: str, material: AuditMaterial, ask: AskModel | None
) -> EvaluatorReport:
    """Ask a model where computing decided nothing; what was computed stays, and a quote that is none is void."""
    if computed.result in {"hurt", "helped"}:
        return computed
    answer = None if ask is None else ask(computed.evaluator, question, shown_material(material))
    if answer is None:
        why = NO_MODEL if ask is None else "the model gave no answer of use"
        reason = computed.reason or why
        return computed.model_copy(update={"reason": reason, "by_model": ask is not None})
    try:
        opinion = ModelOpinion.model_validate(answer)
    except ValidationError as error:
        reason = f"the model's answer is not of the shape asked for: {error.error_count()} errors"
        return computed.model_copy(update={"reason": reason, "by_model": True})
    signals, void = sound_signals(opinion.signals, material.skill)
    return computed.model_copy(
        update={
            "result": opinion.result,
            "reason": opinion.reason,
            "signals": (
                *computed.signals,
                *(signal.model_copy(update={"by_model": True}) for signal in signals),
            ),
            "protected": (
                *computed.protected,
                *(quote for quote in opinion.protected if everywhere(quote, material.skill)),
            ),
            "void": (*computed.void, *void),
            "by_model": True,
        }
    )


def shown_material(material: AuditMaterial) -> dict[str, JsonValue]:
    """Give what a model is shown of a pair, as data, each text cut to what it needs."""
    return {
        "task": material.prompt[:_MOST_TEXT_CHARS],
        "requirements": list(material.requirements.requirements),
        "skill": [passage.text.rstrip("\r\n") for passage in material.skill],
        "with the skill": _shown_run(material.with_skill),
        "without the skill": _shown_run(material.without_skill),
    }


def _shown_run(run: RunRecord) -> JsonValue:
    steps: list[JsonValue] = [
        f"{action.tool}: {action.call[:400]} -> {'FAILED ' if action.failed else ''}{action.output[:200]}"
        for action in run.actions[:_MOST_STEPS]
    ]
    files: dict[str, JsonValue] = {path: text[:_MOST_TEXT_CHARS] for path, text in sorted(run.files.items())}
    return {
        "steps": steps,
        "files": files,
        "removed": list(run.removed),
        "answer": run.answer[:_MOST_TEXT_CHARS],
        "ended": run.ended,
    }
