"""One candidate: what was proposed and how it was judged, and a person's decision about it."""

from __future__ import annotations

from typing import Annotated, Final, Literal

import typer

from events.clock import SystemClock
from registry.actions.publish import publish
from registry.skill_md.render import label
from tui.cli.commands.evolve.candidate_runs import propose_candidate, run_candidates
from tui.cli.commands.evolve.candidate_spot_check import agree_with, disagree_with
from tui.cli.output.dry_run import append_or_rehearse
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import UNDECIDED, AsJson, DryRun, Reason, require_reason
from tui.documents.candidates import CandidateApproveDocument, CandidateRejectDocument, CandidateShowDocument
from tui.documents.events import event_rows
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.names import SHOWN_CHARS, named_candidate

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a candidate, or the beginning of one.")]

candidate = typer.Typer(help="Show one candidate, and approve or reject it.", rich_markup_mode=None)


@candidate.command("show")
def show_candidate(
    ctx: typer.Context,
    name: Id,
    *,
    every: Annotated[bool, typer.Option("--all", help="Show every piece of evidence.")] = False,
    written: Annotated[
        Literal["text", "markdown"],
        typer.Option("--format", metavar="F", help="text, or markdown: the text of a pull request."),
    ] = "text",
    as_json: AsJson = False,
) -> None:
    """Show one candidate: its diff, claims, evidence, scores, and the gate step by step."""
    from tui.cli.printers.candidate import print_page  # noqa: PLC0415 - deciding needs none of it
    from tui.cli.printers.pull_request import pull_request_text  # noqa: PLC0415 - as above
    from tui.reads.review import read_page  # noqa: PLC0415 - deciding needs none of it

    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        page = read_page(library, named_candidate(library, name))
        if as_json:
            call.answer(CandidateShowDocument.of(page))
        elif written == "markdown":
            call.say(pull_request_text(page))
        else:
            print_page(call, page, SystemClock().now(), every=every)


@candidate.command("approve")
def approve_candidate(
    ctx: typer.Context, name: Id, *, reason: Reason = "", dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Promote a candidate on your word; it stays marked unproven where it was not measured. Needs --reason.

    A person may overrule the gate's figures, but not a stale base, protected lines, the edit budget, the trust
    region, hidden characters or secrets.
    """
    from strategies.monitor.review import approve  # noqa: PLC0415 - showing needs none of it

    call = invocation(ctx)
    require_reason(reason, UNDECIDED, f"germline candidate approve {name} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        proposal = named_candidate(registry, name)
        receipt = append_or_rehearse(
            call,
            registry,
            lambda: approve(registry, proposal, reason),
            CandidateApproveDocument,
            dry_run=dry_run,
            as_json=as_json,
        )
        if receipt is None:
            return
        paths = publish(registry, proposal.proposed.capsule)
        capsule = registry.capsule(proposal.proposed.capsule)
    if as_json:
        document = CandidateApproveDocument(
            candidate=proposal.id,
            skill=capsule.name,
            version=capsule.version,
            unproven=capsule.unproven,
            written=paths,
            events=event_rows(receipt.envelopes),
        )
        call.answer(document)
        return
    nobody = ", seen: nothing was compared" if proposal.tier else ", unproven: nobody measured it"
    call.say(f"approved   {proposal.id[:SHOWN_CHARS]} is {label(capsule)} now{nobody if capsule.unproven else ''}")
    say_folded(call, "written    ", f"{', '.join(paths)}, in {capsule.source}")
    name, before = capsule.name, capsule.version - 1
    if not before:
        call.say(f"next       germline show {name} --blame    germline candidates {name}")
        return
    call.say(f"next       germline diff {name} {before}    germline revert {name} --to {before} --reason TEXT")


@candidate.command("reject")
def reject_candidate(
    ctx: typer.Context, name: Id, *, reason: Reason = "", dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Refuse a candidate on your word; it stays known, and is not proposed again. Needs --reason."""
    from strategies.monitor.review import reject  # noqa: PLC0415 - showing needs none of it

    call = invocation(ctx)
    require_reason(reason, UNDECIDED, f"germline candidate reject {name} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        proposal = named_candidate(registry, name)
        receipt = append_or_rehearse(
            call,
            registry,
            lambda: reject(registry, proposal, reason),
            CandidateRejectDocument,
            dry_run=dry_run,
            as_json=as_json,
        )
        if receipt is None:
            return
    if as_json:
        events = event_rows(receipt.envelopes)
        call.answer(CandidateRejectDocument(candidate=proposal.id, skill=proposal.proposed.capsule, events=events))
        return
    call.say(f"rejected   {proposal.id[:SHOWN_CHARS]}: {reason}")
    call.say(f"next       germline candidates {proposal.proposed.capsule}")


# What runs an agent, and the second look, live in modules of their own; they are registered here.
candidate.command("propose")(propose_candidate)
candidate.command("test")(run_candidates)
candidate.command("agree")(agree_with)
candidate.command("disagree")(disagree_with)

COMMANDS: Final = {"candidate": candidate}
