"""The Skills screen as rows: the table, and the card of the skill that the cursor is on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, TypeGuard

from events.types.score import Score
from registry.skill_md.render import label
from registry.state.capsule import MAX_NAME
from tui.facts.scores import of_skill
from tui.text.durations import age, ago
from tui.text.numbers import count
from tui.text.rows import RowPart, cell, clean, cut, cut_row, indented, labelled, pad_row
from tui.text.words import VERDICT_WORDS, VERDICTS, tiers_words
from tui.views.score_bars import axis_over, interval_bar, sparkline
from tui.views.scores import BAR, UNPROVEN, delta_part, score_part, score_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.registry_events import SignalRaised
    from events.types.score import Measured
    from registry.state.candidate import CandidateOutline
    from tui.reads.skills import OpenWork, SkillCard, SkillWork
    from tui.text.rows import Row
    from tui.views.score_bars import Axis

_WIDE: Final = 120
"""Cells from which the scores of versions are drawn beside their figures."""
_READING: Final = (RowPart("…", "dim"),)
_SIGNALS_SHOWN: Final = 3


class _Columns(NamedTuple):
    """How wide each column of the table is; the last event says what it was where there is room for that."""

    name: int
    aliases: int
    trend: int
    says_last: bool


_NARROW: Final = _Columns(name=23, aliases=11, trend=10, says_last=False)
_TELLING: Final = _Columns(name=23, aliases=11, trend=10, says_last=True)
_ROOMY: Final = _Columns(name=26, aliases=20, trend=24, says_last=True)
_FROM: Final = ((139, _ROOMY), (99, _TELLING), (0, _NARROW))
"""Cells from which each has room: terminals of 140 and 100 columns, less the scroll bar."""


def skills_header(width: int) -> list[Row]:
    """Name the columns of the table."""
    at = _columns(width)
    titles = (
        cell(" skill", at.name + 1, "dim"),
        cell(" ver", 6, "dim"),
        cell("aliases", at.aliases, "dim"),
        cell("score", 7, "dim", right=True),
        cell("Δ", 7, "dim", right=True),
        cell("  trend", at.trend + 3, "dim"),
        cell("open", 4, "dim", right=True),
        RowPart("  last event" if at.says_last else "  last", "dim"),
    )
    return [cut_row(titles, width)]


def skill_rows(cards: Sequence[SkillCard], work: OpenWork | None, width: int, now: str) -> list[Row]:
    """Write one row for each skill; `work` is None while it is being read."""
    at = _columns(width)
    return [
        cut_row(_skill_row(card, work.of(card.capsule.name) if work else None, at, now), width) for card in cards
    ]


def _columns(width: int) -> _Columns:
    """Choose the columns; of what is left over beyond the least width, half goes to the name."""
    least, at = next(layout for layout in _FROM if width >= layout[0])
    return at._replace(name=min(at.name + (width - least) // 2, MAX_NAME + 1)) if at.says_last else at


def _skill_row(card: SkillCard, work: SkillWork | None, at: _Columns, now: str) -> Row:
    capsule = card.capsule
    aliases = " ".join(alias if to == capsule.version else f"{alias}@{to}" for alias, to in capsule.aliases)
    score, delta = score_part(capsule.score), delta_part(capsule.delta if of_skill(capsule.score) else None)
    return (
        RowPart("◆" if work and work.waiting else " ", "warn"),
        cell(cut(capsule.name, at.name - 1), at.name, "dim" if capsule.retired else "strong"),
        UNPROVEN if capsule.unproven else RowPart(" "),
        cell(f"@{capsule.version}", 5),
        cell(aliases, at.aliases, "dim"),
        cell(score.text, 7, score.tone, right=True),
        cell(delta.text, 7, delta.tone, right=True),
        RowPart("  "),
        *pad_row(sparkline([score for row in card.versions for score in row.scores], at.trend), at.trend + 1),
        _open_cell(work),
        cell(f"  {age(card.last.at, now)}", 6, "dim"),
        RowPart(clean(card.last_summary) if at.says_last else ""),
    )


def _open_cell(work: SkillWork | None) -> RowPart:
    if work is None:
        return cell("…", 4, "dim", right=True)
    return cell(str(len(work.open)) if work.open else "–", 4, "warn" if work.open else "dim", right=True)


def card_rows(card: SkillCard, work: SkillWork | None, width: int, now: str) -> list[Row]:
    """Tell the rest about one skill, its versions last; `work` is None while it is being read."""
    capsule = card.capsule
    width -= 2
    rows: list[Row] = [
        (RowPart(label(capsule), "strong"), RowPart(f"   from {clean(card.folder)}", "dim")),
        *labelled("about", (RowPart(clean(card.description)),), width, limit=2),
        *labelled("lines", _lines(card), width),
        *labelled("score", score_row(capsule.score), width),
        *(_to_decide(work.waiting, width) if work else ()),
        *labelled("tried", _tried(work.candidates) if work else _READING, width),
        *(_signals(work.open, width) if work else labelled("open", _READING, width)),
        *labelled("last", _last(card, now), width, limit=2),
        *_versions(card, width, now),
    ]
    return indented(rows, width)


def _to_decide(waiting: int, width: int) -> list[Row]:
    what = f"{count(waiting, 'candidate')} to decide on (key 6)"
    return labelled("waits", (RowPart("◆ ", "warn"), RowPart(what)), width) if waiting else []


def _last(card: SkillCard, now: str) -> Row:
    when = f"   {ago(card.last.at, now)}, event {card.last.position}"
    return RowPart(clean(card.last_summary)), RowPart(when, "dim")


def _lines(card: SkillCard) -> Row:
    files = f", {count(len(card.capsule.files), 'file')} beside it" if card.capsule.files else ""
    learned = f", {card.learned} of them learned" if card.learned else ", none learned yet"
    learned += f": {tiers_words(card.tiers)}" if card.tiers else ""
    return (RowPart(f"{count(card.lines, 'line')}{learned}{files}"),)


def _tried(candidates: Sequence[CandidateOutline]) -> Row:
    if not candidates:
        return (RowPart("nothing yet", "dim"),)
    parts: list[RowPart] = []
    for verdict, word in VERDICT_WORDS.items():
        number = sum(1 for candidate in candidates if candidate.verdict == verdict)
        mark, tone = VERDICTS[verdict]
        if number:
            parts += [RowPart(f"{mark} ", tone), RowPart(f"{number} {word}   ")]
    return tuple(parts)


def _signals(signals: Sequence[SignalRaised], width: int) -> list[Row]:
    if not signals:
        return labelled("open", (RowPart("no open signal", "dim"),), width)
    rows: list[Row] = []
    for at, signal in enumerate(signals[:_SIGNALS_SHOWN]):
        figures = f"   {signal.count:,}× in {count(signal.episodes, 'episode')}"
        what = cut(clean(signal.template or signal.action), width - 12 - len(figures))
        rows += labelled(
            "" if at else "open", (RowPart("! ", "warn"), RowPart(what), RowPart(figures, "dim")), width
        )
    left = len(signals) - _SIGNALS_SHOWN
    return rows + (labelled("", (RowPart(f"{left} more", "dim"),), width) if left > 0 else [])


def _versions(card: SkillCard, width: int, now: str) -> list[Row]:
    """List the last versions, newest first, their scores over one axis where one evaluator measured them."""
    newest = list(reversed(card.versions))
    live = card.capsule.score
    same = [s for s in (row.score for row in newest) if _is_comparable(s, live)]
    axis = axis_over([bound for score in same for bound in (score.low, score.high)]) if same else None
    rows: list[Row] = []
    for at, row in enumerate(newest):
        delta, score = delta_part(row.delta), row.score
        if axis and width >= _WIDE:
            drawn = _bar(score, axis) if _is_comparable(score, live) else (RowPart(" " * BAR),)
        else:
            drawn = ()
        line = (
            cell(f"@{row.version}", 5, "accent"),
            RowPart(score_part(score).text if isinstance(score, Score) else "   –", score_part(score).tone),
            *((RowPart("  "), *drawn) if drawn else ()),
            cell(delta.text, 8, delta.tone, right=True),
            cell(age(row.at, now), 6, "dim", right=True),
            RowPart(f"  {clean(row.summary)}"),
        )
        rows += labelled("" if at else "versions", line, width, limit=1)
    return rows


def _bar(score: Score, axis: Axis) -> Row:
    return interval_bar(score.value, score.low, score.high, axis, BAR)


def _is_comparable(score: Measured, live: Measured) -> TypeGuard[Score]:
    return isinstance(score, Score) and isinstance(live, Score) and score.evaluator == live.evaluator
