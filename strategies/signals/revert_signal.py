"""The signal `revert`: an agent's own edits are undone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.episodes.step_marks import EDIT, REVERT
from strategies.signals.signal import Sighting, signals_from

if TYPE_CHECKING:
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds


class RevertDetector:
    """Finds changes that are taken back after an edit of the same episode; calls for hardening."""

    kind: Final = "revert"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find reverts by the action class that takes back."""
        del thresholds
        seen = (
            Sighting("", at.step.action, at.record, at.place)
            for at in survey.marked.get(REVERT, ())
            if any(EDIT in step.marks for step in at.record.steps[: at.place])
        )
        return signals_from(self.kind, "harden", seen, scanned=len(survey.records))
