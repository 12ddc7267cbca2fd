"""One candidate: what was proposed and how it was judged, and a person's decision about it."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import UsageError
from registry.publish import publish
from registry.rendering import label
from tui.bootstrap import find_registry, open_library, open_registry
from tui.cli.appended import event_rows, rehearsed
from tui.cli.candidate_runs import propose_candidate, run_candidates
from tui.cli.facts import say_folded
from tui.cli.invocation import invocation
from tui.cli.looking_over import agree_with, disagree_with
from tui.cli.names import SHOWN_CHARS, named_candidate
from tui.cli.options import AsJson, DryRun, Reason

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.log import Receipt
    from registry.registry import Registry
    from tui.cli.invocation import Invocation

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a candidate, or the beginning of one.")]

candidate = typer.Typer(help="Show one candidate, and approve or reject it.", rich_markup_mode=None)


@candidate.command("show")
def show_candidate(
    ctx: typer.Context,
    name: Id,
    *,
    every: Annotated[bool, typer.Option("--all", help="Show every piece of evidence.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show one candidate: its diff, claims, evidence, scores, and the gate step by step."""
    from tui.cli.proposed import page_json, print_page, read_page  # noqa: PLC0415 - deciding needs none of it

    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        page = read_page(library, named_candidate(library, name))
        if as_json:
            call.answer("candidate-show", page_json(page))
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
    from strategies.reviewing import approve  # noqa: PLC0415 - showing needs none of it

    call = invocation(ctx)
    _require_reason(reason, f"germline candidate approve {name} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        found = named_candidate(registry, name)
        receipt = _decided(call, registry, lambda: approve(registry, found, reason), "approve", dry_run, as_json)
        if receipt is None:
            return
        paths = publish(registry, found.proposed.capsule)
        capsule = registry.capsule(found.proposed.capsule)
    if as_json:
        fields = {
            "candidate": found.id,
            "skill": capsule.name,
            "version": capsule.version,
            "unproven": capsule.unproven,
            "written": list(paths),
            "events": event_rows(receipt.envelopes),
        }
        call.answer("candidate-approve", fields)
        return
    unproven = ", unproven: nobody measured it" if capsule.unproven else ""
    call.say(f"approved   {found.id[:SHOWN_CHARS]} is {label(capsule)} now{unproven}")
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
    from strategies.reviewing import reject  # noqa: PLC0415 - showing needs none of it

    call = invocation(ctx)
    _require_reason(reason, f"germline candidate reject {name} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        found = named_candidate(registry, name)
        receipt = _decided(call, registry, lambda: reject(registry, found, reason), "reject", dry_run, as_json)
        if receipt is None:
            return
    if as_json:
        fields = {"candidate": found.id, "skill": found.proposed.capsule, "events": event_rows(receipt.envelopes)}
        call.answer("candidate-reject", fields)
        return
    call.say(f"rejected   {found.id[:SHOWN_CHARS]}: {reason}")
    call.say(f"next       germline candidates {found.proposed.capsule}")


def _require_reason(reason: str, hint: str) -> None:
    if not reason.strip():
        raise UsageError("a decision needs a reason: it is kept with the event", hint=hint)


def _decided(
    call: Invocation,
    registry: Registry,
    decide: Callable[[], Receipt],
    word: str,
    dry_run: bool,  # noqa: FBT001 - handed on from the command's own option
    as_json: bool,  # noqa: FBT001 - the same
) -> Receipt | None:
    """Let a decision be appended; None where it was only rehearsed, and printed."""
    if not dry_run:
        return decide()
    with registry.rehearsal():
        rehearsed(call, f"candidate-{word}", decide().envelopes, as_json=as_json)
    return None


# What runs an agent, and the second look, live in modules of their own; they are registered here.
candidate.command("propose")(propose_candidate)
candidate.command("test")(run_candidates)
candidate.command("agree")(agree_with)
candidate.command("disagree")(disagree_with)

COMMANDS: Final = {"candidate": candidate}
