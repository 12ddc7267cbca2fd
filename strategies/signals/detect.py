"""Every family of signals, and all of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.signals.error_template import ErrorTemplate
from strategies.signals.repeated_call import RepeatedCall
from strategies.signals.retry_loop import RetryLoop
from strategies.signals.signal import Thresholds
from strategies.signals.tool_failure import ToolFailure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.logs.episode import EpisodeRecord
    from strategies.signals.signal import Detector, Signal

DETECTORS: Final[tuple[Detector, ...]] = (ErrorTemplate(), ToolFailure(), RetryLoop(), RepeatedCall())

DEFAULTS: Final = Thresholds()


def detect(records: Sequence[EpisodeRecord], thresholds: Thresholds = DEFAULTS) -> list[Signal]:
    """Find every signal, the most severe first; the order of the records does not matter."""
    found = [signal for detector in DETECTORS for signal in detector.detect(records, thresholds)]
    return sorted(found, key=lambda signal: (-signal.severity, -signal.count, signal.fingerprint))
