"""Evidence: what the registry keeps of logs, to look at and to erase."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import NotFoundError
from registry.evidence.record import EvidenceRecord
from registry.query.model_prompts import may_quote
from registry.query.signals import ErasureReach, erasure_of, named_evidence, reach_of, signals_with
from strategies.episodes.clipped_text import clipped
from tui.cli.output.color import width
from tui.cli.output.dry_run import rehearse
from tui.cli.output.facts import folded, say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, Reason, require_reason
from tui.documents.events import event_rows
from tui.documents.evidence import EvidenceEraseDocument, EvidenceShowDocument
from tui.reads.evidence import lying_in, parts_beside, place_words
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.durations import ago
from tui.text.names import SHOWN_CHARS
from tui.text.numbers import count
from tui.text.terminal_text import clip, columns, one_line
from tui.text.words import signal_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.query.library import Library
    from tui.cli.output.invocation import Invocation

_SHOWN: Final = 3
"""Logs and pieces that are named one by one."""
_LABEL: Final = 11
"""Columns of the labels."""
_DEEPEST: Final = 20
"""Columns by which a line of a text may be indented as in its log."""
_PART_CHARS: Final = 1_200
"""What is shown of a request, a call or an answer beside the text that is kept (a guess)."""

evidence = typer.Typer(help="Show and erase the texts that signals refer to.", rich_markup_mode=None)


@evidence.command("show")
def show_evidence(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="ID", help="An id, or the beginning of one.")],
    *,
    as_json: AsJson = False,
) -> None:
    """Show one piece of evidence: its text, its place, what it is for."""
    from strategies.pool.evidence_context import episodes_of, read_contexts  # noqa: PLC0415 - reads logs

    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        name = named_evidence(library, name)
        erased, kept = erasure_of(library, name), _kept(library, name)
        lies_in = lying_in([kept], library.log.maps)[0] if kept else ""
        signals = signals_with(library, name)
        known = episodes_of(library, [kept] if kept else [])
    context = read_contexts([kept], known)[0] if kept else None
    if as_json:
        document = EvidenceShowDocument.of(
            name, erased=erased, kept=kept, lies_in=lies_in or "", signals=signals, context=context
        )
        call.answer(document)
        return
    call.say(f"evidence   {name}")
    if kept:
        _print_kept(call, kept, lies_in or "")
        for word, text in parts_beside(kept, context):
            _print_text(call, f"{word:<{_LABEL}}", clipped(text, _PART_CHARS))
    elif erased:
        when = ago(erased.at, SystemClock().now())
        say_folded(call, "erased     ", f"{when}, on {erased.at[:10]}, because {erased.reason}")
    for at, signal in enumerate(signals):
        say_folded(call, f"{'signal' if at == 0 else '':<10} ", signal_words(signal.event))
    if kept:
        call.say(f"next       germline evidence erase {name[:12]} --reason TEXT")


def _kept(library: Library, name: str) -> EvidenceRecord | None:
    """Read a piece of evidence, None where its text was erased; raises NotFoundError where it is gone."""
    if erasure_of(library, name) is not None:
        return None
    body = library.log.get_blob(name)
    if body is None:
        raise NotFoundError(f"evidence {name} is gone, and no event erased it", hint="germline verify")
    return EvidenceRecord.from_bytes(body)


def _print_kept(call: Invocation, kept: EvidenceRecord, lies_in: str) -> None:
    where = f"{lies_in or kept.file}, {place_words(kept.file, kept.line)}, byte {kept.byte_start:,}"
    _print_place(call, where, still=bool(lies_in))
    rules = ", ".join(dict.fromkeys(redaction.rule for redaction in kept.redactions))
    if rules:
        say_folded(call, "redacted   ", f"{count(len(kept.redactions), 'place')}: {rules}")
    _print_text(call, "  ", kept.text)


def _print_text(call: Invocation, head: str, text: str) -> None:
    """Print the lines of a text behind what heads it, indented as in the log."""
    for at, line in enumerate(map(one_line, text.splitlines())):
        indent = min(len(line) - len(line.lstrip()), _DEEPEST)
        say_folded(call, f"{'' if at else head:<{len(head) + indent}}", line)


def _print_place(call: Invocation, where: str, *, still: bool) -> None:
    """Say where a piece is, and whether it is still there; the state is never cut."""
    *above, last = folded(one_line(where), width() - _LABEL)
    state, tone = ("still there", "") if still else ("no longer there", "warn")
    if columns(last) + len(f", {state}") <= width() - _LABEL:
        lines = [*above, f"{last}, {call.paint(state, tone)}"]
    else:
        lines = [*above, last, call.paint(state, tone)]
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
    stays, and `why` says that its evidence was erased.
    """
    from strategies.pool.erase import erase_text  # noqa: PLC0415 - what decodes maps is not for `evidence show`

    call = invocation(ctx)
    require_reason(reason, "erasing needs a reason", f"germline evidence erase {names[0]} --reason TEXT")
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry:
        records = list(dict.fromkeys(named_evidence(registry, name) for name in names))
        reach = reach_of(registry, records)
        if dry_run:
            erase_all = partial(erase_text, registry, reach.names, reason)
            rehearse(call, registry, erase_all, EvidenceEraseDocument, as_json=as_json)
            return
        there = zip(reach.evidence, lying_in(reach.evidence, registry.log.maps), strict=True)
        logs = list(dict.fromkeys(f"{file}, {place_words(file, record.line)}" for record, file in there if file))
        quoting = len(may_quote(registry))
        envelopes = erase_text(registry, reach.names, reason).envelopes
        quoting -= len(may_quote(registry))
        final = registry.log.scrub()
    if as_json:
        document = EvidenceEraseDocument(
            erased=reach.names,
            final=final,
            events=event_rows(envelopes),
            still_in=tuple(logs),
            templates=reach.templates,
            alike=reach.alike,
            quoting=quoting,
        )
        call.answer(document)
        return
    new = {getattr(envelope.event, "evidence", "") for envelope in envelopes}
    for name in reach.names:
        before = "" if name in new else ", before: nothing to add"
        call.say(f"erased     {name[:SHOWN_CHARS]}{before}{'' if name in records else ', the same record'}")
    if quoting:
        call.say(
            f"with it    {count(quoting, 'text')} that quoted it: prompts, replies, transcripts, finished runs"
        )
    _print_left(call, reach, logs)
    if not final:
        call.note("warning    another process is in the way, or the disk is full: the bytes may still be there")
        call.note(f"next       germline evidence erase {records[0][:12]} --reason TEXT    tries that part again")
    call.say("next       germline verify")


def _print_left(call: Invocation, reach: ErasureReach, logs: Sequence[str]) -> None:
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
