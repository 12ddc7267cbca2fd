"""The signal `repeated_call`: the same call again although nothing was changed in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.signals.signal import Sighting, signals_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import EpisodeRecord
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds


class RepeatedCall:
    """Finds calls that an agent makes again for nothing; calls for hardening."""

    kind: Final = "repeated_call"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find action classes of identical calls, made `repeats` times without a write between."""
        sightings = (seen for record in survey.repeating for seen in _repeats(record, thresholds.repeats))
        return signals_from(self.kind, "harden", sightings, scanned=len(survey.records))


def _repeats(record: EpisodeRecord, repeats: int) -> Iterator[Sighting]:
    """Yield each call that is at least the `repeats`-th of its kind since anything was written.

    A call that writes lies between itself and the next like it, so it never repeats for nothing.
    """
    since_write: dict[int, int] = {}
    for place, step in enumerate(record.steps):
        if step.kind != "call":
            continue
        if step.writes:
            since_write.clear()
            continue
        since_write[step.same_call] = since_write.get(step.same_call, 0) + 1
        if since_write[step.same_call] >= repeats:
            yield Sighting("", step.action, record, place)
