"""The signal `burn_rate`: a tool uses up the failures it is allowed far too fast.

Source: Google, "The Site Reliability Workbook", chapter 5, multiwindow, multi-burn-rate alerts: a long window
says that it matters, a short one that it is still going on.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from datetime import datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from strategies.episodes.episode import moment
from strategies.signals.signal import Sighting, signals_from
from strategies.signals.survey import stopped
from strategies.signals.tool_failure import tool_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds

_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)


_Call = tuple[datetime, str, int, bool, "EpisodeRecord"]
"""A call of a tool: when, in which episode and where there, whether it failed, and the record of the episode."""


class BurnRate:
    """Finds tools in an outage; calls for repair."""

    kind: Final = "burn_rate"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find failing calls at whose time both windows of a pair burn too fast."""
        failing = {
            tool_of(at.step.action) for at in survey.errors if at.step.kind == "call" and at.step.started_at
        }
        seen = (
            Sighting("", tool, record, place)
            for tool, calls in _calls(survey, failing).items()
            for _, _, place, _, record in _burning(calls, thresholds)
        )
        return signals_from(self.kind, "repair", seen, scanned=len(survey.records))


def _calls(survey: Survey, tools: set[str]) -> dict[str, list[_Call]]:
    """Give the timed calls of these tools, in time."""
    timed: dict[str, list[_Call]] = defaultdict(list)
    for action, calls in survey.calls.items():
        tool = tool_of(action)
        if tool in tools:
            timed[tool] += (
                (at, record.id, place, step.error and not stopped(step), record)
                for record, place, step in calls
                if (at := moment(step.started_at)) is not None
            )
    for of_tool in timed.values():
        of_tool.sort()  # no two of them share time, episode and place: the record is never compared
    return timed


def _burning(calls: Sequence[_Call], thresholds: Thresholds) -> Iterator[_Call]:
    pairs = (
        (_HOUR, 5 * _MINUTE, thresholds.burn_fast),
        (6 * _HOUR, 30 * _MINUTE, thresholds.burn_slow),
    )
    times = [call[0] - calls[0][0] for call in calls]  # no window reaches back beyond the year 1
    failures = [0, *accumulate(call[3] for call in calls)]
    for end in [place for place, call in enumerate(calls, 1) if call[3]]:
        now = times[end - 1]
        for long_window, short_window, factor in pairs:
            long, short = bisect_left(times, now - long_window), bisect_left(times, now - short_window)
            if end - short >= thresholds.burn_calls and all(
                (failures[end] - failures[start]) / (end - start) > factor * thresholds.error_budget
                for start in (long, short)
            ):
                yield calls[end - 1]
                break
