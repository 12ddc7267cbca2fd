"""The Trends screen as rows: a table by version, and the runs of a cell of the heat map."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.score import Score
from tui.text.numbers import brief, count, share
from tui.text.rows import BLANK, RowPart, cell, clean, cut_left, cut_row
from tui.views.heat_map import SHOWN_CHARS
from tui.views.score_bars import axis_over, interval_bar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tui.reads.trend_series import (
        EvaluatorPanel,
        Obedience,
        Size,
        TaskRun,
        Trends,
        TrendSplit,
    )
    from tui.text.rows import Row, Tone
    from tui.views.score_bars import Axis

_VERSION: Final = 7
_SCORE: Final = 5
_GAP: Final = 3
_OBEYED: Final = 13
_LINES: Final = 7
_CLAIMED: Final = 12
_FIGURES: Final = _VERSION + 2 * (_SCORE + 2) + _GAP + _OBEYED + _LINES + _CLAIMED
_LEAST_BAR: Final = 6
_MOST_BAR: Final = 28
"""Cells of a bar: shorter ones say nothing, longer ones lead the eye away (guesses)."""


# -- the table -----------------------------------------------------------------------------------------


def trends_header(width: int) -> list[Row]:
    """Name the columns of the table."""
    measured = _SCORE + 2 + _bar_width(width)
    titles = (
        cell(" ver", _VERSION, "dim"),
        cell("sealed", measured, "dim"),
        RowPart(" " * _GAP),
        cell("audit", measured, "dim"),
        cell("obeyed", _OBEYED, "dim", right=True),
        cell("lines", _LINES, "dim", right=True),
        cell("claimed", _CLAIMED, "dim", right=True),
    )
    return [cut_row(titles, width)]


def trend_rows(trends: Trends, skill: str, width: int) -> list[Row]:
    """Write a row for each version, the newest first; a seam shows where another evaluator measured.

    A version that several evaluators measured has a row for each; the rest of what is known of it is in the first.
    """
    obeyed = {obedience.version: obedience for obedience in trends.obedience}
    sizes = {size.version: size for size in trends.sizes}
    bar = _bar_width(width)
    rows: list[Row] = [] if trends.panels else _unmeasured(skill)
    above: EvaluatorPanel | None = None
    printed = 0
    for version, panel in _measured(trends):
        if panel and above and panel is not above:
            rows.append(_seam(above, panel))
        above = panel or above
        rest = _rest(obeyed.get(version), sizes.get(version)) if version != printed else ()
        printed = version
        axis = _axis(panel) if panel else None
        scores = (
            *_score(panel, "sealed", version, axis, bar),
            RowPart(" " * _GAP),
            *_score(panel, "audit", version, axis, bar),
        )
        rows.append((cell(f" @{version}", _VERSION, "accent"), *scores, *rest))
    if trends.first > 1:
        rows.append((RowPart(f" {count(trends.first - 1, 'earlier version')} not shown", "dim"),))
    return [cut_row(row, width) for row in rows]


def _unmeasured(skill: str) -> list[Row]:
    commands = f"germline score {clean(skill)}    germline evolve {clean(skill)} --logs PATH"
    return [(RowPart(" no version was measured yet", "dim"),), (RowPart(f" {commands}", "accent"),)]


def _measured(trends: Trends) -> Iterator[tuple[int, EvaluatorPanel | None]]:
    """Yield each version, newest first, with every evaluator that measured it, the last of them first."""
    for version in range(trends.last, trends.first - 1, -1):
        measuring = [panel for panel in reversed(trends.panels) if version in panel.versions]
        yield from ((version, panel) for panel in measuring or (None,))


def _bar_width(width: int) -> int:
    room = (width - _FIGURES - 1) // 2
    return min(room, _MOST_BAR) if room >= _LEAST_BAR else 0


def _axis(panel: EvaluatorPanel) -> Axis:
    every = [score for series in panel.series for score in series.scores.values()]
    return axis_over([bound for score in every for bound in (score.low, score.high)])


def _score(panel: EvaluatorPanel | None, split: TrendSplit, version: int, axis: Axis | None, bar: int) -> Row:
    score = panel.score(split, version) if panel else None
    if not isinstance(score, Score) or axis is None:
        return (cell("–", _SCORE + 2 + bar, "dim"),)
    tone: Tone = "accent" if split == "sealed" else "dim"
    drawn = interval_bar(score.value, score.low, score.high, axis, bar, tone=tone) if bar else ()
    return cell(share(score.value), _SCORE, "strong" if split == "sealed" else ""), *drawn, RowPart("  ")


def _rest(obeyed: Obedience | None, size: Size | None) -> Row:
    obeyed_share = f"{obeyed.share:.0%} of {brief(obeyed.exposed, 5)}" if obeyed else "–"
    claimed = f"{size.claimed:,}  {size.share:>4.0%}" if size else "–"
    return (
        cell(obeyed_share, _OBEYED, "" if obeyed else "dim", right=True),
        cell(f"{size.lines:,}" if size else "–", _LINES, right=True),
        cell(claimed, _CLAIMED, right=True),
    )


def _seam(above: EvaluatorPanel, below: EvaluatorPanel) -> Row:
    names = f"{above.evaluator[:SHOWN_CHARS]} above, {below.evaluator[:SHOWN_CHARS]} below"
    return (
        RowPart(" ┄┄ ", "dim"),
        RowPart("another evaluator: not comparable", "warn"),
        RowPart(f"   {names}", "dim"),
    )


# -- the runs of a cell --------------------------------------------------------------------------------


def runs_rows(runs: Sequence[TaskRun], width: int) -> list[Row]:
    """List runs, those that failed first: how each ended, under which configuration, and where its record is."""
    rows: list[Row] = [BLANK]
    for run in sorted(runs, key=lambda run: run.passed):
        mark, tone = ("✓ passed", "good") if run.passed else ("✗ failed", "bad")
        rows.append((RowPart(f" {mark}   ", tone), *_run(run, width - 12)))  # type: ignore[arg-type]
    return rows


def _run(run: TaskRun, width: int) -> Row:
    if not run.source:
        return RowPart(f"{clean(run.run)}   "), RowPart(f"finished run {run.id}", "dim")
    head = f"{clean(run.run)}   {clean(run.name)}   "
    return RowPart(head), RowPart(cut_left(clean(run.source), max(width - len(head), 0)), "dim")
