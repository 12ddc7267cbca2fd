"""Whether passages are about the task: what contradicts it, what fixes another place, what is off its topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.evaluator_types import EvaluatorReport
from strategies.audit.evaluators.line_rewrites import (
    FOLLOW_TASK,
    PRUNE_OFF_TOPIC,
    REMOVE,
    names_fixed_place,
    versions_named,
    with_path_of_task,
    with_version_of_task,
)
from strategies.audit.evaluators.model_opinion import with_opinion
from strategies.audit.evaluators.passage_terms import content_words, path_terms, skill_terms
from strategies.audit.evaluators.quote_check import find_quote, on_passage
from strategies.audit.evaluators.run_contrast import anchor_change, failures, holds, traces

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.audit_events import AuditResult
    from strategies.audit.evaluators.evaluator_types import (
        ActionSignal,
        AskModel,
        AuditMaterial,
        SkillPassage,
    )
    from strategies.audit.evaluators.passage_terms import PassageTerms

_LEAST_WORDS: Final = 5
"""Content words that a section must hold to be about something (a guess)."""
_MOST_CHARS: Final = 20_000
"""What is read of each file for its words."""
_QUESTION = "Which passages contradict the task, or fix what it leaves open, and did the agent do worse by them?"


class TaskAlignment:
    """Holds the passages of the skill to what the task is about and asks for."""

    name = "task-alignment"

    def applies(self, material: AuditMaterial) -> bool:
        """Tell whether there is a skill."""
        return bool(material.skill)

    def report(self, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
        """Say that the skill hurts where the agent follows a passage against the task, and loses by it."""
        against = (*_conflicts(material), *_fixed(material))
        followed = {(trace.passage.file, trace.passage.gene, trace.passage.line) for trace in traces(material)}
        hurts = anchor_change(material).lost and any((s.file, s.gene, s.line) in followed for s in against)
        result: AuditResult = "hurt" if hurts else "inert" if against else "null"
        topics = tuple(_off_topic(material))
        return with_opinion(
            EvaluatorReport(
                evaluator=self.name,
                task=material.task,
                result=result,
                reason=f"{len(against)} passages say otherwise than the task" if against else "",
                signals=(*against, *topics),
                read=("task", "workspace", "skill"),
                figures={"against": len(against), "off topic": len(topics)},
            ),
            _QUESTION,
            material,
            ask,
        )


def _conflicts(material: AuditMaterial) -> Iterator[ActionSignal]:
    """Take over the passages that a person names as being against the task, where the agent follows them."""
    followed = {trace.passage for trace in traces(material)}
    for conflict in material.requirements.conflicts:
        spans = find_quote(conflict.quote, material.skill)
        for span in () if isinstance(spans, str) else spans:
            passage = material.skill[span.at]
            if passage in followed:
                yield on_passage("harmful", passage, f"the task says otherwise: {conflict.requirement}", REMOVE)


def _fixed(material: AuditMaterial) -> Iterator[ActionSignal]:
    """Find paths and versions that the task contradicts, or that a step failed at."""
    asked = (*(wanted.path for wanted in material.requirements.deliverables), *material.workspace)
    named = frozenset((*asked, *path_terms(material.prompt)))
    versions = dict(versions_named("\n".join((material.prompt, *material.workspace.values()))))
    errors = "\n".join(action.output for action in failures(material.with_skill))
    named |= {passage.file for passage in material.skill}
    for passage in material.skill:
        text = passage.text.strip()
        shown = [path for path in path_terms(text) if path in material.with_skill.files or holds(errors, path)]
        for path in dict.fromkeys((*names_fixed_place(text), *shown)):
            if path in named or holds(material.prompt, path):
                continue
            why = "the task has that file elsewhere" if _renames(path, named) else ""
            why = "a step failed there" if holds(errors, path) else why
            if why:
                new = with_path_of_task(text, path)
                yield on_passage("swap", passage, f"{path} is fixed: {why}", FOLLOW_TASK, replacement=new)
                break
        for name, version in versions_named(text):
            if versions.get(name, version) != version:
                new = with_version_of_task(text, version)
                why = f"{name} {version} is fixed, the task has {versions[name]}"
                yield on_passage("swap", passage, why, FOLLOW_TASK, replacement=new)
                break


def _renames(path: str, named: frozenset[str]) -> bool:
    """Tell whether the task has a file of the same name somewhere else."""
    name = path.replace("\\", "/").rpartition("/")[2]
    return "." in name and any(other.rpartition("/")[2] == name for other in named)


def _off_topic(material: AuditMaterial) -> Iterator[ActionSignal]:
    """Find sections and files that share no word with the task and its data, and that the agent did nothing of.

    A section must name something of its own as well, or say much; a file of its own is a unit as it is.
    """
    texts = (text[:_MOST_CHARS] for text in material.workspace.values())
    asked = "\n".join((material.prompt, *material.requirements.requirements, *material.workspace, *texts))
    columns = " ".join(name for table in material.requirements.tables for name in table.columns)
    topic = content_words(f"{asked} {columns}")
    sections: dict[tuple[str, str, str], list[tuple[SkillPassage, PassageTerms]]] = {}
    for passage, terms in zip(material.skill, skill_terms(material.skill), strict=True):
        sections.setdefault((passage.file, passage.gene, passage.section), []).append((passage, terms))
    followed = {trace.passage for trace in traces(material)}
    for (_, gene, _), lines in sections.items():
        words = frozenset[str]().union(*(terms.words for _, terms in lines))
        exact = frozenset[str]().union(*(terms.exact for _, terms in lines))
        least = _LEAST_WORDS if exact or not gene else 2 * _LEAST_WORDS
        shares = words & topic or any(holds(asked, term) for term in exact)
        if len(words) >= least and not shares and not followed & {passage for passage, _ in lines}:
            for passage, terms in lines:
                if not terms.frame:
                    yield on_passage("noise", passage, "its section is about something else", PRUNE_OFF_TOPIC)
