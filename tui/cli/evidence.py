"""Evidence: what the registry keeps of logs, to look at and to erase."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from events.clock import SystemClock
from events.errors import NotFoundError, UsageError
from registry.erasing import erase, erasure_of, named_evidence, signals_with
from registry.evidence import Evidence
from tui.bootstrap import find_registry, open_library, open_registry
from tui.cli.appended import event_rows, rehearsed
from tui.cli.invocation import invocation
from tui.cli.options import AsJson, DryRun, Reason
from tui.cli.paint import harmless
from tui.cli.words import signal_words
from tui.figures import ago, count
from tui.rereading import still_there

if TYPE_CHECKING:
    from registry.library import Library
    from tui.cli.invocation import Invocation

evidence = typer.Typer(help="Show and erase the texts that signals refer to.", rich_markup_mode=None)


@evidence.command("show")
def show_evidence(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="ID", help="An id, or the beginning of one.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Show one piece of evidence: its text, its place, what it is for."""
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        fields = _fields(library, named_evidence(library, name))
        signals = signals_with(library, fields["id"])
    if as_json:
        call.answer("evidence-show", {**fields, "signals": [one.event.fingerprint for one in signals]})
        return
    call.say(f"evidence   {fields['id']}")
    if fields["erased"]:
        erased = fields["erased"]
        when = ago(erased["at"], SystemClock().now())
        call.say(f"erased     {when}, on {erased['at'][:10]}, because {erased['reason']}")
    else:
        _print_kept(call, fields)
    for at, one in enumerate(signals):
        call.say(f"{'signal' if at == 0 else '':<10} {signal_words(one.event)}")
    if not fields["erased"]:
        call.say(f"next       germline evidence erase {fields['id'][:12]} --reason TEXT")


def _fields(library: Library, name: str) -> dict[str, Any]:
    erased = erasure_of(library, name)
    if erased is not None:
        return {"id": name, "erased": {"at": erased.at, "reason": erased.reason}}
    body = library.log.get_blob(name)
    if body is None:
        raise NotFoundError(f"evidence {name} is gone, and no event erased it", hint="germline verify")
    kept = Evidence.from_bytes(body)
    return {
        "id": name,
        "erased": None,
        "file": kept.file,
        "line": kept.line,
        "byte_start": kept.byte_start,
        "byte_end": kept.byte_end,
        "hmac": kept.hmac,
        "text": kept.text,
        "redactions": [{"start": one.start, "end": one.end, "rule": one.rule} for one in kept.redactions],
        "episode": kept.episode,
        "still_there": still_there([kept])[0],
    }


def _print_kept(call: Invocation, fields: dict[str, Any]) -> None:
    there = "still there" if fields["still_there"] else call.paint("no longer there", "warn")
    call.say(f"place      {fields['file']}, line {fields['line']:,}, byte {fields['byte_start']:,}, {there}")
    rules = ", ".join(dict.fromkeys(one["rule"] for one in fields["redactions"]))
    if rules:
        call.say(f"redacted   {count(len(fields['redactions']), 'place')}: {rules}")
    for line in harmless(fields["text"]).splitlines():
        call.say(f"  {line}")


@evidence.command("erase")
def erase_evidence(
    ctx: typer.Context,
    names: Annotated[list[str], typer.Argument(metavar="ID…", help="Ids, or the beginnings of them.")],
    *,
    reason: Reason = "",
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Erase texts for good, each with the key to its hash; the events stay.

    The log itself is not touched: what a skill learned stands, and `why` says that its evidence was erased.
    """
    call = invocation(ctx)
    if not reason.strip():
        raise UsageError("erasing needs a reason", hint=f"germline evidence erase {names[0]} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        found = list(dict.fromkeys(named_evidence(registry, name) for name in names))
        if dry_run:
            with registry.rehearsal():
                rehearsed(call, "evidence-erase", erase(registry, found, reason).envelopes, as_json=as_json)
            return
        envelopes = erase(registry, found, reason).envelopes
        final = registry.log.scrub()
    if as_json:
        call.answer("evidence-erase", {"erased": found, "final": final, "events": event_rows(envelopes)})
        return
    new = {getattr(envelope.event, "evidence", "") for envelope in envelopes}
    for name in found:
        call.say(f"erased     {name}{'' if name in new else ', before: nothing to add'}")
    if not final:
        call.note("warning    another process is in the way, or the disk is full: the bytes may still be there")
        call.note(f"next       germline evidence erase {found[0][:12]} --reason TEXT    tries that part again")
    call.say("next       germline verify")


COMMANDS: Final = {"evidence": evidence}
