"""Signals: what recurs in the logs, which skill each belongs to, and why."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import UsageError
from events.types.registry_events import SignalAssigned
from registry.decide.commands import RecordFact
from registry.query.signals import assignments, named_signal, raised_as_counted
from strategies.pool.intake import all_episodes
from strategies.scope.scope import scope_of
from strategies.signals.open_signals import open_among
from tui.cli.config.config import read_config
from tui.cli.output.color import width
from tui.cli.output.dry_run import append_or_rehearse
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, DryRun
from tui.documents.events import event_rows
from tui.documents.signals import (
    FirstFigures,
    RouteRow,
    SignalAssignDocument,
    SignalListed,
    SignalsDocument,
    SignalUnassignDocument,
)
from tui.session.bootstrap import find_registry, open_library, open_registry
from tui.text.names import SHOWN_CHARS
from tui.text.numbers import brief
from tui.text.terminal_text import clip
from tui.text.words import KIND_WIDTH, route_words, signal_name, signal_words

if TYPE_CHECKING:
    from registry.query.library import Raised
    from strategies.scope.scope import Route
    from tui.cli.output.invocation import Invocation

SHOWN_FINGERPRINT: Final = 8

Fingerprint = Annotated[
    str, typer.Argument(metavar="FINGERPRINT", help="A fingerprint of `germline signals`, or its beginning.")
]

signals = typer.Typer(
    help="List the signals that were raised; say whose they are.",
    rich_markup_mode=None,
    invoke_without_command=True,
)


@signals.callback()
def list_signals(
    ctx: typer.Context,
    *,
    measured: Annotated[
        bool, typer.Option("--quality", help="Precision, recall and lift of each signal against outcomes.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the signals that were raised, with counts, evidence, and the skill that each goes to.

    An open signal (○) is one that no live claim of any skill answers yet. Counts are those of the last scan that
    counted them.
    """
    if ctx.invoked_subcommand:
        if measured or as_json:
            raise UsageError("options of the list stand alone", hint="germline signals assign --help")
        return
    call = invocation(ctx)
    if measured:
        from tui.cli.printers.signal_quality import tell_quality  # noqa: PLC0415 - detecting again is for those who ask

        tell_quality(call, as_json=as_json)
        return
    config = read_config()
    with open_library(find_registry(call.registry)) as library:
        raised = sorted(
            raised_as_counted(library), key=lambda signal: (-signal.event.severity, signal.event.fingerprint)
        )
        still_open = open_among(library, [signal.event for signal in raised])
        first = {signal.position: FirstFigures.model_validate(signal.event) for signal in library.signals()}
        scope = scope_of(library, all_episodes(library), config.skill_logs(library))
        routes = {signal.event.fingerprint: scope.route(signal.event) for signal in raised}
    if as_json:
        rows = (
            SignalListed(
                **signal.event.model_dump(exclude={"type"}),
                open=signal.event.fingerprint in still_open,
                raised_with=first[signal.position],
                position=signal.position,
                at=signal.at,
                route=RouteRow.described(routes[signal.event.fingerprint]),
            )
            for signal in raised
        )
        call.answer(SignalsDocument(signals=tuple(rows)))
        return
    for signal_raised in raised:
        fingerprint = signal_raised.event.fingerprint
        _print_signal(call, signal_raised, routes[fingerprint], is_open=fingerprint in still_open)
    _print_next(call, raised, routes, still_open, nobody=not (scope.skills or scope.others))


def _print_signal(call: Invocation, raised: Raised, route: Route, *, is_open: bool) -> None:
    event = raised.event
    mark = "○" if is_open else call.paint("✓", "good")
    name = clip(signal_name(event), width() - 58)
    times, episodes = brief(event.count, 7), brief(event.episodes, 6)
    call.say(
        f"{mark} {event.kind:<{KIND_WIDTH}} {event.calls_for:<8} {times:>7}× {episodes:>6} ep "
        f"{len(event.runs):>2} {'run ' if len(event.runs) == 1 else 'runs'}  {name}"
    )
    words = clip(route_words(route), width() - SHOWN_FINGERPRINT - 3)
    call.say(f"  {event.fingerprint[:SHOWN_FINGERPRINT]} {call.paint(words, 'dim' if route.skill else 'warn')}")


def _print_next(
    call: Invocation,
    raised: list[Raised],
    routes: dict[str, Route],
    still_open: frozenset[str],
    *,
    nobody: bool,
) -> None:
    """Say what to type after the list; `nobody` where no skill is there to be assigned one."""
    if not raised:
        call.note("no signal was raised yet", "next       germline scan PATH")
        return
    shown = next((name for signal in raised for name in signal.event.evidence), "")
    lost = next((name for name, route in routes.items() if not route.skill and name in still_open), "")
    further = f"    germline evidence show {shown[:SHOWN_CHARS]}" if shown else ""
    if lost:
        further = f"    germline signals assign {lost[:SHOWN_FINGERPRINT]} SKILL"
    if nobody:
        further = "    germline import PATH"
    call.say(f"next       germline signals --quality{further}")


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
    """Assign a signal, or take that back where no skill is named."""
    document = SignalAssignDocument if skill else SignalUnassignDocument
    config = read_config()
    with open_registry(find_registry(call.registry), dry_run=dry_run) as registry, registry.log.transaction():
        raised = named_signal(registry, stated)
        if skill:
            registry.capsule(skill)
        known = assignments(registry).get(raised.event.fingerprint)
        before = known.skill if known else ""
        event = SignalAssigned(fingerprint=raised.event.fingerprint, capsule=skill or before, withdrawn=not skill)
        command = RecordFact((event,) if skill != before else ())
        receipt = append_or_rehearse(
            call, registry, lambda: registry.execute(command), document, dry_run=dry_run, as_json=as_json
        )
        if receipt is None:
            return
        route = scope_of(registry, all_episodes(registry), config.skill_logs(registry)).route(raised.event)
    if as_json:
        answer = document(
            fingerprint=raised.event.fingerprint,
            previous=before or None,
            route=RouteRow.described(route),
            events=event_rows(receipt.envelopes),
        )
        call.answer(answer)
        return
    short = raised.event.fingerprint[:SHOWN_FINGERPRINT]
    call.say(clip(f"signal     {short} {signal_words(raised.event)}", width()))
    call.say(clip(f"goes to    {route_words(route)}", width()))
    if not receipt.envelopes:
        call.note("nothing    it was so already")
    undo = f"    germline signals {f'assign {short} {before}' if before else f'unassign {short}'}"
    call.say(f"next       germline evolve {route.skill}".rstrip() + (undo if receipt.envelopes and skill else ""))


COMMANDS: Final = {"signals": signals}
