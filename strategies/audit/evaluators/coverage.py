"""Which requirements of a task some passage speaks of, and which of the others go wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.evaluator_types import ActionSignal, EvaluatorReport
from strategies.audit.evaluators.line_rewrites import ADD_RULE
from strategies.audit.evaluators.passage_terms import content_words, exact_terms, skill_terms
from strategies.audit.evaluators.run_contrast import anchor_change

if TYPE_CHECKING:
    from events.types.audit_events import AuditResult
    from strategies.audit.evaluators.evaluator_types import AskModel, AuditMaterial

_LEAST_SHARED: Final = 2
"""Content words that a passage and a requirement must share (a guess: one may be chance)."""
_CHECK_ALL: Final = (
    "Before you finish, go through the task once more and check each requirement against the files."
)


class RequirementCoverage:
    """Holds the requirements of a task to the passages of the skill."""

    name = "coverage"

    def applies(self, material: AuditMaterial) -> bool:
        """Tell whether requirements are known."""
        return bool(material.requirements.requirements)

    def report(self, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
        """Say which share is covered; a gap is named where some are not, and the work with the skill fails."""
        del ask
        asked = material.requirements.requirements
        open_ones = [text for text in asked if not _is_covered(text, material)]
        change = anchor_change(material)
        failed = sorted(name for name, kept in material.with_skill.anchors.items() if not kept)
        covered = len(asked) - len(open_ones)
        result: AuditResult = "helped" if covered and change.gained and not change.lost else "inert"
        gap = ActionSignal(
            action="gap",
            reason=(
                f"{len(open_ones)} of {len(asked)} requirements are covered by no passage, and what fails is:"
                f" {', '.join(failed)}"
            ),
            replacement=_CHECK_ALL,
            move=ADD_RULE,
        )
        return EvaluatorReport(
            evaluator=self.name,
            task=material.task,
            result=result,
            reason=f"{covered} of {len(asked)} requirements are covered by a passage",
            signals=(gap,) if open_ones and failed else (),
            read=("requirements", "skill"),
            figures={"covered": covered / len(asked), "open": len(open_ones)},
        )


def _is_covered(requirement: str, material: AuditMaterial) -> bool:
    if requirement in material.requirements.covered:
        return True
    exact, words = exact_terms(requirement), content_words(requirement)
    return any(
        not terms.frame and (exact & (terms.exact | terms.barred) or len(words & terms.words) >= _LEAST_SHARED)
        for terms in skill_terms(material.skill)
    )
