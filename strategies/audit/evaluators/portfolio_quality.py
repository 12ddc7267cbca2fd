"""How the passages go together: what is written twice, and prose without anything to act on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.evaluator_types import EvaluatorReport
from strategies.audit.evaluators.line_rewrites import DROP_REPEAT, STRIP_TUTORIAL
from strategies.audit.evaluators.passage_terms import skill_terms, without_marker
from strategies.audit.evaluators.quote_check import on_passage

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.audit.evaluators.evaluator_types import ActionSignal, AskModel, AuditMaterial, SkillPassage

_LEAST_WORDS: Final = 4
"""Words below which lines are the same by accident, or for the layout."""
_WORD: Final = re.compile(r"\w+")
_TUTORIAL: Final = re.compile(
    r"\bstands for\b|\b(?:is|are) (?:an?|one of the|the) (?:[\w-]+ ){0,4}(?:formats?|languages?|librar(?:y|ies)"
    r"|tools?|concepts?|standards?|techniques?|process|disciplines?|art|skills?|craft|way|practices?|topics?"
    r"|fields?|part of)\b"
    r"|\b(?:was|were) (?:first |originally )?(?:invented|introduced|created|developed|designed|published|born)\b"
    r"|\b(?:widely|commonly|often|generally|typically|frequently) (?:used|seen|considered|regarded|known)\b"
    r"|\b(?:popular|ubiquitous|history|historically|decades|centur(?:y|ies)|welcome|beginners?|newcomers?)\b"
    r"|\b(?:this|the following) (?:section|guide|document|tutorial|chapter|skill) (?:will |also )?"
    r"(?:explains?|describes?|covers?|introduces?|helps?|teach(?:es)?|gives|provides|is about)\b"
    r"|\bas (?:you|we) (?:may|might|all|probably) know\b|\bit is (?:important|worth|good|useful|helpful) to"
    r" (?:note|know|understand|remember)\b|\b(?:many|most) (?:people|teams|engineers|developers|analysts"
    r"|companies|organi[sz]ations)\b",
    re.IGNORECASE,
)


class PortfolioQuality:
    """Looks for passages that the skill could do without, whatever the task."""

    name = "portfolio-quality"

    def applies(self, material: AuditMaterial) -> bool:
        """Tell whether there is a skill."""
        return bool(material.skill)

    def report(self, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
        """Name repeats and tutorial prose; this says nothing of what the skill does to the task."""
        del ask
        repeats, prose = tuple(_repeats(material.skill)), tuple(_prose(material.skill))
        words = sum(len(passage.text.split()) for passage in material.skill)
        spare = sum(len(signal.quote.split()) for signal in (*repeats, *prose))
        return EvaluatorReport(
            evaluator=self.name,
            task=material.task,
            result="null",
            reason=f"{len(repeats)} passages repeat another, {len(prose)} ask for nothing",
            signals=(*repeats, *prose),
            read=("skill",),
            figures={
                "repeats": len(repeats),
                "prose": len(prose),
                "files": len({p.file for p in material.skill}),
                "spare words": spare / words if words else 0.0,
            },
        )


def _repeats(skill: tuple[SkillPassage, ...]) -> Iterator[ActionSignal]:
    """Find lines that say an earlier one of their section again, but for marks and case; code may repeat itself.

    In another section the same words may be about something else.
    """
    first: dict[tuple[str, str, str, tuple[str, ...]], SkillPassage] = {}
    for passage, terms in zip(skill, skill_terms(skill), strict=True):
        words = tuple(_WORD.findall(without_marker(passage.text).lower()))
        if terms.frame or len(words) < _LEAST_WORDS or passage.text.strip() in terms.exact:
            continue
        earlier = first.setdefault((passage.file, passage.gene, passage.section, words), passage)
        if earlier is not passage:
            yield on_passage("noise", passage, f"it repeats line {earlier.line} of {earlier.file}", DROP_REPEAT)


def _prose(skill: tuple[SkillPassage, ...]) -> Iterator[ActionSignal]:
    for passage, terms in zip(skill, skill_terms(skill), strict=True):
        if not terms.frame and not terms.asks and _TUTORIAL.search(passage.text):
            yield on_passage("noise", passage, "it explains, and asks for nothing", STRIP_TUTORIAL)
