"""What was tried: the candidates that answer signals."""
# ruff: noqa: TC001, TC002 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from events.clock import SystemClock
from registry.query.tier_sentences import tier_sentence
from tui.cli.output.color import width
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, OneOrAll
from tui.facts.candidates import figure_part, proposed_text
from tui.reads.review import tasks_away, waits
from tui.session.bootstrap import find_registry, open_library
from tui.text.names import SHOWN_CHARS
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import age, count
from tui.text.terminal_text import clip, clip_middle, one_line
from tui.text.words import VERDICTS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from registry.query.library import Library
    from registry.state.candidate import Candidate
    from strategies.gate.rule import NeededTasks
    from tui.cli.output.invocation import Invocation

_CALLED: Final = 22
"""Columns of a skill and its version in the list of candidates."""
_WIDE: Final = 72
"""Columns of a row of that list; where there are fewer, the figures stand below."""


def candidates(ctx: typer.Context, skill: OneOrAll = "", *, as_json: AsJson = False) -> None:
    """List what was proposed; what waits for review comes first.

    Held (·) candidates wait for more logs or for a person; what is offered as seen says how often it worked.
    Rejected (✗) ones stay for ever, and are found again instead of measured again.
    """
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        every = library.candidates(library.capsule(skill).name if skill else "")
        waiting = [candidate for candidate in every if waits(candidate)]
        away = tasks_away(library, waiting)
        first_step = "" if every else _first_step(library, skill)
    decided = [candidate for candidate in every if not waits(candidate)]
    if as_json:
        from tui.documents.candidates import CandidatesDocument  # noqa: PLC0415 - the list of commands pays for none of it

        call.answer(CandidatesDocument.of(waiting, decided, away))
        return
    _list(call, "review", waiting, away)
    _list(call, "decided", decided, {})
    if waiting:
        call.say(f"next       germline candidate show {waiting[0].id[:SHOWN_CHARS]}")
    elif every:
        call.say(f"next       germline gate explain {decided[-1].id[:SHOWN_CHARS]}")
    else:
        call.note("nothing was proposed yet", f"next       {first_step}")


def _first_step(library: Library, skill: str) -> str:
    """Give what to type where there is no candidate: nothing was read, no turn taken yet, or none proposed any."""
    if not any(True for _ in library.log.episodes()):
        return NEXT_STEPS["no sessions"]
    if any(skill in {"", cycle.capsule} for cycle in library.cycles()):
        return NEXT_STEPS["nothing proposed"]
    return f"{NEXT_STEPS['not evolved']} {skill}".rstrip()


def _list(call: Invocation, heading: str, group: list[Candidate], away: Mapping[str, NeededTasks]) -> None:
    """List some candidates, those of `away` with how far they are from a verdict, by id."""
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
            tier_sentence(candidate.tier) if candidate.tier else "",
            *(() if candidate.tier else candidate.reasons[:1]),
            f"{away[candidate.id].words} for a verdict" if candidate.id in away else "",
        ):
            if text:
                call.say(f"    {clip(one_line(text), width() - 4)}")


COMMANDS: Final = {"candidates": candidates}
