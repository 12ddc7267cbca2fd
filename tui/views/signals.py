"""The Signals screen as rows: the list, and what a signal rests on and would lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.signals.wishes import REPEATED_WISH
from tui.facts.candidates import figure_part, proposed_text, verdict_part
from tui.text.numbers import age, ago, brief, count, minute
from tui.text.rows import RowPart, cell, clean, cut_row, indented, labelled
from tui.text.words import route_words, signal_name
from tui.views.evidence import evidence_summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.select.queue import Agenda
    from tui.reads.signals import Prospects, SignalDetail, SignalLine
    from tui.text.rows import Row

_KIND: Final = 18
_ROOMY: Final = 100
_RUNS_SHOWN: Final = 6


def signals_header(width: int) -> list[Row]:
    """Name the columns of the list."""
    runs = (cell("runs", 6, "dim", right=True),) if width >= _ROOMY else ()
    titles = (
        cell("   kind", _KIND + 3, "dim"),
        cell(" calls for", 10, "dim"),
        cell("count", 8, "dim", right=True),
        cell("ep", 6, "dim", right=True),
        *runs,
        cell("severe", 7, "dim", right=True),
        cell("age", 5, "dim", right=True),
        RowPart("  what recurs", "dim"),
    )
    return [cut_row(titles, width)]


def signal_row(line: SignalLine, width: int, now: str) -> Row:
    """Write one signal in one row; `○` is open, `✓` answered or settled."""
    signal = line.raised.event
    runs = (cell(f"{len(signal.runs):,}", 6, "dim", right=True),) if width >= _ROOMY else ()
    mark = RowPart(" ○ ", "warn") if line.open else RowPart(" ✓ ", "good")
    return cut_row(
        (
            mark,
            cell(signal.kind, _KIND, "strong" if line.open else "dim"),
            cell(f" {signal.calls_for}", 10, "accent" if line.open else "dim"),
            cell(f"{brief(signal.count, 7)}×", 8, right=True),
            cell(brief(signal.episodes, 5), 6, right=True),
            *runs,
            cell(f"{signal.severity:.2f}", 7, right=True),
            cell(age(line.raised.at, now), 5, "dim", right=True),
            RowPart(f"  {signal_name(signal, clean)}"),
        ),
        width,
    )


def detail_rows(
    line: SignalLine,
    detail: SignalDetail | None,
    there: Sequence[bool] | None,
    prospects: Prospects | None,
    width: int,
    now: str,
) -> list[Row]:
    """Tell about one signal: what it leads to, what came of it, and the records behind it.

    What is None is still being read.
    """
    width -= 2
    signal, raised = line.raised.event, line.raised
    runs = ", ".join(clean(run) for run in signal.runs[:_RUNS_SHOWN])
    more = f" and {len(signal.runs) - _RUNS_SHOWN} more" if len(signal.runs) > _RUNS_SHOWN else ""
    figures = f"{signal.count:,}× in {count(signal.episodes, 'episode')}, severity {signal.severity:.2f}"
    rows = [
        *labelled("signal", (RowPart(f'"{signal_name(signal, clean)}"', "warn"),), width, limit=3),
        *labelled("", (RowPart(figures),), width),
        *labelled("runs", (RowPart(f"{runs}{more}" or "not known"),), width, limit=2),
        *labelled(
            "raised", (RowPart(f"{ago(raised.at, now)}, event {raised.position}, {minute(raised.at)} UTC"),), width
        ),
        *_goes_to(line, prospects, width),
        *_leads(line, detail, prospects, width),
    ]
    if detail is not None:
        rows += [*_came_of_it(detail, width), *_tried(detail, width), *evidence_summary(detail, there, width)]
    return indented(rows, width)


def _leads(line: SignalLine, detail: SignalDetail | None, prospects: Prospects | None, width: int) -> list[Row]:
    """Say what the preset in force would make of the signal: when, which change, by whom, and where."""
    signal = line.raised.event
    if prospects is None or prospects.agenda is None:
        return labelled("leads to", (RowPart("…", "dim"),), width)
    name = clean(prospects.current.bound.name)
    kept_from = _kept_from(line, detail, prospects)
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


def _goes_to(line: SignalLine, prospects: Prospects | None, width: int) -> list[Row]:
    """Say which skill the signal belongs to, and why."""
    route = prospects.routes.get(line.raised.event.fingerprint) if prospects else None
    if route is None:
        return []
    return labelled(
        "goes to", (RowPart(clean(route_words(route)), "" if route.skill else "warn"),), width, limit=2
    )


def _kept_from(line: SignalLine, detail: SignalDetail | None, prospects: Prospects) -> str:
    """Say why a signal is not on the agenda, "" where it is."""
    signal, agenda, bound = line.raised.event, prospects.agenda, prospects.current.bound
    if not line.open:
        return "a live line answers it" if detail and detail.lines else "it is settled"
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


def _came_of_it(detail: SignalDetail, width: int) -> list[Row]:
    rows: list[Row] = []
    for line in detail.lines:
        where = RowPart(f"{clean(line.skill)}@{line.version}:{line.number}  ", "accent")
        rows += labelled("" if rows else "lines", (where, RowPart(clean(line.text).strip())), width, limit=1)
    return rows


def _tried(detail: SignalDetail, width: int) -> list[Row]:
    rows: list[Row] = []
    for candidate in detail.tried:
        figure = figure_part(candidate)
        row = (
            verdict_part(candidate),
            RowPart("  "),
            *((figure, RowPart("  ")) if figure else ()),
            RowPart(clean(proposed_text(candidate.proposed))),
        )
        rows += labelled("" if rows else "tried", row, width, limit=1)
    return rows
