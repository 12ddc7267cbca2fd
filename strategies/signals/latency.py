"""The signal `latency_spike`: calls that take far longer than others of their class."""

from __future__ import annotations

from math import log
from statistics import median
from typing import TYPE_CHECKING, Final

from strategies.signals.signal import Sighting, signals_from

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strategies.signals.signal import Signal
    from strategies.signals.survey import Call, Survey
    from strategies.signals.thresholds import Thresholds


class LatencySpike:
    """Finds action classes with slow outliers; calls for hardening."""

    kind: Final = "latency_spike"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find calls whose log duration lies `spike_mads` deviations over the median of at least `spike_calls`."""
        seen = (
            Sighting("", action, record, place)
            for action, calls in survey.calls.items()
            for record, place, _ in _spikes(calls, thresholds)
        )
        return signals_from(self.kind, "harden", seen, scanned=len(survey.records))


def _spikes(calls: Sequence[Call], thresholds: Thresholds) -> Iterator[Call]:
    timed = [call for call in calls if (call[2].duration_ms or 0) > 0]
    if len(timed) < thresholds.spike_calls:
        return
    logs = [log(step.duration_ms or 1) for _, _, step in timed]
    middle = median(logs)
    spread = median([abs(value - middle) for value in logs])
    # Calls that nearly all take the same time have no spread: each small delay would be a spike.
    limit = middle + max(thresholds.spike_mads * spread, log(thresholds.spike_least_ratio))
    yield from (call for value, call in zip(logs, timed, strict=True) if value > limit)
