"""Charts as inline SVG: pure functions from points to markup, with the figures in words beside the drawing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tui.report.markup import Markup, element, joined

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tui.views.bars import Axis

WIDTH: Final = 320
HEIGHT: Final = 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 38, 8, 8, 22
MOST_POINTS: Final = 240
"""Points a line is drawn with: more than the pixels of a narrow screen tell apart (a guess)."""
_MOST_DOTS: Final = 60
_RADIUS: Final = 2.5


class Point(NamedTuple):
    """A value at a version, with its interval; without one both bounds are the value."""

    version: int
    value: float
    low: float
    high: float


class Line(NamedTuple):
    """Points that belong together; `name` is the class that styles them: sealed, audit, plain."""

    name: str
    points: Sequence[Point]


class _Scale(NamedTuple):
    first: int
    last: int
    axis: Axis

    def x(self, version: int) -> float:
        inside = WIDTH - _LEFT - _RIGHT
        if self.last == self.first:
            return _LEFT + inside / 2
        return _LEFT + inside * (version - self.first) / (self.last - self.first)

    def y(self, value: float) -> float:
        share = (value - self.axis.low) / (self.axis.high - self.axis.low)
        return _TOP + (HEIGHT - _TOP - _BOTTOM) * (1 - min(max(share, 0.0), 1.0))


def line_chart(lines: Sequence[Line], axis: Axis, *, say: str, figure: Callable[[float], str]) -> Markup:
    """Draw values by version, intervals as bands; `say` tells in words what is drawn, `figure` writes a value."""
    versions = [point.version for line in lines for point in line.points]
    scale = _Scale(min(versions), max(versions), axis)
    return element(
        "svg",
        element("title", say),
        *_grid(scale, figure),
        *(_drawn(line, scale) for line in lines),
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=say,
    )


def _grid(scale: _Scale, figure: Callable[[float], str]) -> list[Markup]:
    """Draw three values with their lines, and the first and the last version."""
    low, high = scale.axis
    drawn = []
    for value in (low, (low + high) / 2, high):
        y = scale.y(value)
        drawn += [
            element("line", class_="grid", x1=_LEFT, x2=WIDTH - _RIGHT, y1=_px(y), y2=_px(y)),
            element("text", figure(value), x=_LEFT - 5, y=_px(y + 3.5), text_anchor="end"),
        ]
    ends = {scale.first: "start", scale.last: "end"} if scale.first != scale.last else {scale.first: "middle"}
    for version, anchor in ends.items():
        drawn.append(element("text", f"@{version}", x=_px(scale.x(version)), y=HEIGHT - 6, text_anchor=anchor))
    return drawn


def _drawn(line: Line, scale: _Scale) -> Markup:
    points = thinned(line.points)
    places = [(scale.x(point.version), scale.y(point.value)) for point in points]
    bounds = [(scale.x(one.version), scale.y(one.low)) for one in points]
    bounds += [(scale.x(one.version), scale.y(one.high)) for one in reversed(points)]
    band = None
    if len(points) > 1:
        band = element("polygon", class_="band", points=_path(bounds))
    elif points[0].low != points[0].high:
        (x, low), (_, high) = bounds
        band = element("line", class_="reach", x1=_px(x), x2=_px(x), y1=_px(low), y2=_px(high))
    path = element("polyline", class_="line", points=_path(places)) if len(points) > 1 else None
    dots = joined(_dot(line.name, *place) for place in places) if len(points) <= _MOST_DOTS else None
    return element("g", band, path, dots, class_=line.name)


def _dot(name: str, x: float, y: float) -> Markup:
    """Draw a point; those of the audit are squares, so that colour alone tells nothing."""
    if name == "audit":
        side = 2 * _RADIUS
        return element("rect", class_="dot", x=_px(x - _RADIUS), y=_px(y - _RADIUS), width=side, height=side)
    return element("circle", class_="dot", cx=_px(x), cy=_px(y), r=_RADIUS)


def thinned(points: Sequence[Point], most: int = MOST_POINTS) -> Sequence[Point]:
    """Leave out points evenly where there are too many to see; the first and the last stay."""
    if len(points) <= most:
        return points
    step = (len(points) - 1) / (most - 1)
    return [points[round(at * step)] for at in range(most)]


def _path(places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{_px(x)},{_px(y)}" for x, y in places)


def _px(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")
