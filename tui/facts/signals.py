"""What signals tell, in words: a fact in one row, in one sentence, and all that is known of it behind labels."""

from __future__ import annotations

from shlex import quote
from typing import TYPE_CHECKING, Final

from registry.query.signal_kinds import KINDS, kind_word
from registry.query.tier_sentences import tier_sentence
from strategies.episodes.episode import began_at
from tui.facts.candidates import figure_part, proposed_text, verdict_part
from tui.facts.fact import Fact, fact
from tui.facts.sessions import outcome_part, project_words
from tui.facts.start import cost_words, count_words, fix_words
from tui.text.durations import age, ago
from tui.text.names import SHOWN_CHARS
from tui.text.numbers import brief, count
from tui.text.rows import RowPart
from tui.text.words import route_words, seen_words, signal_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui.reads.signal_facts import AnsweringLine, SignalDetail, SignalFact
    from tui.text.signal_words import SignalState

STATE_MARKS: Final[dict[SignalState, RowPart]] = {
    "open": RowPart("○", "warn"),
    "waiting": RowPart("·", "accent"),
    "answered": RowPart("✓", "good"),
}
SESSIONS_SHOWN: Final = 5
NOTHING: Final = "–"


def sessions_words(about: SignalFact, room: int = 0) -> str:
    """Say in how many sessions of how many a fact shows, each in at most `room` letters where that is given.

    Where fewer are known by now it says only in how many.
    """
    shown, known = about.group.episodes, about.sessions
    numbers = (shown, known) if shown <= known else (shown,)
    return " of ".join(brief(number, room) if room else f"{number:,}" for number in numbers)


def worked_words(about: SignalFact) -> tuple[str, str]:
    """Say what worked next, and in how many of how many sessions; twice a dash where nothing clearly did."""
    if about.worked is None:
        return NOTHING, NOTHING
    return fix_words(about.worked), f"{about.worked.seen.worked:,} of {about.worked.seen.tried:,}"


def outcome_words(about: SignalFact) -> str:
    """Say which skill a fact goes to, or what came of it."""
    return about.route.skill or "no skill" if about.state == "open" else state_words(about)


def state_words(about: SignalFact) -> str:
    """Say what came of a fact so far."""
    if about.state == "waiting":
        return f"candidate {about.waiting[0].id[:SHOWN_CHARS]} waits"
    if about.state == "answered":
        return f"answered by {line_words(about.lines[0])}" if about.lines else "settled"
    return about.state


def line_words(line: AnsweringLine) -> str:
    """Name a line as commands take it."""
    return f"{line.skill}:{line.number}"


def fact_sentence(about: SignalFact) -> str:
    """Say in one plain sentence what happened, how often, and what worked next."""
    head = about.group.head
    pattern = KINDS[head.kind].sentence if head.kind in KINDS else f"{head.kind}: {{name}}"
    times = "once" if head.count == 1 else f"{head.count:,} times"
    worked = ""
    if about.worked is not None:
        often = count_words(about.worked).removeprefix("worked ")
        worked = f"; what worked next: {fix_words(about.worked)}, {often}"
    name = f'"{head.template}"' if head.template else signal_name(head)
    return f"{pattern.format(name=name)}, {times} in {sessions_words(about)} sessions{worked}."


def signal_facts(detail: SignalDetail, short: int, now: str) -> Iterator[Fact]:
    """Say what a fact rests on and what it took, what worked next, where it goes, and what came of it."""
    about = detail.fact
    for at, raised in enumerate(about.group.signals):
        event = raised.event
        name = f"{kind_word(event.kind)} {event.fingerprint[:short]}"
        what = f"{name}, {seen_words(event)}, calls for {event.calls_for}"
        yield fact("" if at else "signals", f"{what}; raised {ago(raised.at, now)}, event {raised.position}")
    if detail.cost is not None:
        yield fact("cost", cost_words(detail.cost, len(detail.shown_in)))
    if about.worked is not None:
        yield Fact(
            "next",
            (RowPart(fix_words(about.worked), "strong"), RowPart(f": {count_words(about.worked)}")),
        )
        yield fact("seen", tier_sentence(about.worked.seen))
    elif about.group.template and about.searched:
        yield fact("next", "nothing that was done next clearly worked", "dim")
    yield fact("goes to", route_words(about.route), "" if about.route.skill else "warn")
    mark = STATE_MARKS[about.state]
    yield Fact("state", (RowPart(f"{mark.text} {state_words(about)}", mark.tone),))
    for at, line in enumerate(about.lines):
        yield Fact("" if at else "lines", (RowPart(f"{line_words(line)}  ", "accent"), RowPart(line.text.strip())))
    for at, candidate in enumerate(detail.tried):
        figure = figure_part(candidate)
        parts = (RowPart(f"{candidate.id[:SHOWN_CHARS]}  "), verdict_part(candidate), RowPart("  "))
        figures = (figure, RowPart("  ")) if figure else ()
        yield Fact("" if at else "tried", (*parts, *figures, RowPart(proposed_text(candidate.proposed))))


def shown_in_facts(detail: SignalDetail, short: int, now: str, *, every: bool) -> Iterator[Fact]:
    """List the newest sessions that show a fact, or every one, by ids that `germline session` takes."""
    shown = detail.shown_in if every else detail.shown_in[:SESSIONS_SHOWN]
    for at, record in enumerate(shown):
        began, ended = began_at(record), outcome_part(record)
        figures = f"{age(began, now) if began else NOTHING:>4}  "
        parts = (RowPart(f"{record.id[:short]}  ", "accent"), RowPart(figures, "dim"), ended)
        yield Fact("" if at else "sessions", (*parts, RowPart(f"  {project_words(record)}")))
    more = len(detail.shown_in) - len(shown)
    if more:
        yield fact("", f"{count(more, 'more session')}: --all", "dim")
    if not detail.shown_in:
        yield fact("sessions", "none on record shows it any more", "dim")


def next_command(detail: SignalDetail, short: int, *, skills: bool) -> str:
    """Give the command to type next; `skills` tells whether there is any skill that it could go to."""
    about = detail.fact
    session = f"germline session {detail.shown_in[0].id[:SHOWN_CHARS]}" if detail.shown_in else ""
    if about.state == "waiting":
        return f"germline candidate show {about.waiting[0].id[:SHOWN_CHARS]}"
    if about.state == "answered":
        return f"germline why {quote(line_words(about.lines[0]))}" if about.lines else session
    if about.worked is not None:
        return f"germline start    {session}".rstrip()
    if skills and not about.route.skill:
        return f"germline signals assign {about.id[:short]} SKILL    {session}".rstrip()
    if about.route.skill and not detail.tried:
        return f"germline evolve {quote(about.route.skill)}    {session}".rstrip()
    return session or "germline signals"
