"""`export review`: a person's word on runs or sessions, recorded and printed in one way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from events.errors import UsageError
from tui.cli.output.dry_run import append_or_rehearse
from tui.documents.events import event_rows
from tui.documents.exports import ExportReviewDocument
from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.store.protocol import Receipt
    from registry.registry import Registry
    from strategies.rollouts.run.export import Decision
    from tui.cli.output.invocation import Invocation

MARKS: Final = {"approve": ("✓", "good"), "reject": ("✗", "bad"), "": ("·", "dim")}
"""What stands before a run or a session in a list, and its tone, by the decision on it."""
MOST_LISTED: Final = 40
"""Runs or sessions that are listed; the rest is counted."""


class DecidedOn(NamedTuple):
    """What a decision is about: so many runs or sessions, the command that lists them, and what comes next."""

    kind: Literal["run", "session"]
    number: int
    listed_by: str
    exported_by: str


def record_decision(
    call: Invocation,
    registry: Registry,
    about: DecidedOn,
    decided: tuple[Decision, str],
    append: Callable[[], Receipt],
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Append a decision and its reason, and print it; of a dry run, what would be appended.

    Raises: UsageError where it is about nothing.
    """
    if not about.number:
        raise UsageError(f"no {about.kind} is left to decide on", hint=about.listed_by)
    receipt = append_or_rehearse(call, registry, append, ExportReviewDocument, dry_run=dry_run, as_json=as_json)
    if receipt is None:
        return
    decision, reason = decided
    if as_json:
        events, number = event_rows(receipt.envelopes), {f"{about.kind}s": about.number}
        call.answer(ExportReviewDocument(decision=decision, events=events, **number))
        return
    verdict = "approved" if decision == "approve" else "rejected"
    call.say(f"{verdict:<10} {count(about.number, about.kind)}, event {receipt.envelopes[0].position}: {reason}")
    call.say(f"next       {about.exported_by}    {about.listed_by}")
