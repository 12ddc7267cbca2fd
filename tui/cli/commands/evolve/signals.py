"""Signals: what recurs in the logs, in a row for each fact, which skill each belongs to, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import UsageError
from registry.query.signals import assignments, named_signal
from strategies.pool.known_episodes import all_episodes
from strategies.scope.scope import scope_of
from tui.cli.config.config import read_config
from tui.cli.output.color import width
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun, moment_since
from tui.cli.printers.evidence import shown_of
from tui.cli.printers.signals import print_detail, print_facts
from tui.reads.evidence import still_there
from tui.reads.sessions import short_ids
from tui.reads.signal_facts import SignalFilter, read_signal_detail, read_signal_facts, with_fixes, with_sessions
from tui.session.open_registry import find_registry, open_library, open_registry
from tui.text.signal_words import SignalState, kind_named
from tui.text.terminal_text import clip
from tui.text.words import route_words, signal_words

if TYPE_CHECKING:
    from registry.query.library import Library
    from strategies.episodes.episode import EpisodeRecord
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation
    from tui.reads.signal_facts import SignalFacts

Fingerprint = Annotated[str, typer.Argument(metavar="ID", help="An id of `germline signals`, or its beginning.")]
Measured = Annotated[
    bool, typer.Option("--quality", help="Precision, recall and lift of each signal against outcomes.")
]
_MEASURED: Final = "germline.signals.quality"

signals = typer.Typer(
    help="List what recurs, a row for each fact; say whose it is.",
    rich_markup_mode=None,
    invoke_without_command=True,
)


@signals.callback()
def list_signals(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    *,
    kind: Annotated[
        str, typer.Option(metavar="WORD", help="Only what is called so: failed, refused, slow …")
    ] = "",
    skill: Annotated[str, typer.Option(metavar="NAME", help="Only what goes to this skill.")] = "",
    state: Annotated[SignalState | None, typer.Option(help="Only what is open, waits, or is answered.")] = None,
    since: Annotated[
        str, typer.Option(metavar="WHEN", help="Only what came up since 2026-11-01, or 7d ago.")
    ] = "",
    text: Annotated[str, typer.Option(metavar="TEXT", help="Only what holds this text.")] = "",
    measured: Measured = False,
    as_json: AsJson = False,
) -> None:
    """List what recurs: a row for each fact, what worked next, the skill it goes to.

    Signals that speak of one fact stand in one row, those that cost most first. A fact is open (○), waits for a
    decision on a candidate (·), or is answered by a live line (✓). Counts are those of the last scan that counted
    them. `germline signals ID` tells all about one.
    """
    wanted = SignalFilter(kind_named(kind) if kind else "", skill, state or "", moment_since(since), text)
    if ctx.invoked_subcommand:
        if as_json or wanted.words or (measured and ctx.invoked_subcommand != "show"):
            raise UsageError(
                "options of the list stand alone", hint=f"germline signals {ctx.invoked_subcommand} --help"
            )
        ctx.meta[_MEASURED] = measured
        return
    call, config = invocation(ctx), read_config()
    if measured:
        _tell_quality(call, config, wanted, as_json=as_json)
        return
    with open_library(find_registry(call.registry)) as library:
        if skill:
            library.capsule(skill)  # raises where it is no skill
        facts, _ = _read(library, config)
        shown = wanted.chosen(facts.facts)
        if as_json:
            from tui.documents.signals import SignalsDocument  # noqa: PLC0415 - the table needs none of it

            call.answer(SignalsDocument.of_facts(library, shown, facts.short))
            return
    print_facts(call, facts, shown, wanted)


def _tell_quality(
    call: Invocation, config: Config, wanted: SignalFilter, *, fingerprint: str = "", as_json: bool
) -> None:
    from tui.cli.printers.signal_quality import tell_quality  # noqa: PLC0415 - detecting again is for those who ask

    tell_quality(call, config, wanted, fingerprint=fingerprint, as_json=as_json)


def _read(library: Library, config: Config) -> tuple[SignalFacts, list[EpisodeRecord]]:
    """Read every fact with what worked next, and the episodes that this took."""
    records = all_episodes(library)
    facts = read_signal_facts(library, logs=config.skill_logs(library), records=records)
    return with_fixes(facts, records), records


@signals.command("show")
def show(
    ctx: typer.Context,
    fingerprint: Fingerprint,
    *,
    every: Annotated[bool, typer.Option("--all", help="All sessions and records that show it.")] = False,
    measured: Measured = False,
    as_json: AsJson = False,
) -> None:
    """Tell all about one fact; `show` may be left out.

    In one sentence, then its signals, what worked next and how often, the sessions and records that show it, and
    the candidates and lines for it.
    """
    call, config = invocation(ctx), read_config()
    with open_library(find_registry(call.registry)) as library:
        asked = named_signal(library, fingerprint).event.fingerprint
        if measured or ctx.meta.get(_MEASURED):
            _tell_quality(call, config, SignalFilter(), fingerprint=asked, as_json=as_json)
            return
        facts, records = _read(library, config)
        detail = read_signal_detail(library, facts.named(asked))
        detail = with_sessions(library, detail, records, config.thresholds)
        pieces = [kept.evidence for kept in shown_of(detail.evidence, every=every or as_json)]
        there = still_there(pieces, library.log.maps)
        if as_json:
            from tui.documents.signals import SignalsShowDocument  # noqa: PLC0415 - as above

            call.answer(SignalsShowDocument.of_detail(library, detail, facts, there))
            return
    print_detail(call, detail, facts, there, short_session=short_ids(records), every=every)


@signals.command("assign")
def assign(
    ctx: typer.Context,
    fingerprint: Fingerprint,
    skill: Annotated[str, typer.Argument(metavar="SKILL", help="The skill that it belongs to.")],
    *,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Say which skill a signal belongs to; it overrules every rule. Saying the same again adds nothing."""
    _assign(invocation(ctx), fingerprint, skill, dry_run=dry_run, as_json=as_json)


@signals.command("unassign")
def unassign(
    ctx: typer.Context, fingerprint: Fingerprint, *, dry_run: DryRun = False, as_json: AsJson = False
) -> None:
    """Take back which skill a signal belongs to: the rules decide again."""
    _assign(invocation(ctx), fingerprint, "", dry_run=dry_run, as_json=as_json)


def _assign(call: Invocation, stated: str, skill: str, *, dry_run: bool, as_json: bool) -> None:
    """Assign every signal of a fact, or take that back where no skill is named."""
    from events.types.registry_events import SignalAssigned  # noqa: PLC0415 - the list needs none of it
    from registry.decide.commands import RecordFact  # noqa: PLC0415 - as above
    from tui.cli.output.dry_run import append_or_rehearse  # noqa: PLC0415 - as above
    from tui.documents.events import event_rows  # noqa: PLC0415 - as above
    from tui.documents.signals import (  # noqa: PLC0415 - as above
        RouteRow,
        SignalAssignDocument,
        SignalUnassignDocument,
    )

    document = SignalAssignDocument if skill else SignalUnassignDocument
    config = read_config()
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry, registry.log.transaction():
        raised = named_signal(registry, stated)
        if skill:
            registry.capsule(skill)
        records, known = all_episodes(registry), assignments(registry)
        facts = read_signal_facts(registry, logs=config.skill_logs(registry), records=records)
        fact = facts.named(raised.event.fingerprint)
        before = {name: known[name].skill for name in fact.group.fingerprints if name in known}
        changed = [
            SignalAssigned(fingerprint=name, capsule=skill or before[name], withdrawn=not skill)
            for name in sorted(fact.group.fingerprints)
            if before.get(name, "") != skill
        ]
        command = RecordFact(tuple(changed))
        receipt = append_or_rehearse(
            call, registry, lambda: registry.execute(command), document, dry_run=dry_run, as_json=as_json
        )
        if receipt is None:
            return
        route = scope_of(registry, records, config.skill_logs(registry)).route(raised.event)
    previous = before.get(raised.event.fingerprint, "")
    if as_json:
        answer = document(
            fingerprint=raised.event.fingerprint,
            previous=previous or None,
            route=RouteRow.described(route),
            events=event_rows(receipt.envelopes),
        )
        call.answer(answer)
        return
    short = fact.id[: facts.short]
    call.say(clip(f"signal     {short} {signal_words(raised.event)}", width()))
    call.say(clip(f"goes to    {route_words(route)}", width()))
    if not receipt.envelopes:
        call.note("nothing    it was so already")
    undo = f"    germline signals {f'assign {short} {previous}' if previous else f'unassign {short}'}"
    call.say(f"next       germline evolve {route.skill}".rstrip() + (undo if receipt.envelopes and skill else ""))


COMMANDS: Final = {"signals": signals}
