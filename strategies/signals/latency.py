"""The signal `latency_spike`: calls that take far longer than others of their class."""

from __future__ import annotations

from math import log
from statistics import median
from typing import TYPE_CHECKING, Final

from strategies.signals.signal import Sighting, signals_from

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strategies.signals.signal import Signal
    from strategies.signals.survey import At, Survey
    from strategies.signals.thresholds import Thresholds


class LatencySpike:
    """Finds action classes with slow outliers; calls for hardening."""

    kind: Final = "latency_spike"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find calls whose log duration lies `spike_mads` deviations over the median of at least `spike_calls`."""
        seen = (
            Sighting("", action, at.record, at.place)
            for action, timed in survey.timed.items()
            for at in _spikes(timed, thresholds)
        )
        return signals_from(self.kind, "harden", seen, scanned=len(survey.records))


def _spikes(timed: Sequence[At], thresholds: Thresholds) -> Iterator[At]:
    logs = [(log(at.step.duration_ms), at) for at in timed if at.step.duration_ms and at.step.duration_ms > 0]
    if len(logs) < thresholds.spike_calls:
        return
    middle = median(value for value, _ in logs)
    spread = median(abs(value - middle) for value, _ in logs)
    # Calls that nearly all take the same time have no spread: each small delay would be a spike.
    limit = middle + max(thresholds.spike_mads * spread, log(thresholds.spike_least_ratio))
    yield from (at for value, at in logs if value > limit)
