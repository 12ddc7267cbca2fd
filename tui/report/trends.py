"""Trends as charts, a heat map and tables: each chart has the same figures in a table below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.figures import count, share
from tui.report.anchors import version_at
from tui.report.charts import MOST_POINTS, Line, Point, line_chart
from tui.report.figures import EVALUATOR_CHARS, score_cell, size_of
from tui.report.markup import element, joined, link, row, table
from tui.report.timeline import seam_row
from tui.views.bars import Axis, axis_over

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.score import Score
    from tui.report.markup import Markup
    from tui.views.trends import Obedience, Panel, Size, Trends

_PANELS: Final = 6
"""Evaluators that are drawn, the last ones; the table has all of them."""
_LEAST_SPREAD: Final = 0.02
"""An axis spans at least so much: noise must not look like a mountain (as the sparklines of the screens)."""
_SCORES: Final = ("version", "sealed", "n", "audit", "n", "kind", "endpoint", "evaluator")


def scores_of(skill: str, trends: Trends, known: frozenset[str]) -> Markup:
    """Draw scores by version, one panel for each evaluator with a seam between two, and write them below."""
    if not trends.panels:
        return element("p", "No version was measured yet: germline score.", class_="dim")
    drawn = trends.panels[-_PANELS:]
    left = len(trends.panels) - len(drawn)
    return joined(
        (
            element("ol", *(element("li", _panel(skill, one)) for one in drawn), class_="panels"),
            element("p", *_legend(seams=len(drawn) > 1, left=left), class_="dim"),
            _folded("Scores as a table", _score_table(skill, trends, known)),
        )
    )


def _panel(skill: str, panel: Panel) -> Markup:
    lines = [
        Line(one.split, [Point(version, *_with_bounds(score)) for version, score in one.scores.items()])
        for one in panel.series
    ]
    example, name = panel.example, panel.evaluator[:EVALUATOR_CHARS]
    said = "; ".join(f"{line.name} {_ends(line.points)}" for line in lines)
    chart = line_chart(
        lines,
        _axis([bound for line in lines for one in line.points for bound in (one.low, one.high)]),
        say=f"{skill}, score by version, {example.kind} evaluator {name}: {said}",
        figure=share,
    )
    caption = element("figcaption", element("strong", name), f" {example.kind}, by {example.endpoint}")
    return element("figure", caption, chart)


def _with_bounds(score: Score) -> tuple[float, float, float]:
    return score.value, score.low, score.high


def _ends(points: Sequence[Point]) -> str:
    first, last = points[0], points[-1]
    if first == last:
        return f"{share(first.value)} at @{first.version}"
    return f"{share(first.value)} at @{first.version} to {share(last.value)} at @{last.version}"


def _axis(values: Sequence[float]) -> Axis:
    low, high = axis_over(values)
    missing = max(_LEAST_SPREAD - (high - low), 0.0) / 2
    return Axis(max(low - missing, 0.0), min(high + missing, 1.0))


def _legend(*, seams: bool, left: int) -> Iterator[str]:
    yield "Line and dots: sealed tasks. Dashed line and squares: audit tasks. Bands: 95 % intervals. "
    if seams:
        yield "Between two panels the evaluator changes: they have axes of their own and are not comparable. "
    if left:
        yield f"{count(left, 'earlier evaluator')} stand in the table alone. "


def _score_table(skill: str, trends: Trends, known: frozenset[str]) -> Markup:
    rows: list[Markup] = []
    for panel in reversed(trends.panels):
        rows += [seam_row(len(_SCORES))] if rows else []
        example = panel.example
        for version in reversed(panel.versions):
            sealed, audit = panel.score("sealed", version), panel.score("audit", version)
            rows.append(
                row(
                    link(version_at(skill, version), f"@{version}", known=known),
                    score_cell(sealed),
                    size_of(sealed),
                    score_cell(audit),
                    size_of(audit),
                    example.kind,
                    example.endpoint,
                    panel.evaluator[:EVALUATOR_CHARS],
                )
            )
    return table(f"scores of {skill} by version, newest first", _SCORES, rows)


def obedience_of(skill: str, trends: Trends, known: frozenset[str]) -> Markup:
    """Draw how often episodes under each version obeyed its claims."""
    found = trends.obedience
    if not found:
        said = "No episode is known to have reached the moment of a claim of the version it ran under."
        return element("p", said, class_="dim")
    line = Line("plain", [Point(one.version, one.share, one.low, one.high) for one in found])
    said = f"{skill}, share of episodes that obeyed its claims by version: {_ends(line.points)}"
    rows = [_obeyed_row(skill, one, known) for one in reversed(found)]
    heads = ("version", "obeyed", "95 %", "obeyed of exposed")
    return joined(
        (
            element("figure", line_chart([line], Axis(0.0, 1.0), say=said, figure=share)),
            _folded("Obedience as a table", table(f"obedience of {skill}, newest first", heads, rows)),
        )
    )


def _obeyed_row(skill: str, one: Obedience, known: frozenset[str]) -> Markup:
    name = link(version_at(skill, one.version), f"@{one.version}", known=known)
    figures = f"{one.obeyed:,} of {one.exposed:,}"
    return row(name, share(one.share), f"[{share(one.low)}, {share(one.high)}]", figures)


def sizes_of(skill: str, trends: Trends, known: frozenset[str]) -> Markup:
    """Draw the size of each version, and the share of its lines that carry a claim."""
    found = trends.sizes
    lines = Line("plain", [_flat(one, one.lines) for one in found])
    shares = Line("sealed", [_flat(one, one.share) for one in found])
    most = max(one.lines for one in found)
    first, last = found[0], found[-1]
    grew = f"{first.lines:,} at @{first.version} to {last.lines:,} at @{last.version}"
    claimed = f"{share(first.share)} at @{first.version} to {share(last.share)} at @{last.version}"
    rows = [
        row(
            link(version_at(skill, one.version), f"@{one.version}", known=known),
            f"{one.lines:,}",
            f"{one.claimed:,}",
            share(one.share),
        )
        for one in reversed(found)
    ]
    every = ("version", "lines", "claimed", "share")
    top = max(0.1, *(one.share for one in found))
    return joined(
        (
            element(
                "div",
                _captioned(
                    "lines that say something", [lines], Axis(0.0, most + most % 2 or 2), f"{skill}, lines: {grew}"
                ),
                _captioned("share of claimed lines", [shares], Axis(0.0, top), f"{skill}, claimed: {claimed}"),
                class_="panels",
            ),
            _folded("Size as a table", table(f"size of {skill} by version, newest first", every, rows)),
        )
    )


def _flat(one: Size, value: float) -> Point:
    return Point(one.version, value, value, value)


def _captioned(caption: str, lines: Sequence[Line], axis: Axis, say: str) -> Markup:
    figure = _whole if axis.high > 1 else share
    chart = line_chart(lines, axis, say=say, figure=figure)
    thinned = len(lines[0].points) > MOST_POINTS
    note = f"{MOST_POINTS} of {count(len(lines[0].points), 'version')} drawn" if thinned else ""
    told = element("figcaption", element("strong", caption), f" {note}".rstrip())
    return element("figure", told, chart)


def _whole(value: float) -> str:
    return f"{value:,.0f}"


def _folded(head: str, body: Markup) -> Markup:
    return element("details", element("summary", head), body)
