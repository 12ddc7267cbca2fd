"""The signal `error_template`: one error fingerprint, several times, in more than one episode."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.signals.signal import Sighting, signals_from

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.logs.episode import EpisodeRecord
    from strategies.signals.signal import Signal, Thresholds


class ErrorTemplate:
    """Finds errors that recur; calls for repair."""

    kind = "error_template"

    def detect(self, records: Sequence[EpisodeRecord], thresholds: Thresholds) -> list[Signal]:
        """Find templates seen at least `error_count` times in at least `error_episodes` episodes."""
        sightings = (
            Sighting(step.template, "", record, place)
            for record in records
            for place, step in enumerate(record.steps)
            if step.error and step.template
        )
        return signals_from(
            self.kind,
            "repair",
            sightings,
            scanned=len(records),
            count=thresholds.error_count,
            episodes=thresholds.error_episodes,
        )
