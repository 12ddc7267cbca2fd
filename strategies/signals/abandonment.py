"""The signal `abandoned`: episodes that break off, or drag on."""

from __future__ import annotations

from collections import defaultdict
from math import ceil
from statistics import median
from typing import TYPE_CHECKING, Final

from strategies.episodes.episode import MESSAGE
from strategies.episodes.world_outcomes import broken_off_at
from strategies.signals.signal import Sighting, signals_from
from strategies.signals.survey import last_call

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds


class Abandoned:
    """Finds episodes that end in an error or an unanswered turn, or take far more turns; calls for hardening.

    `action` is that of the last call, or `message` where what is missing is the agent's answer.
    """

    kind: Final = "abandoned"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find episodes by how they broke off; peers are those of the same run configuration and difficulty."""
        longest = _long_turns(survey.records, thresholds)
        seen = (seen for record in survey.records for seen in _broken_off(record, longest.get(_peers(record))))
        return signals_from(self.kind, "harden", seen, scanned=len(survey.records))


def _broken_off(record: EpisodeRecord, long_turns: int | None) -> Iterator[Sighting]:
    place = broken_off_at(record)
    if place is not None:
        step = record.steps[place]
        yield (
            Sighting(step.template, step.action, record, place)
            if step.kind == "call"
            else Sighting("", MESSAGE, record, place)
        )
        return
    last = next((at for at in range(len(record.steps) - 1, -1, -1) if record.steps[at].kind != "note"), None)
    if last is not None and long_turns is not None and _turns(record) >= long_turns:
        yield Sighting("", last_call(record), record, last)


def _long_turns(records: Sequence[EpisodeRecord], thresholds: Thresholds) -> dict[tuple[str, str], int]:
    """Give from how many turns on an episode is long among its peers, where there are enough of them."""
    turns: dict[tuple[str, str], list[int]] = defaultdict(list)
    for record in records:
        if record.steps:
            turns[_peers(record)].append(_turns(record))
    long_turns = {}
    for peers, counts in turns.items():
        long = sorted(counts)[ceil(thresholds.abandoned_quantile * len(counts)) - 1]
        # Where half of the peers take as many turns, that many are the custom (or the limit), and tell nothing.
        if len(counts) >= thresholds.abandoned_peers and long > median(counts):
            long_turns[peers] = long
    return long_turns


def _peers(record: EpisodeRecord) -> tuple[str, str]:
    return record.run, record.difficulty


def _turns(record: EpisodeRecord) -> int:
    return record.steps[-1].turn + 1
