"""The signal `error_template`: one error fingerprint, several times, in more than one episode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.signals.signal import Sighting, signals_from

if TYPE_CHECKING:
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds


class ErrorTemplate:
    """Finds errors that recur; calls for repair."""

    kind: Final = "error_template"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find templates seen at least `error_count` times in at least `error_episodes` episodes."""
        return signals_from(
            self.kind,
            "repair",
            (Sighting(at.step.template, "", at.record, at.place) for at in survey.errors if at.step.template),
            scanned=len(survey.records),
            count=thresholds.error_count,
            episodes=thresholds.error_episodes,
        )
