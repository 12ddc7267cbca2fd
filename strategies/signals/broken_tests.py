"""The signal `test_failure_after_edit`: tests that passed, an edit, and the same tests fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.episodes.step_marks import EDIT, TESTS_FAILED, TESTS_PASSED
from strategies.signals.signal import Sighting, signals_from
from strategies.signals.survey import episodes_with

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import EpisodeRecord
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds


class BrokenTests:
    """Finds edits that break tests; calls for repair. A failure counts once, until the tests pass again."""

    kind: Final = "test_failure_after_edit"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find test commands, by class, that failed after an edit and had passed before it."""
        del thresholds
        seen = (seen for record in episodes_with(survey, TESTS_FAILED) for seen in _broken(record))
        return signals_from(self.kind, "repair", seen, scanned=len(survey.records))


def _broken(record: EpisodeRecord) -> Iterator[Sighting]:
    edited_since_pass: dict[str, bool] = {}
    for place, step in enumerate(record.steps):
        if EDIT in step.marks:
            edited_since_pass = dict.fromkeys(edited_since_pass, True)
        elif TESTS_PASSED in step.marks:
            edited_since_pass[step.action] = False
        elif TESTS_FAILED in step.marks and edited_since_pass.pop(step.action, False):
            yield Sighting(step.template, step.action, record, place)
