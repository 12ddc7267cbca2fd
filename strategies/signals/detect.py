"""Every family of signals, and all of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.logs import marks
from strategies.signals.abandoned import Abandoned
from strategies.signals.broken_tests import BrokenTests
from strategies.signals.burn_rate import BurnRate
from strategies.signals.error_template import ErrorTemplate
from strategies.signals.latency import LatencySpike
from strategies.signals.marked import Marked, MissingCapability
from strategies.signals.regression import Regression
from strategies.signals.repeated_call import RepeatedCall
from strategies.signals.retry_loop import RetryLoop
from strategies.signals.revert import Revert
from strategies.signals.streaks import SuccessStreak
from strategies.signals.survey import survey_of
from strategies.signals.thresholds import Thresholds
from strategies.signals.tool_failure import ToolFailure
from strategies.signals.uncovered import UncoveredFailure
from strategies.signals.user_correction import UserCorrection

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from strategies.logs.episode import EpisodeRecord
    from strategies.signals.signal import Detector, Signal

DETECTORS: Final[tuple[Detector, ...]] = (
    ErrorTemplate(),
    ToolFailure(),
    RetryLoop(),
    BrokenTests(),
    Regression(),
    BurnRate(),
    UserCorrection(),
    RepeatedCall(),
    Marked(marks.USER_INTERRUPT),
    Marked(marks.PERMISSION_DENIED),
    LatencySpike(),
    Marked(marks.CONTEXT_OVERFLOW),
    Marked(marks.TIMEOUT),
    Marked(marks.RATE_LIMITED),
    Abandoned(),
    Revert(),
    MissingCapability(),
)
"""Every family that explains a failure. What is left is `uncovered_failure`; `success_streak` explains none."""

DEFAULTS: Final = Thresholds()


def detect(
    records: Sequence[EpisodeRecord],
    thresholds: Thresholds = DEFAULTS,
    *,
    answered: Collection[str] = (),
    lineages: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> list[Signal]:
    """Find every signal, the most severe first; the order of the records does not matter.

    `answered` holds the fingerprints that a gene answers: what it tells how to do is no longer missing. `lineages`
    are those of `Survey`.
    """
    survey = survey_of(records, lineages)
    found = [signal for detector in DETECTORS for signal in detector.detect(survey, thresholds)]
    explained = frozenset[str]().union(*(signal.seen_in for signal in found))
    found += UncoveredFailure().detect(survey, thresholds, explained=explained)
    found += SuccessStreak().detect(survey, thresholds)
    return sorted(
        (one for one in found if one.kind != marks.MISSING_CAPABILITY or one.fingerprint not in answered),
        key=lambda signal: (-signal.severity, -signal.count, signal.fingerprint),
    )
