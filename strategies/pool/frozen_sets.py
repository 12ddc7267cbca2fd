"""Readings of episodes that stay whatever is read later: evaluators were frozen with them, evidence names them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.query.signals import kept_evidence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.query.library import Library
    from registry.registry import Registry

_PREFIX: Final = "evaluator:"
"""What the name under which such a set is stored begins with; the evaluator follows."""


class FrozenSet(NamedTuple):
    """What an evaluator was made from: episodes by id, and the last event that recorded their outcomes."""

    upto: int
    episodes: frozenset[str]


def freeze(registry: Registry, evaluator: str, upto: int, episodes: Iterable[str]) -> bool:
    """Keep what an evaluator is made from; false where one of the episodes is not kept any more.

    Inside a transaction: a longer reading may take the place of an episode that nobody is frozen with.
    """
    ids = sorted(episodes)
    if not {stored.episode for stored in registry.log.episodes()}.issuperset(ids):
        return False
    body = json.dumps({"upto": upto, "episodes": ids}, separators=(",", ":")).encode()
    registry.log.put_map(_PREFIX + evaluator, body)
    return True


def frozen_with(library: Library, evaluator: str) -> FrozenSet:
    """Return what an evaluator was made from."""
    return _decoded(library.log.maps()[_PREFIX + evaluator])


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
    return FrozenSet(fields["upto"], frozenset(fields["episodes"]))
