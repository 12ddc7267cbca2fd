"""The signals of success: a streak of wins, and cycles of evolution that promote nothing any more."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from strategies.episodes.episode import in_time
from strategies.signals.signal import Sighting, Signal, fingerprint, signals_from
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.types.registry_events import CycleFinished
    from strategies.episodes.episode import EpisodeRecord
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds


class SuccessStreak:
    """Finds run configurations that win again and again; calls for innovation."""

    kind: Final = "success_streak"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find episodes of one run configuration that won `streak` times or more without a loss between."""
        seen = (
            Sighting("", "", record, len(record.steps) - 1)
            for streak in _streaks(survey.records, thresholds.streak)
            for record in streak
        )
        return signals_from(self.kind, "innovate", seen, scanned=len(survey.records))


def stagnation(cycles: Iterable[CycleFinished], thresholds: Thresholds) -> list[Signal]:
    """Find capsules whose last `stagnation_cycles` cycles or more promoted nothing; calls for innovation.

    `cycles` come in the order of the log. `action` names the capsule, `count` the cycles since a promotion, and
    `severity` their share of all its cycles. The evidence is in the cycles themselves, not in any episode.
    """
    of_capsule: dict[str, list[CycleFinished]] = defaultdict(list)
    for cycle in cycles:
        of_capsule[cycle.capsule].append(cycle)
    signals = []
    for capsule, turns in of_capsule.items():
        idle = next((n for n, cycle in enumerate(reversed(turns)) if cycle.verdict == "promote"), len(turns))
        if idle >= thresholds.stagnation_cycles:
            signals.append(_stagnant(capsule, idle, len(turns)))
    return sorted(signals, key=lambda signal: signal.fingerprint)


def _streaks(records: Sequence[EpisodeRecord], least: int) -> Iterator[list[EpisodeRecord]]:
    of_run: dict[str, list[EpisodeRecord]] = defaultdict(list)
    for record in records:
        if record.steps and truth(record) is not None:
            of_run[record.run].append(record)
    for peers in of_run.values():
        streak: list[EpisodeRecord] = []
        for record in in_time(peers) if len(peers) >= least else ():
            if truth(record) == 1:
                streak.append(record)
                continue
            if len(streak) >= least:
                yield streak
            streak = []
        if len(streak) >= least:
            yield streak


def _stagnant(capsule: str, idle: int, cycles: int) -> Signal:
    kind = "stagnation"
    return Signal(
        kind=kind,
        fingerprint=fingerprint(kind, "", capsule),
        template="",
        action=capsule,
        count=idle,
        episodes=0,
        runs=(),
        severity=idle / cycles,
        calls_for="innovate",
        occurrences=(),
        seen_in=frozenset(),
    )
