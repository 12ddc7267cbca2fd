"""The signal `uncovered_failure`: failed episodes that no other signal explains."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from strategies.episodes.episode import SUBMIT
from strategies.signals.signal import Sighting, signals_from
from strategies.signals.survey import lost

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.episodes.episode import EpisodeRecord
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds

_PROFILE_CLASSES: Final = 4
"""How many action classes make a profile: the most used ones, so that it stays short whatever a log holds."""


class UncoveredFailure:
    """Finds failures that agree in what the agent did, best on the same task; calls for innovation.

    Exact keys rather than distances: a cluster keeps its fingerprint, whatever other episodes come.
    """

    kind: Final = "uncovered_failure"

    def detect(self, survey: Survey, thresholds: Thresholds, *, explained: frozenset[str]) -> list[Signal]:
        """Find clusters of failed episodes outside `explained`: by task and profile, the rest by profile alone."""
        seen = [
            Sighting("", profile(record), record, len(record.steps) - 1, record.task)
            for record in survey.records
            if record.steps and lost(record) and record.id not in explained
        ]
        on_task = self._clusters(seen, survey, thresholds)
        clustered = frozenset[str]().union(*(signal.seen_in for signal in on_task))
        rest = (sighting._replace(task="") for sighting in seen if sighting.record.id not in clustered)
        return sorted([*on_task, *self._clusters(rest, survey, thresholds)], key=lambda signal: signal.fingerprint)

    def _clusters(self, seen: Iterable[Sighting], survey: Survey, thresholds: Thresholds) -> list[Signal]:
        least, scanned = thresholds.uncovered_episodes, len(survey.records)
        return signals_from(self.kind, "innovate", seen, scanned=scanned, episodes=least)


def profile(record: EpisodeRecord) -> str:
    """Give the action classes that an episode is known by: those that changed something, else those it called."""
    calls = [step for step in record.steps if step.kind == "call" and step.action != SUBMIT]
    used = Counter(step.action for step in calls if step.writes) or Counter(step.action for step in calls)
    most = sorted(used, key=lambda action: (-used[action], action))[:_PROFILE_CLASSES]
    return " + ".join(sorted(most))
