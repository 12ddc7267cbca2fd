"""Every family of signals, and all of them at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.episodes import step_marks
from strategies.signals.abandonment import Abandoned
from strategies.signals.broken_tests import BrokenTests
from strategies.signals.burn_rate import BurnRate
from strategies.signals.error_template import ErrorTemplate
from strategies.signals.latency import LatencySpike
from strategies.signals.regression import Regression
from strategies.signals.repeated_call import RepeatedCall
from strategies.signals.retry_loop import RetryLoop
from strategies.signals.revert_signal import RevertDetector
from strategies.signals.step_mark_signal import MarkedSteps, MissingCapability
from strategies.signals.streaks import SuccessStreak
from strategies.signals.survey import survey_of
from strategies.signals.thresholds import DEFAULTS, Thresholds
from strategies.signals.tool_failure import ToolFailure
from strategies.signals.uncovered_actions import UncoveredFailure
from strategies.signals.user_correction import UserCorrection
from strategies.signals.wishes import RepeatedWish

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.signals.signal import Detector, Signal
    from strategies.signals.wishes import Wish

DETECTORS: Final[tuple[Detector, ...]] = (
    ErrorTemplate(),
    ToolFailure(),
    RetryLoop(),
    BrokenTests(),
    Regression(),
    BurnRate(),
    UserCorrection(),
    RepeatedWish(),
    RepeatedCall(),
    MarkedSteps(step_marks.USER_INTERRUPT),
    MarkedSteps(step_marks.PERMISSION_DENIED),
    LatencySpike(),
    MarkedSteps(step_marks.CONTEXT_OVERFLOW),
    MarkedSteps(step_marks.TIMEOUT),
    MarkedSteps(step_marks.RATE_LIMITED),
    Abandoned(),
    RevertDetector(),
    MissingCapability(),
)
"""Every family that explains a failure. What is left is `uncovered_failure`; `success_streak` explains none."""


def detect(
    records: Sequence[EpisodeRecord],
    thresholds: Thresholds = DEFAULTS,
    *,
    answered: Collection[str] = (),
    lineages: Mapping[str, Sequence[Sequence[str]]] | None = None,
    wishes: Sequence[Wish] = (),
) -> list[Signal]:
    """Find every signal, the most severe first; the order of the records does not matter.

    `answered` holds the fingerprints that a gene answers: what it tells how to do is no longer missing. `lineages`
    and `wishes` are those of `Survey`.
    """
    survey = survey_of(records, lineages, wishes)
    signals = [signal for detector in DETECTORS for signal in detector.detect(survey, thresholds)]
    explained = frozenset[str]().union(*(signal.seen_in for signal in signals))
    signals += UncoveredFailure().detect(survey, thresholds, explained=explained)
    signals += SuccessStreak().detect(survey, thresholds)
    return sorted(
        (
            signal
            for signal in signals
            if signal.kind != step_marks.MISSING_CAPABILITY or signal.fingerprint not in answered
        ),
        key=lambda signal: (-signal.severity, -signal.count, signal.fingerprint),
    )


def episodes_showing(
    signals: Mapping[str, str],
    records: Sequence[EpisodeRecord],
    thresholds: Thresholds = DEFAULTS,
    *,
    lineages: Mapping[str, Sequence[Sequence[str]]] | None = None,
    wishes: Sequence[Wish] = (),
) -> frozenset[str]:
    """Name the episodes in which any of these signals shows by now.

    `signals` gives their kinds by fingerprint; `lineages` and `wishes` are those of `Survey`.
    """
    kinds = set(signals.values())
    if kinds & {UncoveredFailure.kind, SuccessStreak.kind}:  # what these see depends on all the others
        every = detect(records, thresholds, lineages=lineages, wishes=wishes)
    else:
        survey = survey_of(records, lineages, wishes)
        asked = (detector for detector in DETECTORS if detector.kind in kinds)
        every = [signal for detector in asked for signal in detector.detect(survey, thresholds)]
    return frozenset[str]().union(*(signal.seen_in for signal in every if signal.fingerprint in signals))
