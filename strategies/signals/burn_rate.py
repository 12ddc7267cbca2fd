"""The signal `burn_rate`: a tool uses up the failures it is allowed far too fast.

Source: Google, "The Site Reliability Workbook", chapter 5, multiwindow, multi-burn-rate alerts: a long window
says that it matters, a short one that it is still going on.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import accumulate
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.signals.moments import moment_s
from strategies.signals.signal import Sighting, signals_from
from strategies.signals.tool_failure import tool_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strategies.logs.episode import EpisodeRecord
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds

_MINUTE_S: Final = 60
_HOUR_S: Final = 3600


class _Call(NamedTuple):
    """A call at its time, and whether it failed."""

    at_s: float
    episode: str
    place: int
    failed: bool
    record: EpisodeRecord


class BurnRate:
    """Finds tools in an outage; calls for repair."""

    kind: Final = "burn_rate"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find failing calls at whose time both windows of a pair burn too fast."""
        failing = {
            tool_of(at.step.action) for at in survey.errors if at.step.kind == "call" and at.step.started_at
        }
        seen = (
            Sighting("", tool, call.record, call.place)
            for tool, calls in _calls(survey, failing).items()
            for call in _burning(calls, thresholds)
        )
        return signals_from(self.kind, "repair", seen, scanned=len(survey.records))


def _calls(survey: Survey, tools: set[str]) -> dict[str, list[_Call]]:
    """Give the timed calls of these tools, in time."""
    failed = {(at.record.id, at.place) for at in survey.errors}
    calls: dict[str, list[_Call]] = defaultdict(list)
    for record in survey.records if tools else ():
        for place, step in enumerate(record.steps):
            tool = tool_of(step.action)
            if step.kind == "call" and tool in tools and (at_s := moment_s(step.started_at)) is not None:
                calls[tool].append(_Call(at_s, record.id, place, (record.id, place) in failed, record))
    return {tool: sorted(of_tool, key=lambda call: call[:3]) for tool, of_tool in calls.items()}


def _burning(calls: Sequence[_Call], thresholds: Thresholds) -> Iterator[_Call]:
    pairs = (
        (_HOUR_S, 5 * _MINUTE_S, thresholds.burn_fast),
        (6 * _HOUR_S, 30 * _MINUTE_S, thresholds.burn_slow),
    )
    failures = [0, *accumulate(call.failed for call in calls)]
    first = {window: _firsts(calls, window) for pair in pairs for window in pair[:2]}
    for last, call in enumerate(calls):
        if call.failed and any(
            last + 1 - first[short][last] >= thresholds.burn_calls
            and all(
                (failures[last + 1] - failures[start]) / (last + 1 - start) > factor * thresholds.error_budget
                for start in (first[long][last], first[short][last])
            )
            for long, short, factor in pairs
        ):
            yield call


def _firsts(calls: Sequence[_Call], window_s: float) -> list[int]:
    """Give for each call the first one that lies within the window before it."""
    start = 0
    found = []
    for call in calls:
        while call.at_s - calls[start].at_s > window_s:
            start += 1
        found.append(start)
    return found
