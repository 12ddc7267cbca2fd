"""Readings of episodes that stay whatever is read later: evaluators were frozen with them, evidence names them."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.query.signals import kept_evidence
from strategies.episodes.episode import WORLD_SOURCES, EpisodeOutcome

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord, WorldSource

_PREFIX: Final = "evaluator:"
"""What the name under which such a set is stored begins with; the evaluator follows."""


class FrozenSet(NamedTuple):
    """What an evaluator was made from: episodes by id, and the last event that recorded their outcomes.

    `hints` are the outcomes that hints from the world stood for, from these `sources`, as a setting asked for.
    """

    upto: int
    episodes: frozenset[str]
    sources: tuple[WorldSource, ...] = ()
    hints: Mapping[str, EpisodeOutcome] = MappingProxyType({})


def freeze(
    registry: Registry,
    evaluator: str,
    upto: int,
    episodes: Iterable[EpisodeRecord],
    sources: Sequence[WorldSource] = (),
) -> bool:
    """Keep what an evaluator is made from; false where one of the episodes is not kept any more.

    Inside a transaction: a longer reading may take the place of an episode that nobody is frozen with.
    """
    outcomes = {record.id: record.outcome for record in episodes}
    ids = sorted(outcomes)
    if not {stored.episode for stored in registry.log.episodes()}.issuperset(ids):
        return False
    fields: dict[str, object] = {"upto": upto, "episodes": ids}
    if sources:
        hints = {name: known for name in ids if (known := outcomes[name]) and known.source in WORLD_SOURCES}
        fields["sources"] = list(sources)
        fields["hints"] = {name: [hint.source, hint.value] for name, hint in hints.items()}
    registry.log.put_map(_PREFIX + evaluator, json.dumps(fields, separators=(",", ":")).encode())
    return True


def frozen_with(library: Library, evaluator: str) -> FrozenSet:
    """Return what an evaluator was made from."""
    return _decoded(library.log.maps()[_PREFIX + evaluator])


def sources_of(library: Library, evaluator: str) -> tuple[WorldSource, ...]:
    """Return which hints from the world stand for labels in an evaluator."""
    body = library.log.get_map(_PREFIX + evaluator)
    return _decoded(body).sources if body else ()


def measured_on(library: Library, evaluator: str) -> frozenset[str] | None:
    """Return the episodes that an evaluator was made from, None for one that is not made of episodes alone."""
    body = library.log.get_map(_PREFIX + evaluator)
    return _decoded(body).episodes if body else None


def all_kept(library: Library) -> frozenset[str]:
    """Return every episode that an evaluator was frozen with, or that evidence names."""
    kept = library.log.maps().items()
    frozen = (_decoded(body).episodes for name, body in kept if name.startswith(_PREFIX))
    pieces = kept_evidence(library, (name for raised in library.signals() for name in raised.event.evidence))
    return frozenset(piece.episode for piece in pieces.values()).union(*frozen)


def _decoded(body: bytes) -> FrozenSet:
    fields = json.loads(body)
    hints = {
        name: EpisodeOutcome(float(value), source)
        for name, (source, value) in fields.get("hints", {}).items()
        if source in WORLD_SOURCES and 0 <= float(value) <= 1
    }
    sources = tuple(source for source in fields.get("sources", ()) if source in WORLD_SOURCES)
    return FrozenSet(fields["upto"], frozenset(fields["episodes"]), sources, hints)
