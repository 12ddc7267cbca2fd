"""What was tried: the candidates that answer signals."""
# ruff: noqa: TC001, TC002 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from events.clock import SystemClock
from registry.query.tier_sentences import tier_sentence
from strategies.monitor.agreement import agreement_of
from strategies.monitor.spot_check import second_looks
from tui.cli.config.config import config_in_force
from tui.cli.output.color import width
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, OneOrAll
from tui.facts.candidates import agreement_words, figure_part, proposed_text
from tui.reads.review import tasks_away, waits
from tui.session.open_registry import find_registry, open_library
from tui.text.durations import age
from tui.text.names import SHOWN_CHARS
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import count
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

    Held (·) candidates wait for more logs or for a person; what is offered as seen says how often it worked. Then
    promotions that were drawn for a second look, which nobody took yet. Rejected (✗) ones stay for ever, and are
    found again instead of measured again.
    """
    call, config = invocation(ctx), config_in_force()
    with open_library(find_registry(call.registry)) as library:
        name = library.capsule(skill).name if skill else ""
        known = library.candidates()
        every = [candidate for candidate in known if name in {"", candidate.proposed.capsule}]
        waiting = [candidate for candidate in every if waits(candidate)]
        away = tasks_away(library, waiting)
        drawn = second_looks(known, every=config.draw_every, seed=config.seed)
        looks = [look for look in drawn if name in {"", look.proposed.capsule}]
        agreement = agreement_of(library, name)
        first_step = "" if every else _first_step(library, skill)
    others = {look.id for look in looks}
    decided = [candidate for candidate in every if not waits(candidate) and candidate.id not in others]
    if as_json:
        from tui.documents.candidates import CandidatesDocument  # noqa: PLC0415 - the list of commands pays for none of it

        call.answer(CandidatesDocument.of(waiting, looks, decided, away, agreement))
        return
    _list(call, "review", waiting, away)
    _list(call, "look over", looks, {})
    _list(call, "decided", decided, {})
    if words := agreement_words(agreement):
        say_folded(call, "agreement  ", words)
    if waiting:
        call.say(f"next       germline candidate show {waiting[0].id[:SHOWN_CHARS]}")
    elif looks:
        shown = looks[0].id[:SHOWN_CHARS]
        call.say(f"next       germline candidate show {shown}    germline candidate agree {shown} --reason TEXT")
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
