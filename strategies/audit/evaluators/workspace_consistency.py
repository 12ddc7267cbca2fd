"""Whether what the agent wrote agrees with the data of the workspace: names, values, figures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.deliverable_checks import plain_name
from strategies.audit.evaluators.evaluator_types import ActionSignal, EvaluatorReport
from strategies.audit.evaluators.format_compliance import REMINDERS
from strategies.audit.evaluators.line_rewrites import ADD_RULE, CORRECT_NAME, with_name
from strategies.audit.evaluators.name_checks import near_path
from strategies.audit.evaluators.passage_terms import skill_terms
from strategies.audit.evaluators.quote_check import on_passage
from strategies.audit.evaluators.run_contrast import (
    anchor_change,
    blamed,
    failures,
    harmful,
    has_contrast,
    holds,
    quotes_of,
    traces,
)
from strategies.audit.evaluators.workspace_checks import data_faults, recomputed_figures, workspace_data

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from events.types.audit_events import AuditResult
    from strategies.audit.evaluators.evaluator_types import AskModel, AuditMaterial

_READS: Final = re.compile(
    r"\b(?:read|load|open|parse|column|field|group|filter|sum|join|sort|input|cat|look|use|from|see|check|count)s?\b",
    re.IGNORECASE,
)
_WRITES: Final = re.compile(
    r"\b(?:writ(?:e|ten)|header|output|name|call|rename|produce|export|label|save|store|creat(?:e|ed)|copy|title)s?\b",
    re.IGNORECASE,
)
_RECOMPUTE: Final = "Before you finish, recompute every count and total from the files of the task and compare."


class DataConsistency:
    """Holds files and passages to the names and figures of the workspace."""

    name = "data-consistency"

    def applies(self, material: AuditMaterial) -> bool:
        """Tell whether the task brings files."""
        return bool(material.workspace or material.requirements.tables)

    def report(self, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
        """Say that the skill hurts where names or values contradict the data with it alone."""
        del ask
        data, runs = workspace_data(material), (material.with_skill, material.without_skill)
        faults, other = (data_faults(material, data, run) for run in runs)
        figures, others = (recomputed_figures(data, run) for run in runs)
        brought = [fault for fault in faults if (fault.kind, fault.path) not in {(f.kind, f.path) for f in other}]
        change, comparable = anchor_change(material), has_contrast(material)
        fewer, more = len(figures) < len(others), len(figures) > len(others)
        names, other_names = ([fault for fault in each if fault.kind == "column"] for each in (faults, other))
        result: AuditResult = "inert"
        if comparable and change.lost and (brought or fewer):  # another name may be what the task wants
            result = "hurt"
        elif comparable and not names and not change.lost and (other_names or (more and change.gained)):
            result = "helped"
        traced = traces(material)
        guilty = blamed(traced, [fault.wrong for fault in brought]) if result == "hurt" and brought else ()
        return EvaluatorReport(
            evaluator=self.name,
            task=material.task,
            result=result,
            reason="; ".join(f"{f.path}: {f.wrong!r} is no {f.kind} of the data" for f in faults) or "agrees",
            signals=(
                *harmful(guilty, "what it says contradicts the data"),
                *_misnamed(material, data.spelled, [fault.wrong for fault in brought if change.lost]),
                *_gaps(is_misspelt=bool(faults), is_miscounted=comparable and fewer and bool(change.lost)),
            ),
            protected=quotes_of(traced) if result == "helped" else (),
            read=("workspace", "files", "skill"),
            figures={
                "faults": len(faults),
                "faults without": len(other),
                "recomputed": len(figures),
                "recomputed without": len(others),
            },
        )


def _misnamed(
    material: AuditMaterial, spelled: Mapping[str, frozenset[str]], misspelt: Collection[str]
) -> Iterator[ActionSignal]:
    """Find columns and paths that a passage names almost as the workspace has them.

    A passage may want another name for what is written. So it must be about what is read, or a step has failed by
    the name, or the loss of an anchor went with it.
    """
    real = frozenset((*material.workspace, *(wanted.path for wanted in material.requirements.deliverables)))
    errors = "\n".join(action.output for action in failures(material.with_skill))
    for passage, terms in zip(material.skill, skill_terms(material.skill), strict=True):
        text, reads = passage.text.strip(), _READS.search(passage.text) and not _WRITES.search(passage.text)
        for term in sorted(terms.exact | terms.barred):
            right = spelled.get(plain_name(term), frozenset())
            near = min(right) if len(right) == 1 and term not in right else near_path(term, real, material)
            if near and not holds(material.prompt, term) and (reads or term in misspelt or holds(errors, term)):
                new = with_name(text, term, near)
                yield on_passage("swap", passage, f"{term} is not there, {near} is", CORRECT_NAME, replacement=new)
                break


def _gaps(*, is_misspelt: bool, is_miscounted: bool) -> Iterator[ActionSignal]:
    if is_misspelt:
        move, line = REMINDERS["spelling"]
        yield ActionSignal(action="gap", reason="names are not those of the data", replacement=line, move=move)
    if is_miscounted:
        reason = "figures that the data gives are lost with the skill"
        yield ActionSignal(action="gap", reason=reason, replacement=_RECOMPUTE, move=ADD_RULE)
