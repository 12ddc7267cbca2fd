"""Evidence: what the registry keeps of logs, to look at and to erase."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from events.clock import SystemClock
from events.errors import NotFoundError, UsageError
from registry.asked import may_quote
from registry.erasing import Reach, erasure_of, named_evidence, reach_of, signals_with
from registry.evidence import Evidence
from tui.bootstrap import find_registry, open_library, open_registry
from tui.cli.appended import event_rows, rehearsed
from tui.cli.facts import folded, say_folded
from tui.cli.invocation import invocation
from tui.cli.names import SHOWN_CHARS
from tui.cli.options import AsJson, DryRun, Reason
from tui.cli.paint import clip, columns, one_line, width
from tui.cli.words import signal_words
from tui.figures import ago, count
from tui.rereading import lying_in, place_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.library import Library
    from tui.cli.invocation import Invocation

_SHOWN: Final = 3
"""Logs and pieces that are named one by one."""
_LABEL: Final = 11
"""Columns of the labels."""
_DEEPEST: Final = 20
"""Columns by which a line of a text may be indented as in its log."""

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
        say_folded(call, "erased     ", f"{when}, on {erased['at'][:10]}, because {erased['reason']}")
    else:
        _print_kept(call, fields)
    for at, one in enumerate(signals):
        say_folded(call, f"{'signal' if at == 0 else '':<10} ", signal_words(one.event))
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
    (lies_in,) = lying_in([kept], library.log.checkpoints)
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
        "still_there": bool(lies_in),
        "lies_in": lies_in or None,
    }


def _print_kept(call: Invocation, fields: dict[str, Any]) -> None:
    file = fields["lies_in"] or fields["file"]
    where = f"{file}, {place_words(fields['file'], fields['line'])}, byte {fields['byte_start']:,}"
    _print_place(call, where, still=fields["still_there"])
    rules = ", ".join(dict.fromkeys(one["rule"] for one in fields["redactions"]))
    if rules:
        say_folded(call, "redacted   ", f"{count(len(fields['redactions']), 'place')}: {rules}")
    for line in fields["text"].splitlines():
        text = one_line(line)
        indent = min(len(text) - len(text.lstrip()), _DEEPEST)
        say_folded(call, f"{'':<{2 + indent}}", text)


def _print_place(call: Invocation, where: str, *, still: bool) -> None:
    """Say where a piece stands, and whether it still does, which is told whole."""
    *above, last = folded(one_line(where), width() - _LABEL)
    said, tone = ("still there", "") if still else ("no longer there", "warn")
    if columns(last) + len(f", {said}") <= width() - _LABEL:
        lines = [*above, f"{last}, {call.paint(said, tone)}"]
    else:
        lines = [*above, last, call.paint(said, tone)]
    for at, line in enumerate(lines):
        call.say(f"{'' if at else 'place':<{_LABEL}}{line}")


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

    The log itself is not touched, but no evidence of the record is taken from it again. What a skill learned
    stands, and `why` says that its evidence was erased.
    """
    from strategies.erasing import erase_text  # noqa: PLC0415 - what decodes checkpoints is not for `evidence show`

    call = invocation(ctx)
    if not reason.strip():
        raise UsageError("erasing needs a reason", hint=f"germline evidence erase {names[0]} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        found = list(dict.fromkeys(named_evidence(registry, name) for name in names))
        reach = reach_of(registry, found)
        if dry_run:
            with registry.rehearsal():
                envelopes = erase_text(registry, reach.names, reason).envelopes
                rehearsed(call, "evidence-erase", envelopes, as_json=as_json)
            return
        there = zip(reach.evidence, lying_in(reach.evidence, registry.log.checkpoints), strict=True)
        logs = list(dict.fromkeys(f"{file}, {place_words(file, one.line)}" for one, file in there if file))
        quoting = len(may_quote(registry))
        envelopes = erase_text(registry, reach.names, reason).envelopes
        quoting -= len(may_quote(registry))
        final = registry.log.scrub()
    if as_json:
        told = {"erased": list(reach.names), "final": final, "events": event_rows(envelopes), "still_in": logs,
                "templates": list(reach.templates), "alike": list(reach.alike), "quoting": quoting}  # fmt: skip
        call.answer("evidence-erase", told)
        return
    new = {getattr(envelope.event, "evidence", "") for envelope in envelopes}
    for name in reach.names:
        before = "" if name in new else ", before: nothing to add"
        call.say(f"erased     {name[:SHOWN_CHARS]}{before}{'' if name in found else ', the same record'}")
    if quoting:
        call.say(
            f"with it    {count(quoting, 'text')} that quoted it: prompts, replies, transcripts, finished runs"
        )
    _print_left(call, reach, logs)
    if not final:
        call.note("warning    another process is in the way, or the disk is full: the bytes may still be there")
        call.note(f"next       germline evidence erase {found[0][:12]} --reason TEXT    tries that part again")
    call.say("next       germline verify")


def _print_left(call: Invocation, reach: Reach, logs: Sequence[str]) -> None:
    """Say what an erasure leaves: the logs, the templates in events, other pieces with the same text."""
    for at, where in enumerate(logs[:_SHOWN]):
        say_folded(call, f"{'log' if at == 0 else '':<10} ", f"{where} still holds it: delete it there too")
    if len(logs) > _SHOWN:
        call.say(f"{'':<10} {len(logs) - _SHOWN} more: --json")
    for at, template in enumerate(reach.templates):
        call.say(
            f'{"stays" if at == 0 else "":<10} "{clip(one_line(template), width() - 38)}", the template in events'
        )
    if reach.alike:
        others = " ".join(name[:12] for name in reach.alike[:_SHOWN])
        more = " …" if len(reach.alike) > _SHOWN else ""
        call.say(f"alike      {count(len(reach.alike), 'other piece')} with the same text: {others}{more}")


COMMANDS: Final = {"evidence": evidence}
