"""The signal `tool_failure`: a tool that fails more often than calls in general."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from strategies.episodes.episode import SUBMIT
from strategies.signals.proportion import wilson
from strategies.signals.signal import Sighting, signals_from

if TYPE_CHECKING:
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds


LOW_WEIGHT: Final = 0.25
"""How much of its severity counts: it is made of errors, and what to do after one of them says more than what not
to do after any. The number is a guess: an error that makes up a quarter of the tool's failures comes first."""


class ToolFailure:
    """Finds tools whose failure rate is surely above the rate of all calls together; calls for repair."""

    kind: Final = "tool_failure"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find tools with enough calls whose Wilson lower bound lies above the baseline."""
        calls = Counter[str]()
        for action, of_class in survey.calls.items():
            # Handing in cannot fail: counted, it would lower the baseline of every log that knows it.
            if action != SUBMIT:
                calls[tool_of(action)] += len(of_class)
        failures = [at for at in survey.errors if at.step.kind == "call" and at.step.action != SUBMIT]
        failed = Counter(tool_of(at.step.action) for at in failures)
        baseline = len(failures) / max(calls.total(), 1)
        failing = {
            tool
            for tool, count in calls.items()
            if count >= thresholds.failure_calls
            and wilson(failed[tool], count, thresholds.failure_confidence_z)[0] > baseline
        }
        seen = (
            Sighting("", tool, at.record, at.place)
            for at in failures
            if (tool := tool_of(at.step.action)) in failing
        )
        signals = signals_from(self.kind, "repair", seen, scanned=len(survey.records))
        return [replace(signal, severity=signal.severity * LOW_WEIGHT) for signal in signals]


def tool_of(action: str) -> str:
    """Give the tool of an action class."""
    return action.partition(":")[0]
