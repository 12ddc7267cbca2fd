"""What was found and tried: signals, and the candidates that answer them."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from registry.query.signals import raised_as_counted
from strategies.signals.open_signals import open_among
from tui.cli.output.color import width
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, OneOrAll
from tui.documents.signals import FirstFigures, SignalListed, SignalsDocument
from tui.facts.candidates import figure_part, proposed_text
from tui.reads.review import waits
from tui.session.bootstrap import find_registry, open_library
from tui.text.names import SHOWN_CHARS
from tui.text.numbers import age, brief, count
from tui.text.terminal_text import clip, clip_middle, one_line
from tui.text.words import KIND_WIDTH, VERDICTS, signal_name

if TYPE_CHECKING:
    from registry.state.candidate import Candidate
    from tui.cli.output.invocation import Invocation

_CALLED: Final = 22
"""Columns of a skill and its version in the list of candidates."""
_WIDE: Final = 72
"""Columns of a row of that list; where there are fewer, the figures stand below."""


def signals(
    ctx: typer.Context,
    *,
    measured: Annotated[
        bool, typer.Option("--quality", help="Precision, recall and lift of each signal against outcomes.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the signals that were raised, with counts and evidence.

    An open signal (○) is one that no live claim of any skill answers yet. Counts are those of the last scan that
    counted them.
    """
    call = invocation(ctx)
    if measured:
        from tui.cli.printers.signal_quality import tell_quality  # noqa: PLC0415 - detecting again is for those who ask

        tell_quality(call, as_json=as_json)
        return
    with open_library(find_registry(call.registry)) as library:
        raised = sorted(
            raised_as_counted(library), key=lambda signal: (-signal.event.severity, signal.event.fingerprint)
        )
        still_open = open_among(library, [signal.event for signal in raised])
        first = {signal.position: FirstFigures.model_validate(signal.event) for signal in library.signals()}
    if as_json:
        rows = (
            SignalListed(
                **signal.event.model_dump(exclude={"type"}),
                open=signal.event.fingerprint in still_open,
                raised_with=first[signal.position],
                position=signal.position,
                at=signal.at,
            )
            for signal in raised
        )
        call.answer(SignalsDocument(signals=tuple(rows)))
        return
    for signal_raised in raised:
        event = signal_raised.event
        mark = "○" if event.fingerprint in still_open else call.paint("✓", "good")
        name = clip(signal_name(event), width() - 58)
        times, episodes = brief(event.count, 7), brief(event.episodes, 6)
        call.say(
            f"{mark} {event.kind:<{KIND_WIDTH}} {event.calls_for:<8} {times:>7}× {episodes:>6} ep "
            f"{len(event.runs):>2} {'run ' if len(event.runs) == 1 else 'runs'}  {name}"
        )
    shown = next((name for signal in raised for name in signal.event.evidence), "")
    if raised:
        further = f"    germline evidence show {shown[:SHOWN_CHARS]}" if shown else ""
        call.say(f"next       germline signals --quality{further}")
    else:
        call.note("no signal was raised yet", "next       germline scan PATH")


def candidates(ctx: typer.Context, skill: OneOrAll = "", *, as_json: AsJson = False) -> None:
    """List what was proposed; what waits for review comes first.

    Held (·) candidates wait for more logs or for a person. Rejected (✗) ones stay for ever, and are found again
    instead of measured again.
    """
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        every = library.candidates(library.capsule(skill).name if skill else "")
    waiting = [candidate for candidate in every if waits(candidate)]
    decided = [candidate for candidate in every if not waits(candidate)]
    if as_json:
        from tui.documents.candidates import CandidatesDocument  # noqa: PLC0415 - `signals` needs none of it

        call.answer(CandidatesDocument.of(waiting, decided))
        return
    _list(call, "review", waiting)
    _list(call, "decided", decided)
    if waiting:
        call.say(f"next       germline candidate show {waiting[0].id[:SHOWN_CHARS]}")
    elif every:
        call.say(f"next       germline gate explain {decided[-1].id[:SHOWN_CHARS]}")
    else:
        call.note("nothing was proposed yet", "next       germline evolve SKILL --logs PATH")


def _list(call: Invocation, heading: str, group: list[Candidate]) -> None:
    now = SystemClock().now()
    if group:
        call.say(call.paint(f"{heading:<10} {count(len(group), 'candidate')}", "strong"))
    for candidate in group:
        mark, tone = VERDICTS["reject" if candidate.reverted else candidate.verdict]
        figure = figure_part(candidate)
        figures = figure.text if figure else "not measured"
        version = f"@{candidate.version}" if candidate.version else ""
        called = clip_middle(candidate.proposed.capsule + version, _CALLED)
        begun = f"{candidate.id[:SHOWN_CHARS]}  {called:<{_CALLED}} {candidate.proposed.strategy:<8}"
        beside, below = (f" {figures:<18}", "") if width() >= _WIDE else ("", f"\n    {figures}")
        call.say(f"{call.paint(mark, tone)} {begun}{beside} {age(candidate.at, now):>4}{below}")
        for text in (
            proposed_text(candidate.proposed),
            "taken back" if candidate.reverted else "",
            *candidate.reasons[:1],
        ):
            if text:
                call.say(f"    {clip(one_line(text), width() - 4)}")


COMMANDS: Final = {"signals": signals, "candidates": candidates}
