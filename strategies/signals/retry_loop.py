"""The signal `retry_loop`: an agent that goes round in circles.

The three rules are those of OpenHands' stuck detector, on consecutive calls: the same call with the same
result, the same call into the same error, and two calls with their results in turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.signals.signal import Sighting, signals_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import EpisodeRecord
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds


class RetryLoop:
    """Finds loops; calls for repair. A loop that goes on is seen once, where its rule first holds."""

    kind: Final = "retry_loop"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find loops by the action class and error template of the call that closes them."""
        sightings = (seen for record in survey.repeating for seen in _loops(record, thresholds))
        return signals_from(self.kind, "repair", sightings, scanned=len(survey.records))


def _loops(record: EpisodeRecord, thresholds: Thresholds) -> Iterator[Sighting]:
    """Yield the calls that close a loop, by how long each of the three rules has held up to a call."""
    alike = failing = turns = 0
    before = two_before = -1
    error_before: tuple[int, str] | None = None
    looping = False
    for place, step in enumerate(record.steps):
        if step.kind != "call":
            continue
        result = step.same_result
        if result == before:
            alike, turns = alike + 1, 1
        else:
            alike, turns = 1, turns + 1 if result == two_before else 2
        error = (step.same_call, step.template) if step.error else None
        failing = 0 if error is None else failing + 1 if error == error_before else 1
        before, two_before, error_before = result, before, error
        loops = (
            alike >= thresholds.loop_same_result
            or failing >= thresholds.loop_same_error
            or turns >= thresholds.loop_alternating
        )
        if loops and not looping:
            yield Sighting(step.template, step.action, record, place)
        looping = loops
