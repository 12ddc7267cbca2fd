"""Whether deliverables have the format, the header and the values that the task asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.audit.evaluators.deliverable_checks import deliverable_faults, only_in
from strategies.audit.evaluators.evaluator_types import ActionSignal, EvaluatorReport
from strategies.audit.evaluators.line_rewrites import ADD_CONTRACT, REMIND_VERBATIM
from strategies.audit.evaluators.run_contrast import (
    Blame,
    anchor_change,
    blamed,
    harmful,
    quotes_of,
    traces,
)
from strategies.audit.evaluators.style_marks import asked_styles, styles_gained

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.types.audit_events import AuditResult
    from strategies.audit.evaluators.deliverable_checks import DeliverableFault
    from strategies.audit.evaluators.evaluator_types import AskModel, AuditMaterial
    from strategies.audit.evaluators.run_contrast import Trace

REMINDERS: Final = {
    "missing": (
        ADD_CONTRACT,
        "Inputs are the files that the task names; outputs those it asks for, each at exactly its path.",
    ),
    "elsewhere": (
        ADD_CONTRACT,
        "Write each output file at exactly the path that the task gives: same folder, same name, same case.",
    ),
    "empty": (ADD_CONTRACT, "No output file may be empty: read each one again after it is written."),
    "unreadable": (
        ADD_CONTRACT,
        "Read each output file back in the format that the task asks for before you finish: it must parse.",
    ),
    "separator": (ADD_CONTRACT, "Separate the columns as the format of a file says: commas in CSV, tabs in TSV."),
    "header": (
        REMIND_VERBATIM,
        "Write headers and keys verbatim as the task gives them: exactly those, in that order, and no others.",
    ),
    "spelling": (
        REMIND_VERBATIM,
        "Copy the names of columns and keys verbatim, as the task and its files spell them.",
    ),
    "values": (
        REMIND_VERBATIM,
        "Where the task lists the values that are allowed, write only those, verbatim as they are listed.",
    ),
}
"""What a skill should say so that a kind of fault does not happen again: the operation, and the line."""


class FormatCompliance:
    """Holds deliverables to the task, with the skill and without."""

    name = "format-compliance"

    def applies(self, material: AuditMaterial) -> bool:
        """Tell whether the task asks for files in some form."""
        return bool(material.requirements.deliverables)

    def report(self, material: AuditMaterial, ask: AskModel | None) -> EvaluatorReport:
        """Say that the skill hurts where it brings a fault; a fault that stays names what the skill lacks."""
        del ask
        wanted = material.requirements.deliverables
        faults, other = (deliverable_faults(wanted, run) for run in (material.with_skill, material.without_skill))
        brought, cured = only_in(faults, other), only_in(other, faults)
        lost_styles, gained_styles = _styles(material)
        result: AuditResult = "inert"
        if brought or lost_styles:
            result = "hurt"
        elif (cured or gained_styles) and not anchor_change(material).lost:
            result = "helped"
        traced = traces(material)
        texts = (*(f"{fault.path}: {fault.kind}" for fault in brought or faults), *lost_styles)
        return EvaluatorReport(
            evaluator=self.name,
            task=material.task,
            result=result,
            reason="; ".join(texts) or "as the task asks",
            signals=(
                *_harmful(brought, traced),
                *_styled(lost_styles, traced),
                *_gaps(faults),
            ),
            protected=quotes_of(traced) if result == "helped" else (),
            read=("deliverables",),
            figures={"faults": len(faults), "faults without": len(other), "deliverables": len(wanted)},
        )


def _styles(material: AuditMaterial) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List the styles that the task speaks of and one run alone shows: those lost with the skill, then gained."""
    having, lacking = material.with_skill, material.without_skill
    shared = having.files.keys() & lacking.files.keys()
    if not shared:
        return (), ()
    asked = asked_styles(material.prompt)
    both = [
        run.model_copy(update={"files": {path: run.files[path] for path in sorted(shared)}, "answer": ""})
        for run in (having, lacking)
    ]
    gained, lost = styles_gained(*both), styles_gained(*reversed(both))
    return tuple(sorted(asked & lost - gained)), tuple(sorted(asked & gained - lost))


def _harmful(brought: Sequence[DeliverableFault], traced: Sequence[Trace]) -> Iterator[ActionSignal]:
    """Name the passages that faults come from, each by the text that is wrong."""
    for fault in brought:
        if fault.wrong:
            reason = f"{fault.path} has a {fault.kind} fault from it"
            yield from harmful(blamed(traced, [fault.wrong]), reason)


def _styled(lost_styles: Sequence[str], traced: Sequence[Trace]) -> Iterator[ActionSignal]:
    """Name the passages that ask for another style than the task, where its styles are lost."""
    styled = [trace for trace in traced if trace.styles] if lost_styles else []
    for trace in styled:
        reason = f"the task asks for {', '.join(lost_styles)}, it brings {', '.join(sorted(trace.styles))}"
        yield from harmful([Blame(trace.passage, len(styled))], reason)


def _gaps(faults: Sequence[DeliverableFault]) -> Iterator[ActionSignal]:
    for kind in dict.fromkeys(fault.kind for fault in faults):
        move, line = REMINDERS[kind]
        paths = ", ".join(sorted({fault.path for fault in faults if fault.kind == kind}))
        yield ActionSignal(action="gap", reason=f"{kind}: {paths}", replacement=line, move=move)
