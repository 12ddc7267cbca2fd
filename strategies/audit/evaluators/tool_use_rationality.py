"""Whether the skill makes the agent take steps that fail, or take the same step over and over."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.evaluator_types import EvaluatorReport
from strategies.audit.evaluators.line_rewrites import REMOVE, SWAP_SNIPPET, with_snippet
from strategies.audit.evaluators.model_opinion import with_opinion
from strategies.audit.evaluators.quote_check import on_passage
from strategies.audit.evaluators.run_contrast import (
    anchor_change,
    blamed,
    failures,
    has_contrast,
    holds,
    traces,
)
from strategies.gate.script_reach import reaches

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.audit_events import AuditResult
    from strategies.audit.evaluators.evaluator_types import (
        ActionSignal,
        AskModel,
        AuditMaterial,
        RunAction,
        RunRecord,
    )

_ALIKE: Final = 0.5
"""The share of common words from which two calls do the same thing (Jaccard; a guess)."""
_SAVED: Final = 2
"""Failed or repeated steps that must be fewer to speak of help (a guess)."""
_QUESTION = "Did the skill make the agent choose tools or arguments better or worse than it does by itself?"


class ToolUseRationality:
    """Compares failed and repeated steps, and finds the passages that failed steps come from."""

    name = "tool-use-rationality"

    def applies(self, material: AuditMaterial) -> bool:
        """Tell whether the steps of both runs are known."""
        return bool(material.with_skill.actions and material.without_skill.actions)

    def report(self, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
        """Say that the skill hurts where a step that a passage names fails, and the run ends worse for it."""
        wasted, other = wasted_steps(material.with_skill), wasted_steps(material.without_skill)
        signals = tuple(_signals(material))
        lost = anchor_change(material).lost
        result: AuditResult = "inert"
        if signals and (lost or material.with_skill.ended == "stopped"):
            result = "hurt"
        elif wasted + _SAVED <= other and not lost:
            result = "helped"
        return with_opinion(
            EvaluatorReport(
                evaluator=self.name,
                task=material.task,
                result=result,
                reason=f"{wasted} steps failed or were repeated with the skill, {other} without it",
                signals=signals,
                read=("steps",),
                figures={"wasted": wasted, "wasted without": other, "steps": len(material.with_skill.actions)},
            ),
            _QUESTION,
            material,
            ask,
        )


def wasted_steps(run: RunRecord) -> int:
    """Count steps that failed, or were the same as one before them."""
    calls = Counter((action.tool, action.call) for action in run.actions)
    return len(failures(run)) + sum(times - 1 for times in calls.values())


def _signals(material: AuditMaterial) -> Iterator[ActionSignal]:
    """Name the passages that a failed step comes from: what its error speaks of, else any of them."""
    worked = "\n".join(action.call for action in material.with_skill.actions if not action.failed)
    traced, named = traces(material), set[str]()
    for action in failures(material.with_skill):
        wrong = [
            term
            for trace in traced
            for term in trace.terms
            if holds(action.call, term) and not holds(worked, term)
        ]
        in_error = [term for term in wrong if holds(action.output, term)]
        guilty = blamed(traced, in_error or wrong, is_narrow=bool(in_error)) if wrong else ()
        for passage, suspects in guilty:
            text = passage.text.strip()
            term = max((term for term in wrong if term in text), key=lambda term: (len(term), term), default="")
            snippet = _verified(material, action)
            replacement = with_snippet(text, term, snippet) if snippet and term else ""
            reason = f"the step {action.call[:120]!r} that it names failed"
            if text not in named:
                named.add(text)
                yield on_passage(
                    "swap" if replacement else "harmful",
                    passage,
                    f"{reason}; without the skill {snippet[:120]!r} worked" if replacement else reason,
                    SWAP_SNIPPET if replacement else REMOVE,
                    replacement=replacement,
                    suspects=suspects,
                )


def _verified(material: AuditMaterial, failed: RunAction) -> str:
    """Give the call that did the same and worked in the run without the skill, where that run kept its anchors."""
    run = material.without_skill
    if not has_contrast(material) or not run.anchors or not all(run.anchors.values()):
        return ""
    scored = [
        (_alike(action.call, failed.call), action.call)
        for action in run.actions
        if not action.failed and action.tool == failed.tool and not reaches(action.call)
    ]
    alike, call = max(scored, key=lambda pair: pair[0], default=(0.0, ""))
    return call if alike >= _ALIKE else ""


def _alike(call: str, other: str) -> float:
    words, others = frozenset(call.split()), frozenset(other.split())
    return len(words & others) / len(words | others) if words | others else 0.0
