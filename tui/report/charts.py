"""Charts as inline SVG: pure functions from points to places, drawn by a template, with the figures in words."""

from __future__ import annotations

from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from markupsafe import Markup

from tui.text.numbers import count, share, signed
from tui.views.score_bars import Axis, axis_over

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from jinja2 import Environment

    from events.types.score import Score
    from strategies.train.training_record import EpochRow
    from tui.reads.trend_series import EvaluatorPanel, Obedience, Size

WIDTH: Final = 320
HEIGHT: Final = 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 38, 8, 8, 22
MOST_POINTS: Final = 240
"""Points a line is drawn with: more than the pixels of a narrow screen tell apart (a guess)."""
_MOST_DOTS: Final = 60
_RADIUS: Final = 2.5
_EVALUATOR_CHARS: Final = 8
_PANELS: Final = 6
"""Evaluators that are drawn, the last ones; the table has all of them."""
_LEAST_SPREAD: Final = 0.02
"""An axis spans at least so much: noise must not look like a mountain (as the sparklines of the screens)."""


class Point(NamedTuple):
    """A value at a version or after an epoch, with its interval; without one both bounds are the value."""

    at: int
    value: float
    low: float
    high: float


class ChartLine(NamedTuple):
    """Points that belong together; `name` is the class that styles them: sealed, audit, plain."""

    name: str
    points: Sequence[Point]


class _Scale(NamedTuple):
    first: int
    last: int
    axis: Axis

    def x(self, at: int) -> float:
        inside = WIDTH - _LEFT - _RIGHT
        if self.last == self.first:
            return _LEFT + inside / 2
        return _LEFT + inside * (at - self.first) / (self.last - self.first)

    def y(self, value: float) -> float:
        share = (value - self.axis.low) / (self.axis.high - self.axis.low)
        return _TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - min(max(share, 0.0), 1.0))


class _Drawn(NamedTuple):
    """A line with its places in the drawing; what is not drawn is empty."""

    name: str
    band: str
    reach: tuple[float, float, float] | None
    path: str
    dots: Sequence[tuple[float, float]]


def line_chart(
    made: Environment,
    lines: Sequence[ChartLine],
    axis: Axis,
    *,
    say: str,
    figure: Callable[[float], str],
    place: Callable[[int], str] = "@{}".format,
) -> Markup:
    """Draw values from left to right, intervals as bands.

    `say` tells in words what is drawn, `figure` writes a value, `place` the version or epoch that it is of.
    """
    places = [point.at for line in lines for point in line.points]
    scale = _Scale(min(places), max(places), axis)
    low, high = axis
    anchors = {scale.first: "start", scale.last: "end"} if scale.first != scale.last else {scale.first: "middle"}
    drawing = made.get_template("chart.html").render(
        say=say,
        grid=[(scale.y(value), figure(value)) for value in (low, (low + high) / 2, high)],
        ends=[(scale.x(at), place(at), anchor) for at, anchor in anchors.items()],
        lines=[_drawn(line, scale) for line in lines],
        width=WIDTH,
        height=HEIGHT,
        left=_LEFT,
        right=WIDTH - _RIGHT,
        radius=_RADIUS,
    )
    return Markup(drawing)  # noqa: S704 - made by a template, which escapes


def _drawn(line: ChartLine, scale: _Scale) -> _Drawn:
    points = thinned(line.points)
    places = [(scale.x(point.at), scale.y(point.value)) for point in points]
    lows = [(scale.x(point.at), scale.y(point.low)) for point in points]
    highs = [(scale.x(point.at), scale.y(point.high)) for point in reversed(points)]
    single = len(points) == 1
    reach = (*lows[0], highs[0][1]) if single and points[0].low != points[0].high else None
    return _Drawn(
        line.name,
        "" if single else _path([*lows, *highs]),
        reach,
        "" if single else _path(places),
        places if len(points) <= _MOST_DOTS else (),
    )


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> Sequence[Point]:
    """Leave out points evenly where there are too many to see; the first and the last stay."""
    if len(points) <= most:
        return points
    step = (len(points) - 1) / (most - 1)
    return [points[round(at * step)] for at in range(most)]


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{px(x)},{px(y)}" for x, y in places)


def px(value: float) -> str:
    """Write a place in the drawing."""
    return f"{value:.1f}".removesuffix(".0")


def drawn_by(made: Environment) -> dict[str, object]:
    """Give the charts that templates ask for; PANELS is how many evaluators are drawn."""
    charts = {
        chart.__name__: partial(chart, made) for chart in (panel_chart, obedience_chart, size_charts, epoch_charts)
    }
    return {**charts, "PANELS": _PANELS}


def panel_chart(made: Environment, skill: str, panel: EvaluatorPanel) -> Markup:
    """Draw the scores that one evaluator gave to versions."""
    lines = [
        ChartLine(series.split, [Point(version, *_with_bounds(score)) for version, score in series.scores.items()])
        for series in panel.series
    ]
    words = "; ".join(f"{line.name} {_ends(line.points)}" for line in lines)
    name = panel.evaluator[:_EVALUATOR_CHARS]
    bounds = [bound for line in lines for point in line.points for bound in (point.low, point.high)]
    say = f"{skill}, score by version, {panel.example.kind} evaluator {name}: {words}"
    return line_chart(made, lines, _axis(bounds), say=say, figure=share)


def _with_bounds(score: Score) -> tuple[float, float, float]:
    return score.value, score.low, score.high


def _ends(points: Sequence[Point]) -> str:
    first, last = points[0], points[-1]
    if first == last:
        return f"{share(first.value)} at @{first.at}"
    return f"{share(first.value)} at @{first.at} to {share(last.value)} at @{last.at}"


def _axis(values: Sequence[float]) -> Axis:
    low, high = axis_over(values)
    missing = max(_LEAST_SPREAD - (high - low), 0.0) / 2
    return Axis(max(low - missing, 0.0), min(high + missing, 1.0))


def obedience_chart(made: Environment, skill: str, obedience: Sequence[Obedience]) -> Markup:
    """Draw how often episodes under each version obeyed its claims."""
    line = ChartLine("plain", [Point(point.version, point.share, point.low, point.high) for point in obedience])
    say = f"{skill}, share of episodes that obeyed its claims by version: {_ends(line.points)}"
    return line_chart(made, [line], Axis(0.0, 1.0), say=say, figure=share)


def size_charts(made: Environment, skill: str, sizes: Sequence[Size]) -> Iterator[tuple[str, str, Markup]]:
    """Draw the size of each version, and the share of its lines that carry a claim: caption, note and chart."""
    first, last = sizes[0], sizes[-1]
    note = f" {MOST_POINTS} of {count(len(sizes), 'version')} drawn" if len(sizes) > MOST_POINTS else ""
    most = max(size.lines for size in sizes)
    lines = ChartLine("plain", [_flat(size.version, size.lines) for size in sizes])
    grew = f"{skill}, lines: {first.lines:,} at @{first.version} to {last.lines:,} at @{last.version}"
    axis = Axis(0.0, most + most % 2 or 2)
    yield "lines that say something", note, line_chart(made, [lines], axis, say=grew, figure="{:,.0f}".format)
    shares = ChartLine("sealed", [_flat(size.version, size.share) for size in sizes])
    ends = f"{share(first.share)} at @{first.version} to {share(last.share)} at @{last.version}"
    axis = Axis(0.0, max(0.1, *(size.share for size in sizes)))
    claimed = f"{skill}, claimed: {ends}"
    yield "share of claimed lines", note, line_chart(made, [shares], axis, say=claimed, figure=share)


def _flat(at: int, value: float) -> Point:
    return Point(at, value, value, value)


def epoch_charts(made: Environment, skill: str, rows: Sequence[EpochRow]) -> Iterator[tuple[str, Markup]]:
    """Draw what a training gained and what its explore runs came to, epoch by epoch: caption and chart."""
    gains = [ChartLine("sealed", _summed(row.sealed for row in rows))]
    if any(row.audit is not None for row in rows):
        gains.append(ChartLine("audit", _summed(row.audit for row in rows)))
    words = "; ".join(f"{line.name} {signed(line.points[-1].value)}" for line in gains)
    values = [point.value for line in gains for point in line.points]
    low, high = axis_over(values)
    axis = Axis(min(low, -_LEAST_SPREAD / 2), max(high, _LEAST_SPREAD / 2))
    say = f"{skill}, gained in {count(len(rows), 'epoch')}: {words}"
    yield "gained since the start", line_chart(made, gains, axis, say=say, figure=signed, place=_epoch)
    explored = [_flat(row.epoch.epoch, row.epoch.explored) for row in rows if row.epoch.explored is not None]
    if explored:
        lines = [ChartLine("plain", explored)]
        ends = f"{share(explored[0].value)} to {share(explored[-1].value)}"
        say = f"{skill}, mean outcome of the runs that the proposer was shown, by epoch: {ends}"
        chart = line_chart(made, lines, Axis(0.0, 1.0), say=say, figure=share, place=_epoch)
        yield "runs that the proposer was shown", chart


def _summed(deltas: Iterable[float | None]) -> list[Point]:
    """Add up what each epoch gained, from nothing before the first."""
    sums = accumulate((delta or 0.0 for delta in deltas), initial=0.0)
    return [_flat(epoch, gained) for epoch, gained in enumerate(sums)]


def _epoch(number: int) -> str:
    return f"epoch {number}" if number else "start"
