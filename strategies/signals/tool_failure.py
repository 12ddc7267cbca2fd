"""The signal `tool_failure`: a tool that fails more often than calls in general."""

from __future__ import annotations

from collections import Counter
from math import sqrt
from typing import TYPE_CHECKING

from strategies.logs.episode import SUBMIT
from strategies.signals.signal import Sighting, signals_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.logs.episode import EpisodeRecord
    from strategies.signals.signal import Signal, Thresholds


class ToolFailure:
    """Finds tools whose failure rate is surely above the rate of all calls together; calls for repair."""

    kind = "tool_failure"

    def detect(self, records: Sequence[EpisodeRecord], thresholds: Thresholds) -> list[Signal]:
        """Find tools with enough calls whose Wilson lower bound lies above the baseline."""
        calls, failures = Counter[str](), list[Sighting]()
        for record in records:
            for place, step in enumerate(record.steps):
                # Handing in cannot fail: counted, it would lower the baseline of every log that knows it.
                if step.kind == "call" and step.action != SUBMIT:
                    tool = step.action.partition(":")[0]
                    calls[tool] += 1
                    if step.error:
                        failures.append(Sighting("", tool, record, place))
        failed = Counter(sighting.action for sighting in failures)
        baseline = len(failures) / max(calls.total(), 1)
        failing = {
            tool
            for tool, count in calls.items()
            if count >= thresholds.failure_calls
            and wilson_lower(failed[tool], count, thresholds.failure_confidence_z) > baseline
        }
        seen = (sighting for sighting in failures if sighting.action in failing)
        return signals_from(self.kind, "repair", seen, scanned=len(records))


def wilson_lower(hits: int, n: int, z: float) -> float:
    """Give the lower bound of a proportion's Wilson score interval.

    Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference".
    """
    share = hits / n
    centre = share + z * z / (2 * n)
    spread = z * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return (centre - spread) / (1 + z * z / n)
