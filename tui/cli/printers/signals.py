"""Signals on the terminal: a row for each fact, and all there is to say about one of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.clock import SystemClock
from tui.cli.output.color import width
from tui.cli.output.facts import say_facts, say_folded
from tui.cli.output.pager import paged
from tui.cli.printers.evidence import print_evidence
from tui.facts.signals import (
    STATE_MARKS,
    fact_sentence,
    next_command,
    outcome_words,
    sessions_words,
    shown_in_facts,
    signal_facts,
    worked_words,
)
from tui.text.next_steps import NEXT_STEPS
from tui.text.numbers import count
from tui.text.signal_words import WORD_WIDTH
from tui.text.terminal_text import clip, columns
from tui.text.words import signal_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.cli.output.invocation import Invocation
    from tui.reads.signal_facts import SignalDetail, SignalFact, SignalFacts, SignalFilter

WIDE: Final = 132
"""From how many columns on a fact takes one line."""
_SESSIONS: Final = 16
_ROOM: Final = 6
"""Letters of a number of sessions."""
_WORKED: Final = 30
_COUNT: Final = 9
_CAME: Final = 28


def print_facts(call: Invocation, facts: SignalFacts, shown: Sequence[SignalFact], wanted: SignalFilter) -> None:
    """Print the facts that were asked for, and what to type next."""
    if not facts.facts:
        call.note("no signal was raised yet", f"next       {NEXT_STEPS['no sessions']}")
        return
    if not shown:
        call.note(f"none of {count(len(facts.facts), 'fact')} is {wanted.words}", "next       germline signals")
        return
    with paged():
        say_folded(call, "", _summary(facts, shown, wanted))
        wide = width() >= WIDE
        call.say(call.paint(_titles(facts.short, wide=wide), "dim"))
        for fact in shown:
            for line in _rows(call, fact, facts, wide=wide):
                call.say(line)
    call.say(f"next       germline signals {shown[0].id[: facts.short]}    {_further(facts, shown)}")


def _summary(facts: SignalFacts, shown: Sequence[SignalFact], wanted: SignalFilter) -> str:
    what = f"{count(facts.signals, 'signal')} tell {count(len(facts.facts), 'fact')}"
    among = f"{len(shown):,} shown: {wanted.words}" if wanted.words else "what costs most comes first"
    left = sum(fact.state == "open" for fact in facts.facts)
    nobody = "" if facts.skills else "; there is no skill yet that could answer them"
    return f"{what} about {count(facts.sessions, 'session')}, {left:,} of them open{nobody}; {among}."


def _further(facts: SignalFacts, shown: Sequence[SignalFact]) -> str:
    """Give what to type after the list beside looking at what is in it."""
    if not facts.skills:
        return NEXT_STEPS["no skill"]
    lost = next((fact for fact in shown if fact.state == "open" and not fact.route.skill), None)
    return f"germline signals assign {lost.id[: facts.short]} SKILL" if lost else "germline signals --quality"


def _titles(short: int, *, wide: bool) -> str:
    head = f"  {'id':<{short}} {'what happened':<{_room(short, wide=wide)}} {'sessions':>{_SESSIONS}}"
    return f"{head}  {'what worked next':<{_WORKED}} {'in':>{_COUNT}}  goes to, or came of it" if wide else head


def _room(short: int, *, wide: bool) -> int:
    """Give the columns for what happened."""
    return width() - _SESSIONS - short - 4 - (_WORKED + _COUNT + _CAME + 5 if wide else 0)


def _rows(call: Invocation, fact: SignalFact, facts: SignalFacts, *, wide: bool) -> list[str]:
    short, mark = facts.short, STATE_MARKS[fact.state]
    word = f"{fact.word:<{WORD_WIDTH}} "
    name = _fit(signal_name(fact.group.head), _room(short, wide=wide) - len(word))
    begun = f"{call.paint(mark.text, mark.tone)} {fact.id[:short]} {call.paint(word, 'strong')}{name}"
    head = f"{begun} {sessions_words(fact, _ROOM):>{_SESSIONS}}"
    fixed, times = worked_words(fact)
    tone, came_of_it = "good" if fact.worked else "dim", outcome_words(fact)
    if wide:
        lost = "warn" if fact.state == "open" and not fact.route.skill else ""
        cells = f"{call.paint(_fit(fixed, _WORKED), tone)} {times:>{_COUNT}}"
        return [f"{head}  {cells}  {call.paint(clip(came_of_it, _CAME), lost)}"]
    worked = f"{fixed}: worked in {times}" if fact.worked else ""
    below = " · ".join(filter(None, (worked, came_of_it if facts.skills else "")))
    return [head, call.paint(clip(f"  {'':<{short}} {below}", width()), tone)] if below else [head]


def _fit(text: str, room: int) -> str:
    text = clip(text, room)
    return text + " " * (room - columns(text))


def print_detail(
    call: Invocation,
    detail: SignalDetail,
    facts: SignalFacts,
    there: Sequence[bool],
    *,
    short_session: int,
    every: bool,
) -> None:
    """Print one fact: a sentence, what it rests on, where it shows, and what to type next."""
    now = SystemClock().now()
    say_folded(call, "", fact_sentence(detail.fact), tone="strong")
    say_facts(call, signal_facts(detail, facts.short, now))
    say_facts(call, shown_in_facts(detail, short_session, now, every=every))
    print_evidence(call, detail.evidence, detail.erased, there, every=every)
    call.say(f"next       {next_command(detail, facts.short, skills=bool(facts.skills))}")
