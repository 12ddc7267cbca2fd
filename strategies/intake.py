"""Intake: what a scan found goes into the registry: episodes, split groups, signals with their evidence."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.log import StoredEpisode
from strategies.erasing import without_erased
from strategies.frozen import all_kept
from strategies.gate.splits import form_groups
from strategies.kept_map import body_of, map_in
from strategies.late_outcomes import late_outcomes, with_late_outcomes
from strategies.logs.readings import condensed, longest, replaced
from strategies.logs.records import decode, encode
from strategies.logs.scan import Scan, scan_on
from strategies.raising import DEFAULT_POLICY, IntakePolicy, raise_signals
from strategies.sharpening import as_sharpened, sharpen, sharpened, was_judged
from strategies.whereabouts import as_they_lie, note_moves, whereabouts

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from events.registry_events import SignalRaised
    from registry.library import Library
    from registry.registry import Registry
    from strategies.logs.episode import EpisodeRecord

GROUPS: Final = "split-groups"
"""The checkpoint that keeps which tasks belong together; for ever, once something was judged on them."""


SUPERSEDED: Final = "superseded"
"""The checkpoint that keeps which episodes have a longer reading, and which one.

Only of those that something still refers to: an evaluator that was frozen with them, evidence, or an outcome.
"""


@dataclass(frozen=True, slots=True)
class Intake:
    """What came in: how many episodes were new, and the signals that newly crossed their threshold.

    `longer` counts longer readings of episodes that were known: they are none of the new ones.
    """

    new_episodes: int
    signals: tuple[SignalRaised, ...]
    longer: int = 0


def take_in(
    registry: Registry, records: Sequence[EpisodeRecord], *, policy: IntakePolicy = DEFAULT_POLICY
) -> Intake:
    """Keep the episodes of a scan, extend the split groups, and raise the signals that are new.

    All in one transaction: episodes, groups, evidence and signals come together or not at all.
    """
    return _take_in(registry, Scan(records=tuple(records), files=(), duplicates=0, skipped=(), broken=()), policy)


def take_in_scan(
    registry: Registry, found: Scan, *, policy: IntakePolicy = DEFAULT_POLICY, live: bool = False
) -> Intake:
    """Keep what a scan found, as `take_in`, and in the same transaction how far it read.

    With `live` its episodes may still be running.
    """
    return _take_in(registry, found, policy, live=live)


def scan_into(
    registry: Registry,
    paths: Iterable[Path],
    *,
    live: bool = False,
    log_format: str = "",
    progress: Callable[[int, int], None] | None = None,
    executor: Executor | None = None,
    policy: IntakePolicy = DEFAULT_POLICY,
) -> tuple[Scan, Intake]:
    """Read what was written since the last time, and keep it; `strategies.logs.scan.scan_on` says the rest."""
    found = scan_on(
        paths,
        registry.log.checkpoints(),
        live=live,
        known_templates=lambda: {step.template for record in all_episodes(registry) for step in record.steps},
        log_format=log_format,
        progress=progress,
        executor=executor,
        rules=policy.rules,
    )
    return found, take_in_scan(registry, found, policy=policy, live=live)


def _take_in(registry: Registry, found: Scan, policy: IntakePolicy, *, live: bool = False) -> Intake:
    records = found.records
    if not records and not found.checkpoints:
        return Intake(0, ())
    with registry.log.transaction():
        for name, body in without_erased(registry, found.checkpoints, records).items():
            registry.log.put_checkpoint(name, body)
        note_moves(registry, found.moved, records)
        if not was_judged(registry):
            sharpen(registry, found.sharper)
        known = all_episodes(registry) if records else []
        stored = [StoredEpisode(record.id, record.source, encode(record)) for record in records]
        new, longer = registry.log.put_episodes(stored), 0
        if new:
            longer = _supersede(registry, known, records)
        running = frozenset(record.id for record in records if live)
        raised = _extend(registry, policy, running) if new else ()
    return Intake(new - longer, raised, longer)


def _supersede(registry: Registry, known: Sequence[EpisodeRecord], records: Sequence[EpisodeRecord]) -> int:
    """Put the longer readings of episodes in the place of the shorter ones, and say which replaces which.

    A reading that something refers to stays beside the longer one: an evaluator that was frozen with it, or
    evidence. Of one that an outcome was recorded for stays which longer one has it now.
    """
    before = _superseded(registry)
    found = replaced(known, [record for record in records if record.id not in before])
    if found:
        longer, kept = before | found, all_kept(registry)
        registry.log.drop_episodes({short: longest(short, longer) for short in longer.keys() - kept})
        links = condensed(longer, kept | late_outcomes(registry).keys())
        registry.log.put_checkpoint(SUPERSEDED, body_of(links))
    return len(found)


def _extend(registry: Registry, policy: IntakePolicy, running: frozenset[str]) -> tuple[SignalRaised, ...]:
    """Bring split groups and signals up to the episodes that are known now.

    Groups stand once something was judged on them; before, they are those of all logs read at once.
    """
    everything = all_episodes(registry)
    groups = form_groups(split_groups(registry) if was_judged(registry) else {}, everything)
    registry.log.put_checkpoint(GROUPS, json.dumps(groups, separators=(",", ":")).encode())
    return raise_signals(registry, everything, policy, running=running)


def all_episodes(library: Library, *, upto: int | None = None) -> list[EpisodeRecord]:
    """Return every episode that the registry knows, in its longest reading, ordered by content hash.

    An outcome that was recorded late, up to an event's position, stands in place of the one in the log.
    """
    longer = _superseded(library)
    stored = (decode(one.body) for one in library.log.episodes() if one.episode not in longer)
    return with_late_outcomes(_as_known_now(library, stored), late_outcomes(library, upto=upto), longer)


def every_reading(library: Library, *, upto: int | None = None) -> list[EpisodeRecord]:
    """Return all episodes in all the readings that are kept, with the outcomes recorded up to an event's position.

    An evaluator stays frozen with the readings and the outcomes that it was made from.
    """
    stored = (decode(one.body) for one in library.log.episodes())
    known = _as_known_now(library, stored)
    return with_late_outcomes(known, late_outcomes(library, upto=upto), _superseded(library))


def _as_known_now(library: Library, stored: Iterable[EpisodeRecord]) -> Iterable[EpisodeRecord]:
    checkpoints = library.log.checkpoints()
    return as_sharpened(as_they_lie(stored, whereabouts(checkpoints)), sharpened(checkpoints))


def with_longer_readings(library: Library, episodes: Collection[str]) -> frozenset[str]:
    """Add to episodes, by id, those that are their longer readings."""
    longer = _superseded(library)
    return frozenset(episodes) | {longest(one, longer) for one in episodes if one in longer}


def _superseded(library: Library) -> dict[str, str]:
    return map_in(library.log.checkpoint(SUPERSEDED))


def split_groups(library: Library) -> dict[str, str]:
    """Return which split group each known task belongs to."""
    return map_in(library.log.checkpoint(GROUPS))
