"""Thawing: a capsule's state out of the bytes of a snapshot, its parts whole or plain (events/plain.py)."""

from __future__ import annotations

import json
import zlib
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from events.plain import OtherShapeError, plain
from registry.capsule import Capsule, CapsuleFile
from registry.gene import Gene, LiveClaim
from registry.line import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.claims import Claim, Trigger
    from events.parts import FileEntry
    from events.score import Delta, Measured

    State = dict[str, Any]
    """What JSON holds of a capsule, as registry/snapshots.py writes it."""


class Parts(NamedTuple):
    """What reads the parts of a state that stand in events too."""

    entry: Callable[[State], FileEntry]
    claim: Callable[[State], Claim]
    trigger: Callable[[State], Trigger]
    measured: Callable[[State], Measured]
    delta: Callable[[State], Delta]


_PLAIN: Final = Parts(entry=plain, claim=plain, trigger=plain, measured=plain, delta=plain)


def thaw_plainly(body: bytes) -> Capsule:
    """Read a capsule's state back without pydantic, as long as its parts have the fields that they have now."""
    try:
        return thawed(json.loads(zlib.decompress(body)), _PLAIN)
    except OtherShapeError:
        from registry.snapshots import freeze, thaw  # noqa: PLC0415 - pydantic, for snapshots of earlier versions

        return thawed(json.loads(zlib.decompress(freeze(thaw(body)))), _PLAIN)


def thawed(state: State, parts: Parts) -> Capsule:
    """Make a capsule of its state, the parts as they are read here."""
    return Capsule(
        **{
            **state,
            "front": lines_of(state["front"]),
            "genes": tuple([_gene(row, parts) for row in state["genes"]]),
            "gone": tuple([_gene(row, parts) for row in state["gone"]]),
            "files": tuple([CapsuleFile(parts.entry(entry), origin) for entry, origin in state["files"]]),
            "aliases": tuple([(name, version) for name, version in state["aliases"]]),
            "score": parts.measured(state["score"]),
            "delta": parts.delta(state["delta"]) if state["delta"] else None,
        }
    )


def _gene(row: list[Any], parts: Parts) -> Gene:
    gene_id, capsule, version, title, lines, next_line, claims, triggers, protected, whole, keeper = row
    return Gene(
        gene_id,
        capsule,
        version,
        title,
        lines_of(lines),
        next_line,
        tuple([LiveClaim(parts.claim(claim), *where) for claim, *where in claims]),
        tuple([parts.trigger(trigger) for trigger in triggers]),
        frozenset(protected),
        whole,
        keeper,
    )
