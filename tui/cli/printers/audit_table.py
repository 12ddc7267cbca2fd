"""An audit as a table: a row for each evaluator, a column for each iteration; then what became of each draft."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.rollouts.tasks.check_types import check_name
from tui.cli.output.facts import LABEL, say_facts
from tui.facts.audits import audit_facts, draft_facts, draft_label, evaluator_table

if TYPE_CHECKING:
    from strategies.audit.audit_record import AuditRecord
    from strategies.audit.interpret_tasks import InterpretedTask
    from tui.cli.output.invocation import Invocation

_NAME: Final = 22
_CELL: Final = 12


def print_audit(call: Invocation, record: AuditRecord) -> None:
    """Print what was audited, the table, each draft, and how it ended."""
    drafts = record.iterations
    say_facts(call, audit_facts(record))
    if not drafts:
        call.say("  nothing was judged yet")
        return
    heads = "".join(f"{draft_label(judged.iteration):>{_CELL}}" for judged in drafts)
    call.say(call.paint(f"  {'evaluator':<{_NAME}}{heads}", "dim"))
    for row in evaluator_table(record, drafts):
        cells = "".join(f"{cell or '–':>{_CELL}}" for cell in row.cells)
        call.say(f"  {row.evaluator:<{_NAME}}{cells}")
    for judged in record.judged:
        say_facts(call, draft_facts(judged))


def print_anchors(call: Invocation, known: InterpretedTask) -> None:
    """Print the checks that are locked for a task, and those that were dropped with the reason."""
    call.say(call.paint(f"{known.task.id}, read by {known.by}, anchors {known.locked[:12]}", "strong"))
    for check in known.task.anchors:
        call.say(f"  {'anchor':<{LABEL}} {check_name(check)}")
    if not known.task.anchors:
        call.say(f"  {'':<{LABEL}} no anchor: the task states nothing that can be checked mechanically")
    for dropped in known.dropped:
        call.say(f"  {'dropped':<{LABEL}} {dropped}")
