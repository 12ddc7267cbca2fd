"""The signal `retry_loop`: an agent that goes round in circles.

The three rules are those of OpenHands' stuck detector, on consecutive calls: the same call with the same
result, the same call into the same error, and two calls with their results in turn.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Final

from strategies.signals.signal import Sighting, signals_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.logs.episode import EpisodeRecord, StepRecord
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
    widest = max(thresholds.loop_same_result, thresholds.loop_same_error, thresholds.loop_alternating)
    calls: deque[StepRecord] = deque(maxlen=widest)
    looping = False
    for place, step in enumerate(record.steps):
        if step.kind != "call":
            continue
        calls.append(step)
        loops = _closes_loop(list(calls), thresholds)
        if loops and not looping:
            yield Sighting(step.template, step.action, record, place)
        looping = loops


def _closes_loop(calls: list[StepRecord], thresholds: Thresholds) -> bool:
    """Tell whether the last call closes a loop."""
    same = calls[-thresholds.loop_same_result :]
    if len(same) == thresholds.loop_same_result and len({call.same_result for call in same}) == 1:
        return True
    erring = calls[-thresholds.loop_same_error :]
    if (
        len(erring) == thresholds.loop_same_error
        and all(call.error for call in erring)
        and len({(call.same_call, call.template) for call in erring}) == 1
    ):
        return True
    turns = [call.same_result for call in calls[-thresholds.loop_alternating :]]
    alternate = len(turns) == thresholds.loop_alternating and len(set(turns)) > 1
    return alternate and len(set(turns[::2])) == 1 and len(set(turns[1::2])) == 1
