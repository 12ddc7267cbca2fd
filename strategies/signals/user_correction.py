"""The signal `user_correction`: a person says that a change is wrong, and what follows agrees."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from strategies.episodes.step_marks import CORRECTION, EDIT, EXPLICIT_CORRECTION, REVERT, USER_INTERRUPT
from strategies.signals.signal import Sighting, signals_from

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import StepRecord
    from strategies.signals.signal import Signal
    from strategies.signals.survey import StepAt, Survey
    from strategies.signals.thresholds import Thresholds


LOW_WEIGHT: Final = 0.5
"""How much of its severity counts: what a person means is guessed from words. The number is a guess as well."""


class UserCorrection:
    """Finds changes that a person corrects; calls for repair.

    Words alone prove little ("no, that is all"): the agent must have changed something since the person spoke
    last, and within a few turns there must be an interrupt, a revert, or another edit of a file changed before,
    but where the words say what was asked for ("that's not what I asked", "use pnpm, not npm").
    """

    kind: Final = "user_correction"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find corrections by the action class of the change that they follow."""
        seen = (
            Sighting("", change, at.record, at.place)
            for at in survey.marked.get(CORRECTION, ())
            if (change := _change_before(at))
            and (EXPLICIT_CORRECTION in at.step.marks or _borne_out(at, thresholds.correction_turns))
        )
        signals = signals_from(self.kind, "repair", seen, scanned=len(survey.records))
        return [replace(signal, severity=signal.severity * LOW_WEIGHT) for signal in signals]


def _change_before(at: StepAt) -> str:
    """Give the action class of the agent's last change since the person spoke last, "" if there is none."""
    for step in reversed(at.record.steps[: at.place]):
        if step.kind == "message" and step.actor == "user":
            break
        if step.kind == "call" and (step.writes or EDIT in step.marks) and not step.error:
            return step.action
    return ""


def _borne_out(at: StepAt, turns: int) -> bool:
    if any(USER_INTERRUPT in step.marks for step in _turns_before(at, turns)):
        return True
    return any(_takes_back(step, at.place) for step in _turns_after(at, turns))


def _takes_back(step: StepRecord, corrected_at: int) -> bool:
    edits_again = EDIT in step.marks and 0 <= step.same_target < corrected_at
    return edits_again or REVERT in step.marks or USER_INTERRUPT in step.marks


def _turns_before(at: StepAt, turns: int) -> Iterator[StepRecord]:
    for step in reversed(at.record.steps[: at.place]):
        if at.step.turn - step.turn > turns:
            return
        yield step


def _turns_after(at: StepAt, turns: int) -> Iterator[StepRecord]:
    for step in at.record.steps[at.place + 1 :]:
        if step.turn - at.step.turn > turns:
            return
        yield step
