"""The facts of a thing that costs: what it is, what it took, what worked next, and the line it would bring."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from registry.query.tier_sentences import tier_sentence
from strategies.claims.action_phrases import command
from tui.facts.fact import Fact, fact
from tui.text.numbers import count
from tui.text.rows import RowPart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.lessons.fixes import FixFigures
    from strategies.lessons.lost_time import Cost
    from tui.reads.start import Excerpt, LessonHome, StartPage, StartThing

_THOUSAND: Final = 1_000


def thing_title(thing: StartThing) -> str:
    """Say what costs: the command and its error, or what the person keeps saying."""
    lesson = thing.lesson
    if lesson.wish is not None:
        return f"You say again and again: {lesson.wish.quote}"
    error = f': "{lesson.template}"' if lesson.template else ""
    return f"{lesson.action.rpartition(':')[2]} fails{error}"


def thing_facts(thing: StartThing) -> Iterator[Fact]:
    """Say what a thing took, what worked next and how often, and which line would say so, and where."""
    lesson = thing.lesson
    yield fact("cost", cost_words(lesson.cost, len(lesson.sessions)))
    if lesson.fix is not None:
        yield Fact("next", (RowPart(fix_words(lesson.fix), "strong"), RowPart(f": {count_words(lesson.fix)}")))
    if lesson.line:
        yield fact("line", lesson.line, "good")
        yield fact("home", home_words(thing.home))
    if lesson.fix is not None:
        yield fact("seen", tier_sentence(lesson.fix.seen))
    if thing.excerpt is not None:
        yield from excerpt_facts(thing.excerpt)


def excerpt_facts(excerpt: Excerpt) -> Iterator[Fact]:
    """Give a few steps of one session, a fact for each text."""
    yield fact("session", excerpt.session[:12], "dim")
    for number, parts in excerpt.steps:
        for part in parts:
            text = " ".join(part.text.split())
            yield Fact(part.label, (RowPart(f"{number:>3}  ", "dim"), RowPart(_shortened(text), part.tone)))


def _shortened(text: str, most: int = 160) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def cost_words(cost: Cost, sessions: int) -> str:
    """Say what a thing took."""
    parts = [count(cost.failed, "failed step")] if cost.failed else []
    parts += [count(cost.corrections, "correction")] if cost.corrections else []
    where = f"{' and '.join(parts)} in {count(sessions, 'session')}"
    minutes = f", {count(round(cost.minutes), 'minute')}" if cost.minutes >= 1 else ""
    tokens = ""
    if cost.tokens is not None and cost.tokens >= _THOUSAND:
        tokens = f", about {round(cost.tokens / _THOUSAND):,},000 tokens"
    return f"{where}{minutes}{tokens}"


def fix_words(figures: FixFigures) -> str:
    """Say what worked next: another command, a flag, or a call before it was tried again."""
    kind, name = figures.fix
    if kind == "flag":
        return f"the same with {name}"
    words = command(name)
    return f"{words} instead" if kind == "instead" else f"{words}, then the same again"


def count_words(figures: FixFigures) -> str:
    """Say in how many of how many sessions it worked, and what else did."""
    worked = f"worked in {figures.seen.worked:,} of {count(figures.seen.tried, 'session')}"
    others = f"; otherwise in {figures.others_worked:,} of {figures.others:,}" if figures.others else ""
    return f"{worked}{others}"


def home_words(home: LessonHome) -> str:
    """Say where a line would go."""
    if home.is_new:
        return f"{home.name}, which would be made"
    return f"{home.name}, which would be imported" if home.file else home.name


def page_sentence(page: StartPage) -> str:
    """Say in one sentence what the sessions show."""
    where = f"in {count(page.sessions, 'session')}"
    if not page.things:
        decided = f"; {count(page.decided, 'lesson')} were decided on" if page.decided else ""
        return f"Nothing that fails {where} has an answer that stands out yet{decided}."
    things = count(len(page.things), "thing")
    cost = "costs" if len(page.things) == 1 else "cost"
    return f"{things} {cost} you again and again {where}, and what helps is known."
