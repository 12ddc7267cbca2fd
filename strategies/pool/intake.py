"""Intake: what a scan found goes into the registry, with sharper templates."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.store.protocol import StoredEpisode
from strategies.episodes.episode_records import encode, header_in
from strategies.episodes.longer_readings import condensed, longest, replaced
from strategies.logs.copied_files import without_copies
from strategies.logs.scan import LACKING, Scan, scan_on
from strategies.pool.erase import without_erased
from strategies.pool.frozen_sets import all_kept
from strategies.pool.intake_policy import DEFAULT_POLICY, IntakePolicy
from strategies.pool.known_episodes import (
    GROUPS,
    SUPERSEDED,
    TEMPLATES,
    all_episodes,
    known_templates,
    sharper_templates,
    split_groups,
    superseded,
)
from strategies.pool.late_outcomes import hints_looked_up, late_outcomes
from strategies.pool.log_owners import from_their_origins
from strategies.pool.moved_logs import body_of, note_moves
from strategies.pool.raise_signals import raise_signals
from strategies.pool.splits import form_groups
from strategies.pool.task_sets import set_groups, set_tasks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Executor
    from pathlib import Path

    from events.types.registry_events import SignalRaised
    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord


def was_judged(library: Library) -> bool:
    """Tell whether anything was judged on these logs: what was divided and called by then stays so."""
    return any(library.log.documents("evaluator"))


def sharpen(registry: Registry, sharper: Mapping[str, str]) -> None:
    """Keep what templates have become; inside a transaction, with the episodes that showed it."""
    if sharper:
        before = sharper_templates(registry)
        now = dict(sharper) | {stored: sharper.get(template, template) for stored, template in before.items()}
        registry.log.put_map(TEMPLATES, body_of(now))


UNCOUNTED: Final = "uncounted"
"""The stored map that says how many episodes came in since signals were last counted over all of them."""

_DIGITS: Final = 15
_MANY: Final = 2_000
_GROWN_BY: Final = 0.01
"""From how many episodes on signals may wait, and by which share of all those must grow (guesses).

Counting takes as long as there are episodes, and one in a hundred more moves few counts over a threshold.
"""


@dataclass(frozen=True, slots=True)
class Intake:
    """What came in: how many episodes were new, and the signals that newly crossed their threshold.

    `longer` counts longer readings of episodes that were known, `copies` those of files that are copies of others
    under another name: they are none of the new ones. `uncounted` are the episodes that came in since signals were
    last counted over all of them.
    """

    new_episodes: int
    signals: tuple[SignalRaised, ...]
    longer: int = 0
    uncounted: int = 0
    copies: int = 0


def take_in(
    registry: Registry, records: Sequence[EpisodeRecord], *, policy: IntakePolicy = DEFAULT_POLICY
) -> Intake:
    """Keep the episodes of a scan, extend the split groups, and raise the signals that are new.

    All in one transaction: episodes, groups, evidence and signals come together or not at all.
    """
    return _take_in(registry, Scan(records=tuple(records), files=(), duplicates=0, skipped=(), broken=()), policy)


def take_in_scan(
    registry: Registry,
    scan: Scan,
    *,
    policy: IntakePolicy = DEFAULT_POLICY,
    live: bool = False,
    may_wait: bool = False,
) -> Intake:
    """Keep what a scan found, as `take_in`, and in the same transaction how far it read.

    With `live` its episodes may still be running. Where signals `may_wait`, and many episodes are known, they are
    counted again only once enough have come in to change what is seen in all of them.
    """
    return _take_in(registry, scan, policy, live=live, may_wait=may_wait)


def scan_into(  # noqa: PLR0913 - what a reading is told
    registry: Registry,
    paths: Iterable[Path],
    *,
    live: bool = False,
    only: Callable[[Path], bool] | None = None,
    log_format: str = "",
    progress: Callable[[int, int], None] | None = None,
    executor: Executor | None = None,
    policy: IntakePolicy = DEFAULT_POLICY,
) -> tuple[Scan, Intake]:
    """Read what was written since the last time, and keep it; `strategies.logs.scan.scan_on` says the rest."""
    scan = scan_on(
        paths,
        registry.log.maps(),
        live=live,
        only=only,
        known_templates=lambda: known_templates(registry),
        log_format=log_format,
        progress=progress,
        executor=executor,
        rules=policy.rules,
        mappings=policy.mappings,
    )
    return scan, take_in_scan(registry, scan, policy=policy, live=live)


def _take_in(
    registry: Registry, scan: Scan, policy: IntakePolicy, *, live: bool = False, may_wait: bool = False
) -> Intake:
    records = from_their_origins(scan.records, policy.trust, by_project=policy.by_project)
    late = 0 if may_wait else uncounted(registry)
    if not records and not scan.offsets and not late:
        return Intake(0, (), uncounted=uncounted(registry))
    with registry.log.transaction():
        for name, body in without_erased(registry, scan.offsets, records).items():
            registry.log.put_map(name, body)
        if scan.offsets:
            registry.log.put_map(LACKING, json.dumps(sorted(scan.lacking_now)).encode())
        note_moves(registry, scan.moved, records)
        if not was_judged(registry):
            sharpen(registry, scan.sharper)
        known = _like(registry, records)
        read, records = len(records), tuple(without_copies(records, known))
        stored = [StoredEpisode(record.id, record.source, encode(record)) for record in records]
        new, longer = registry.log.put_episodes(stored), 0
        if new:
            longer = _supersede(registry, known, records)
        running = frozenset(record.id for record in records if live)
        waiting = uncounted(registry) + new if may_wait else 0
        if new or late:
            known_episodes = _extend_groups(registry)
            waiting = 0 if known_episodes < _MANY or waiting > known_episodes * _GROWN_BY else waiting
            registry.log.put_map(UNCOUNTED, str(waiting).encode())
        counts = (new and not waiting) or late
        raised = raise_signals(registry, all_episodes(registry), policy, running=running) if counts else ()
    return Intake(new - longer, raised, longer, waiting, read - len(records))


def _like(library: Library, records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """Give the known episodes that some of these could be: of their name, or with the same text."""
    if not records:
        return []
    names = {(record.format, record.name) for record in records}
    texts = {record.text_key for record in records if record.text_key}
    return all_episodes(
        library,
        with_folders=True,
        only=lambda header: (header.format, header.name) in names or header.text_key in texts,
    )


def uncounted(library: Library) -> int:
    """Tell how many episodes came in since signals were last counted over all of them."""
    stored = library.log.get_map(UNCOUNTED) or b"0"
    return int(stored) if stored.isdigit() and len(stored) <= _DIGITS else 0


def _supersede(registry: Registry, known: Sequence[EpisodeRecord], records: Sequence[EpisodeRecord]) -> int:
    """Put the longer readings of episodes in the place of the shorter ones, and say which replaces which.

    A reading that something refers to stays beside the longer one: an evaluator that was frozen with it, or
    evidence. Of one that an outcome was recorded for stays which longer one has it now.
    """
    before = superseded(registry)
    replacements = replaced(known, [record for record in records if record.id not in before])
    if replacements:
        longer, kept = before | replacements, all_kept(registry)
        registry.log.drop_episodes({short: longest(short, longer) for short in longer.keys() - kept})
        links = condensed(longer, kept | late_outcomes(registry).keys() | hints_looked_up(registry).keys())
        registry.log.put_map(SUPERSEDED, body_of(links))
    return len(replacements)


def _extend_groups(registry: Registry) -> int:
    """Bring split groups up to the episodes that are known now, and count these.

    Groups are fixed once something was judged on them; before, they are those of all logs read at once. Tasks of
    sets that runs were judged on keep the groups of their sets.
    """
    longer = superseded(registry)
    everything = [header_in(episode.body) for episode in registry.log.episodes() if episode.episode not in longer]
    sets = set_groups(registry)
    known = sets | (split_groups(registry) if was_judged(registry) else {})
    groups = form_groups(known, [*everything, *set_tasks(sets)])
    registry.log.put_map(GROUPS, json.dumps(groups, separators=(",", ":")).encode())
    return len(everything)
