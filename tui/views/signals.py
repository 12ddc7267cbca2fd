"""The Signals screen as rows: a fact in each, and what one rests on, leads to and shows in."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from strategies.signals.open_signals import REPEATED_WISH
from tui.facts.signals import (
    STATE_MARKS,
    fact_sentence,
    outcome_words,
    sessions_words,
    signal_facts,
    worked_words,
)
from tui.text.numbers import count
from tui.text.rows import BLANK, RowPart, cell, clean, cut_row, indented, labelled, wrap
from tui.text.signal_words import WORD_WIDTH
from tui.text.words import signal_name
from tui.views.evidence import evidence_summary
from tui.views.fact_rows import fact_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.select.queue import Agenda
    from tui.reads.signal_facts import SignalDetail, SignalFact
    from tui.reads.signals import Prospects
    from tui.text.rows import Row, Tone

_ROOMY: Final = 130
_SESSIONS: Final = 16
_ROOM: Final = 6
"""Letters of a number of sessions."""
_COUNT: Final = 14
_WORKED: Final = 30
_CAME: Final = 30


def signals_header(width: int, short: int) -> list[Row]:
    """Name the columns of the list."""
    beside = (cell("  what worked next", _WORKED, "dim"), RowPart("  goes to, or came of it", "dim"))
    titles = (
        cell(f"   {'id':<{short}} what happened", _room(width, short) + short + WORD_WIDTH + 5, "dim"),
        cell("sessions", _SESSIONS, "dim", right=True),
        cell("worked next", _COUNT, "dim", right=True),
        *(beside if width >= _ROOMY else ()),
    )
    return [cut_row(titles, width)]


def signal_row(fact: SignalFact, short: int, width: int) -> Row:
    """Write one fact in one row; `○` is open, `·` waits for a decision, `✓` is answered or settled."""
    mark, (fixed, times) = STATE_MARKS[fact.state], worked_words(fact)
    tone: Tone = "good" if fact.worked else "dim"
    name = signal_name(fact.group.head, clean)
    beside = (cell(f"  {clean(fixed)}", _WORKED, tone), RowPart(f"  {clean(outcome_words(fact))}"))
    return cut_row(
        (
            RowPart(f" {mark.text} ", mark.tone),
            cell(fact.id[:short], short, "dim"),
            cell(f" {fact.word}", WORD_WIDTH + 2, "dim" if fact.state == "answered" else "strong"),
            cell(name, _room(width, short)),
            cell(sessions_words(fact, _ROOM), _SESSIONS, right=True),
            cell(times, _COUNT, tone, right=True),
            *(beside if width >= _ROOMY else ()),
        ),
        width,
    )


def _room(width: int, short: int) -> int:
    """Give the cells for what happened."""
    beside = _WORKED + _CAME if width >= _ROOMY else 0
    return max(width - 5 - short - WORD_WIDTH - _SESSIONS - _COUNT - beside, 1)


def detail_rows(
    fact: SignalFact,
    detail: SignalDetail | None,
    there: Sequence[bool] | None,
    prospects: Prospects | None,
    width: int,
    short: int,
    now: str,
) -> list[Row]:
    """Tell about one fact: a sentence, what it rests on and leads to, what came of it, and the records behind it.

    What is None is still being read.
    """
    width -= 2
    rows = [*wrap((RowPart(clean(fact_sentence(fact)), "strong"),), width), BLANK]
    if detail is not None:
        rows += fact_rows(signal_facts(replace(detail, fact=fact), short, now), width)
    rows += _leads(fact, prospects, width)
    if detail is not None:
        rows += evidence_summary(detail, there, width)
    return indented(rows, width)


def _leads(fact: SignalFact, prospects: Prospects | None, width: int) -> list[Row]:
    """Say what the preset in force would make of the signal: when, which change, by whom, and where."""
    signal = fact.group.head
    if prospects is None or prospects.agenda is None:
        return labelled("leads to", (RowPart("…", "dim"),), width)
    name = clean(prospects.current.bound.name)
    kept_from = _kept_from(fact, prospects)
    if kept_from:
        return labelled("leads to", (RowPart("nothing now: ", "dim"), RowPart(kept_from)), width, limit=3)
    turn = prospects.turns.get(signal.fingerprint)
    when = f"turn {turn} from now" if turn else "not among the next turns"
    by = ", then ".join(prospects.proposers.get(signal.kind, ()))
    skill = clean(prospects.agenda.routes[signal.fingerprint])
    first = (
        RowPart(signal.calls_for, "accent"),
        RowPart(f" of {skill}, mined by {by}; {when} under "),
        RowPart(name, "accent"),
    )
    return labelled("leads to", first, width, limit=3)


def _kept_from(fact: SignalFact, prospects: Prospects) -> str:
    """Say why a signal is not on the agenda, "" where it is."""
    signal, agenda, bound = fact.group.head, prospects.agenda, prospects.current.bound
    if fact.state == "answered":
        return "a live line answers it" if fact.lines else "it is settled"
    if signal.kind not in prospects.proposers:
        by_person = signal.kind == REPEATED_WISH
        return "a person takes its line: germline start" if by_person else f"no proposer answers {signal.kind}"
    if not bound.preset.weights.of(signal.calls_for):
        return f"{clean(bound.name)} gives {signal.calls_for} a weight of 0"
    return _rests(signal.fingerprint, agenda) if agenda else ""


def _rests(fingerprint: str, agenda: Agenda) -> str:
    """Say why an open signal is not on offer, "" where it is."""
    for resting in agenda.resting:
        if resting.signal.fingerprint == fingerprint:
            return (
                f"it rests for {count(resting.turns_left, 'turn')}: {resting.failures} in a row promoted nothing"
            )
    if any(signal.fingerprint == fingerprint for signal in agenda.unrouted):
        return f"no skill answers to it: germline signals assign {fingerprint[:8]} SKILL"
    if not any(offer.fingerprint == fingerprint for offer in agenda.offers):
        return "no episode on record shows it: germline scan PATH"
    return ""
