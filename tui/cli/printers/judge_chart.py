"""Agreement, drawn in plain characters: how a judge agrees with labels, on one scale from 0 to 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.gate.stats.clopper_pearson import clopper_pearson
from strategies.judge.calibration_rule import LEAST_AGREEMENT, LEAST_CONSISTENCY, PREFERENCES
from tui.text.numbers import interval, share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.judge_events import JudgeCalibrated

_LABEL: Final = 13
_SCALE: Final = 41
"""Columns of the scale: one for each step of .025, so that .2, .4, .6 and .8 have their own."""
_TICKS: Final = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)


class Bar(NamedTuple):
    """One line of the drawing: a share with its interval, and what it must reach, None where nothing is asked."""

    label: str
    value: float
    low: float
    high: float
    least: float | None = None
    figures: str = ""


def drawn(calibrated: JudgeCalibrated) -> list[str]:
    """Draw a calibration: agreement as a whole and by label, answers in both orders, and what was confused.

    `o` is the share, `[` and `]` its 95 % interval; `|` is what must be reached, by `[` where there is one.
    """
    lines = [_axis(), *(_line(bar) for bar in _bars(calibrated))]
    return [*lines, "", *_table(calibrated)] if calibrated.table else lines


def _bars(calibrated: JudgeCalibrated) -> Iterator[Bar]:
    low, high = calibrated.agreement_low, calibrated.agreement_high
    figures = f"{share(calibrated.agreement)} {interval(low, high, 2)}"
    yield Bar("agreement", calibrated.agreement, low, high, LEAST_AGREEMENT, figures)
    for at, (name, row) in enumerate(zip(PREFERENCES, calibrated.table, strict=False)):
        if count := sum(row):
            low, high = clopper_pearson(row[at], count)
            yield Bar(f"  label {name}", row[at] / count, low, high, figures=f"{row[at]} of {count}")
    swapped = calibrated.swap_consistency
    yield Bar("both orders", swapped, swapped, swapped, LEAST_CONSISTENCY, share(swapped))


def _axis() -> str:
    line = [" "] * (_SCALE + 2)
    for tick in _TICKS:
        text = f"{tick:g}".removeprefix("0") or "0"
        for at, char in enumerate(text):
            line[_column(tick) + at] = char
    return f"{'':<{_LABEL}}{''.join(line)}".rstrip()


def _line(bar: Bar) -> str:
    scale = ["."] * _SCALE
    low, value, high = _column(bar.low), _column(bar.value), _column(bar.high)
    for at in range(low, high + 1):
        scale[at] = "-"
    if bar.low < bar.high:
        scale[low], scale[high] = "[", "]"
    if bar.least is not None:
        scale[_column(bar.least)] = "|"
    scale[value] = "o"
    return f"{bar.label:<{_LABEL}}{''.join(scale)}  {bar.figures}".rstrip()


def _column(value: float) -> int:
    return round(min(max(value, 0.0), 1.0) * (_SCALE - 1))


def _table(calibrated: JudgeCalibrated) -> Iterator[str]:
    head = "".join(f"{f'says {name}':>10}" for name in PREFERENCES)
    yield f"{'':<{_LABEL}}{head}"
    for name, row in zip(PREFERENCES, calibrated.table, strict=True):
        yield f"{f'  label {name}':<{_LABEL}}{''.join(f'{count:>10,}' for count in row)}"
