"""A signal: a recurring, typed observation over episodes, with its thresholds and its evidence."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.logs.episode import EpisodeRecord

Strategy = Literal["repair", "harden", "innovate"]

EVIDENCE_LIMIT: Final = 50
"""How many occurrences a signal refers to: enough to look at, few enough to store with it."""


class Occurrence(NamedTuple):
    """One place where a signal shows: an episode by its id, and the index of the step in it."""

    episode: str
    step: int


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """From when an observation is a signal. Defaults: the table in logs_and_signals.md."""

    error_count: int = 3
    error_episodes: int = 2
    failure_calls: int = 10
    failure_confidence_z: float = 1.96
    loop_same_result: int = 4
    loop_same_error: int = 3
    loop_alternating: int = 6
    repeats: int = 2


@dataclass(frozen=True, kw_only=True)
class Signal:
    """One signal over the episodes of a scan.

    `fingerprint` stays the same as logs grow: it hashes kind, template and action. `action` is the action
    class or tool that the signal is about, "" where it is about an error alone; `template` the error's, "" where
    none is. `severity` is the share of the scanned episodes in which it shows, in [0, 1]. `occurrences` holds
    at most EVIDENCE_LIMIT places, the first of each episode before any second one.
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


class Detector(Protocol):
    """One family of signals: a pure function of the records, the same for any order of them."""

    kind: str

    def detect(self, records: Sequence[EpisodeRecord], thresholds: Thresholds) -> list[Signal]:
        """Find the signals of this kind, sorted by fingerprint."""
        ...


class Sighting(NamedTuple):
    """What a detector saw once: what about (template, action), in which episode, at which step."""

    template: str
    action: str
    record: EpisodeRecord
    step: int


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
    groups: dict[tuple[str, str], list[Sighting]] = defaultdict(list)
    for sighting in sightings:
        groups[sighting.template, sighting.action].append(sighting)
    found = [_signal(kind, calls_for, group, scanned) for group in groups.values() if len(group) >= count]
    return sorted((signal for signal in found if signal.episodes >= episodes), key=lambda one: one.fingerprint)


def fingerprint(kind: str, template: str, action: str) -> str:
    """Give the stable name of a signal."""
    return blake2b(f"{kind}\x1f{template}\x1f{action}".encode(), digest_size=8).hexdigest()


def _signal(kind: str, calls_for: Strategy, group: list[Sighting], scanned: int) -> Signal:
    steps: dict[str, list[int]] = defaultdict(list)
    for sighting in group:
        steps[sighting.record.id].append(sighting.step)
    # First of all the first of each episode: evidence from many episodes says more than a long loop in one.
    order = sorted(
        (rank, episode, step) for episode, seen in steps.items() for rank, step in enumerate(sorted(seen))
    )
    template, action = group[0].template, group[0].action
    return Signal(
        kind=kind,
        fingerprint=fingerprint(kind, template, action),
        template=template,
        action=action,
        count=len(group),
        episodes=len(steps),
        runs=tuple(sorted({sighting.record.run for sighting in group})),
        severity=len(steps) / scanned,
        calls_for=calls_for,
        occurrences=tuple(Occurrence(episode, step) for _, episode, step in order[:EVIDENCE_LIMIT]),
    )
