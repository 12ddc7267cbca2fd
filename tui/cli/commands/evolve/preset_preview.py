"""The preview: what would be picked next, and what would be picked differently under another preset."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from registry.query.signal_kinds import kind_word
from strategies.policy.active_preset import bound_by
from strategies.select.pick import KINDS
from tui.cli.output.color import width
from tui.cli.output.facts import say_folded, say_listed
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.documents.presets import ForeseenPick, PresetOutlook, PresetPreviewDocument
from tui.documents.signals import RestingSignal, SignalRow
from tui.facts.presets import resting_words
from tui.session.open_registry import find_registry, open_library
from tui.text.numbers import owed_words
from tui.text.terminal_text import clip, one_line
from tui.text.words import unrouted_words

if TYPE_CHECKING:
    from events.types.registry_events import SignalRaised
    from strategies.policy.active_preset import Bound
    from strategies.select.pick import Pick
    from strategies.select.queue import Agenda
    from tui.cli.output.invocation import Invocation

CYCLES: Final = 5
"""How many turns are looked ahead unless told otherwise (a guess: enough to see shares)."""


class Outlook(NamedTuple):
    """What would be picked under one preset."""

    bound: Bound
    picks: list[Pick[SignalRaised]]


def preview(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(metavar="[NAME]", help="Another preset to compare with.")] = "",
    *,
    skill: Annotated[str, typer.Option(metavar="SKILL", help="As if `evolve` were given this skill.")] = "",
    cycles: Annotated[int, typer.Option(min=1, metavar="N", help="Turns to look ahead.")] = CYCLES,
    as_json: AsJson = False,
) -> None:
    """Say what would be picked next, and what differently under another preset; nothing is mined or written.

    What each kind of change is owed decides the kind; severity decides the signal inside it.
    """
    from strategies.gate.replay.skill_grounds import grounds_of  # noqa: PLC0415 - the same
    from strategies.propose.by_signal import PROPOSERS  # noqa: PLC0415 - the same
    from strategies.select.queue import agenda_on, foreseen  # noqa: PLC0415 - other commands of the group are fast
    from tui.cli.config.config import read_config  # noqa: PLC0415 - the same

    call, config = invocation(ctx), read_config()
    with open_library(find_registry(call.registry)) as library:
        if skill:
            library.capsule(skill)
        presets = [bound_by(library), *([bound_by(library, name)] if name else [])]
        grounds = grounds_of(library, config.skill_logs(library), sources=config.sources)
        agenda = agenda_on(library, grounds.scope, PROPOSERS, skill)
        met = grounds.evaluators(library)
        outlooks = [
            Outlook(bound, foreseen(library, agenda, bound, seed=config.seed, evaluators=met, count=cycles))
            for bound in presets
        ]
    if as_json:
        call.answer(_document(outlooks, agenda))
        return
    for outlook in outlooks:
        _print_outlook(call, outlook, outlooks[0], agenda)
    _print_left(call, agenda)
    other = outlooks[-1].bound
    one_run = f"germline evolve {skill}".rstrip()
    call.say(f"next       {f'germline preset use {other.name} --reason TEXT' if name else one_run}")


def _print_outlook(call: Invocation, outlook: Outlook, first: Outlook, agenda: Agenda) -> None:
    """Print the picks of one preset, those that the first one would not make at that turn marked."""
    bound, picks = outlook
    title = f"{bound.name}{f', now {bound.preset.name}: {bound.because}' if bound.because else ''}"
    call.say(f"{title}{', in force' if outlook is first else ''}")
    if not picks:
        say_folded(call, "  ", "nothing would be picked: no signal is left that this preset may answer")
        return
    call.say(f"  {'owed':<11} {'repair':>7} {'harden':>7} {'innovate':>9}  signal")
    for at, pick in enumerate(picks):
        signal, differs = pick.offer, _differs(outlook, first, at)
        owed = " ".join(f"{owed_words(pick.owed[kind]):>{len(kind) + 1}}" for kind in KINDS)
        name = signal.template or f"{kind_word(signal.kind)} {signal.action}"
        goes = f"{agenda.routes[signal.fingerprint]}: " if len(set(agenda.routes.values())) > 1 else ""
        row = f"{at + 1:>2} {signal.calls_for:<8} {owed}  {goes}{one_line(name)}"
        call.say(call.paint(clip(f"{'≠' if differs else ' '} {row}", width()), "warn" if differs else ""))


def _print_left(call: Invocation, agenda: Agenda) -> None:
    say_listed(call, "resting", [*map(resting_words, agenda.resting)], cut=True)
    if agenda.unrouted:
        say_folded(call, "unrouted   ", unrouted_words(agenda.unrouted))


def _differs(outlook: Outlook, first: Outlook, at: int) -> bool:
    there = first.picks[at].offer.fingerprint if at < len(first.picks) else ""
    return outlook.picks[at].offer.fingerprint != there


def _document(outlooks: list[Outlook], agenda: Agenda) -> PresetPreviewDocument:
    return PresetPreviewDocument(
        presets=tuple(
            PresetOutlook(
                preset=outlook.bound.name,
                binds=outlook.bound.preset.name,
                because=outlook.bound.because or None,
                picks=tuple(
                    ForeseenPick.of(
                        pick, agenda.routes[pick.offer.fingerprint], differs=_differs(outlook, outlooks[0], at)
                    )
                    for at, pick in enumerate(outlook.picks)
                ),
            )
            for outlook in outlooks
        ),
        resting=tuple(map(RestingSignal.model_validate, agenda.resting)),
        unrouted=tuple(map(SignalRow.model_validate, agenda.unrouted)),
    )
