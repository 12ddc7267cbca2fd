"""A signal: a recurring, typed observation over episodes, and how sightings become one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.types.parts import Strategy
    from strategies.episodes.episode import EpisodeRecord
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds

EVIDENCE_LIMIT: Final = 50
"""How many occurrences a signal refers to: enough to look at, few enough to store with it."""


class Occurrence(NamedTuple):
    """One place where a signal shows: an episode by its id, and the index of the step in it."""

    episode: str
    step: int


@dataclass(frozen=True, kw_only=True)
class Signal:
    """One signal over the episodes of a scan.

    `fingerprint` stays the same as logs grow: it hashes kind, template, action and, for some kinds, the task.
    `action` is the action class or tool that the signal is about, or the skill where it is about one, "" where it
    is about an error alone; `template` the error's, "" where none is. `severity` is the share of the scanned
    episodes in which it shows, in [0, 1], less for kinds of low weight. `occurrences` holds at most EVIDENCE_LIMIT
    places, the first of each episode before any second one; `seen_in` every episode in which it shows.
    """

    kind: str
    fingerprint: str
    template: str
    action: str
    count: int
    episodes: int
    runs: tuple[str, ...]
    severity: float
    calls_for: Strategy
    occurrences: tuple[Occurrence, ...]
    seen_in: frozenset[str]


class Detector(Protocol):
    """One family of signals: a pure function of what a survey found, the same for any order of the records."""

    @property
    def kind(self) -> str:
        """The name of the signal."""
        ...

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find the signals of this kind, sorted by fingerprint."""
        ...


class Sighting(NamedTuple):
    """What a detector saw once: what about (template, action), in which episode, at which step.

    `task` is set where the same thing on another task is another signal.
    """

    template: str
    action: str
    record: EpisodeRecord
    step: int
    task: str = ""


def signals_from(
    kind: str,
    calls_for: Strategy,
    sightings: Iterable[Sighting],
    *,
    scanned: int,
    count: int = 1,
    episodes: int = 1,
) -> list[Signal]:
    """Group sightings by what they are about, and keep the groups that reach `count` and `episodes`."""
    groups: dict[tuple[str, str, str], list[Sighting]] = defaultdict(list)
    for sighting in sightings:
        groups[sighting.template, sighting.action, sighting.task].append(sighting)
    signals = [_signal(kind, calls_for, group, scanned) for group in groups.values() if len(group) >= count]
    widespread = (signal for signal in signals if signal.episodes >= episodes)
    return sorted(widespread, key=lambda signal: signal.fingerprint)


def fingerprint(kind: str, *about: str) -> str:
    """Give the stable name of a signal: of its template, its action, and its task where that tells it apart."""
    return blake2b("\x1f".join((kind, *about)).encode(), digest_size=8).hexdigest()


def _signal(kind: str, calls_for: Strategy, group: list[Sighting], scanned: int) -> Signal:
    steps: dict[str, list[int]] = defaultdict(list)
    for sighting in group:
        steps[sighting.record.id].append(sighting.step)
    # First of all the first of each episode: evidence from many episodes says more than a long loop in one.
    order = sorted(
        (rank, episode, step) for episode, seen in steps.items() for rank, step in enumerate(sorted(seen))
    )
    template, action, task = group[0].template, group[0].action, group[0].task
    return Signal(
        kind=kind,
        fingerprint=fingerprint(kind, template, action, *([task] if task else [])),
        template=template,
        action=action,
        count=len(group),
        episodes=len(steps),
        runs=tuple(sorted({sighting.record.run for sighting in group})),
        severity=len(steps) / scanned,
        calls_for=calls_for,
        occurrences=tuple(Occurrence(episode, step) for _, episode, step in order[:EVIDENCE_LIMIT]),
        seen_in=frozenset(steps),
    )
