"""The second look: a person says whether they agree with a promotion that the gate made by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from tui.cli.output.dry_run import append_or_rehearse
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, Reason, require_reason
from tui.documents.candidates import CandidateAgreeDocument, CandidateDisagreeDocument
from tui.documents.events import event_rows
from tui.session.open_registry import find_registry, open_registry
from tui.text.names import SHOWN_CHARS, named_candidate

if TYPE_CHECKING:
    from tui.cli.output.invocation import Invocation

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a promoted candidate, or the beginning of one.")]


def agree_with(
    ctx: typer.Context, name: Id, *, reason: Reason = "", dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Say that a promotion was right; the version stays as it is. Needs --reason.

    One of every `review.draw_every` promotions is drawn for this (germline ui --at /review), and any may be named.
    """
    _look_over(invocation(ctx), name, "agree", reason, dry_run=dry_run, as_json=as_json)


def disagree_with(
    ctx: typer.Context, name: Id, *, reason: Reason = "", dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Say that a promotion was wrong; the version stays until it is reverted. Needs --reason."""
    _look_over(invocation(ctx), name, "disagree", reason, dry_run=dry_run, as_json=as_json)


def _look_over(
    call: Invocation,
    name: str,
    decision: Literal["agree", "disagree"],
    reason: str,
    *,
    dry_run: bool,
    as_json: bool,
) -> None:
    from registry.decide.commands import LookOver  # noqa: PLC0415 - showing a candidate needs none of it

    document = CandidateAgreeDocument if decision == "agree" else CandidateDisagreeDocument
    hint = f"germline candidate {decision} {name} --reason TEXT"
    require_reason(reason, "a second look needs a reason: it is kept with the event", hint)
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        candidate = named_candidate(registry, name)
        skill = candidate.proposed.capsule
        command = LookOver(candidate.id, skill, decision, reason.strip())
        receipt = append_or_rehearse(
            call, registry, lambda: registry.execute(command), document, dry_run=dry_run, as_json=as_json
        )
        if receipt is None:
            return
    if as_json:
        events = event_rows(receipt.envelopes)
        call.answer(document(candidate=candidate.id, skill=skill, version=candidate.version, events=events))
        return
    call.say(
        f"{f'{decision}d':<10} {candidate.id[:SHOWN_CHARS]}, which became {skill}@{candidate.version}: "
        f"{reason.strip()}"
    )
    if decision == "agree" or not candidate.version or candidate.reverted:
        call.say(f"next       germline candidate show {candidate.id[:SHOWN_CHARS]}")
    else:
        call.say(f"next       germline revert {skill} --to {candidate.version - 1} --reason TEXT")
