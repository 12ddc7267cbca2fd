"""The signals that one mark makes: interrupts, refusals, overflows, timeouts, rate limits, missing tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from strategies.episodes.step_marks import MISSING_CAPABILITY
from strategies.signals.signal import Sighting, signals_from
from strategies.signals.survey import last_call

if TYPE_CHECKING:
    from strategies.signals.signal import Signal
    from strategies.signals.survey import StepAt, Survey
    from strategies.signals.thresholds import Thresholds


@dataclass(frozen=True)
class MarkedSteps:
    """Finds what happens to an agent from outside; calls for hardening. `kind` is the mark as well."""

    kind: str

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find action classes that it happens at; a note of it counts for the call before it."""
        del thresholds
        seen = (
            Sighting("", at.step.action or last_call(at.record, at.place), at.record, at.place)
            for at in survey.marked.get(self.kind, ())
            if not _told_twice(at, self.kind)
        )
        return signals_from(self.kind, "harden", seen, scanned=len(survey.records))


class MissingCapability:
    """Finds tools, commands and modules that agents reach for and do not have; calls for innovation."""

    kind: Final = MISSING_CAPABILITY

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find what is missing, by the error that says so, in at least `missing_episodes` episodes."""
        seen = (
            Sighting(at.step.template, at.step.action, at.record, at.place)
            for at in survey.marked.get(MISSING_CAPABILITY, ())
        )
        return signals_from(
            self.kind, "innovate", seen, scanned=len(survey.records), episodes=thresholds.missing_episodes
        )


def _told_twice(at: StepAt, mark: str) -> bool:
    """Tell whether a note repeats the step before it: an interrupted call is followed by a note of the same."""
    return at.step.kind == "note" and at.place > 0 and mark in at.record.steps[at.place - 1].marks
