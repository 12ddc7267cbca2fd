"""Snapshots: a capsule's state as bytes, so that time travel need not start at the beginning."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from pydantic import ConfigDict, TypeAdapter
from pydantic_core import from_json

from events.types.claims import Claim, Trigger
from events.types.parts import FileEntry
from events.types.score import Delta, Score, Unmeasured
from registry.projection.stored_documents import compact, deflated, inflated
from registry.state.capsule import Capsule, CapsuleFile
from registry.state.gene import Gene, LiveClaim
from registry.state.line import lines_of

if TYPE_CHECKING:
    from events.types.score import Measured
    from registry.state.line import SkillLine

EVERY: Final = 8
"""Events of a capsule of few parts between two snapshots: at most 7 are folded to reach any version. Twice as many
would make time travel a third slower (0.95 ms for 0.73, 300 lines), a rebuild a twentieth faster and a registry of
10,000 versions a fiftieth smaller (measured 2026-11-22)."""
_MANY_PARTS: Final = 256
"""Sections and files of a capsule from which on snapshots are farther apart, the farther the more it has: else the
32,000 headings of a file of 200 kB were written 4,000 times, 700 MB in a minute (now 37 MB in 18 s)."""

_CLAIM: Final[TypeAdapter[Claim]] = TypeAdapter(Claim, config=ConfigDict(defer_build=True))

_THAWED_KEPT: Final = 16
"""States that are remembered as they were read: half of what a further look at a skill, or at the version beside,
would take. One of 300 lines is 70 kB (measured 2026-11-22)."""

Written = dict[str, tuple[Gene, str]]
"""Genes as they were last written, by id: of these, a change of a capsule touches one or two."""


def is_due(changes: int, capsule: Capsule) -> bool:
    """Tell whether the last of so many changes of a capsule is followed by a snapshot."""
    parts = len(capsule.genes) + len(capsule.gone) + len(capsule.files)
    return changes % (EVERY << (parts // _MANY_PARTS).bit_length()) == 0


def freeze(capsule: Capsule, written: Written | None = None) -> bytes:
    """Write a capsule's state as packed JSON, the same bytes for the same state; raises what `deflated` raises.

    `written` remembers the genes for the next time that this capsule is written.
    """
    genes = {} if written is None else written
    first = {
        "name": capsule.name,
        "source": capsule.source,
        "encoding": capsule.encoding,
        "mode": capsule.mode,
        "version": capsule.version,
        "position": capsule.position,
        "at": capsule.at,
        "cause": capsule.cause,
        "front": _lines(capsule.front),
        "next_front": capsule.next_front,
    }
    last = {
        "files": [[file.entry.model_dump(mode="json"), file.origin] for file in capsule.files],
        "aliases": capsule.aliases,
        "stamped": capsule.stamped,
        "unproven": capsule.unproven,
        "retired": capsule.retired,
        "born": capsule.born,
        "score": capsule.score.model_dump(mode="json"),
        "delta": capsule.delta.model_dump(mode="json") if capsule.delta else None,
    }
    live = ",".join([_written(gene, genes) for gene in capsule.genes])
    gone = ",".join([_written(gene, genes) for gene in capsule.gone])
    state = f'{compact(first)[:-1]},"genes":[{live}],"gone":[{gone}],{compact(last)[1:]}'
    return deflated(capsule.name, state)


def _written(gene: Gene, genes: Written) -> str:
    known = genes.get(gene.id)
    if known is None or known[0] is not gene:
        known = genes[gene.id] = gene, compact(_gene(gene))
    return known[1]


@lru_cache(maxsize=_THAWED_KEPT)
def thaw(body: bytes) -> Capsule:
    """Read a capsule's state back."""
    state = from_json(inflated(body), cache_strings=False)
    return Capsule(
        **{
            **state,
            "front": lines_of(state["front"]),
            "genes": tuple([_thawed_gene(row) for row in state["genes"]]),
            "gone": tuple([_thawed_gene(row) for row in state["gone"]]),
            "files": tuple([CapsuleFile(FileEntry(**entry), origin) for entry, origin in state["files"]]),
            "aliases": tuple([(name, version) for name, version in state["aliases"]]),
            "score": _measured(state["score"]),
            "delta": Delta(**state["delta"]) if state["delta"] else None,
        }
    )


def _thawed_gene(row: list[Any]) -> Gene:
    gene_id, capsule, version, title, lines, next_line, claims, triggers, protected, whole, keeper = row
    return Gene(
        gene_id,
        capsule,
        version,
        title,
        lines_of(lines),
        next_line,
        tuple([LiveClaim(read_claim(claim), *where) for claim, *where in claims]),
        tuple([Trigger(**trigger) for trigger in triggers]),
        frozenset(protected),
        whole,
        keeper,
    )


def read_claim(row: object) -> Claim:
    """Read a claim out of what JSON holds."""
    return _CLAIM.validate_python(row)


def _measured(row: dict[str, Any]) -> Measured:
    return Score(**row) if "value" in row else Unmeasured(**row)


def _lines(lines: tuple[SkillLine, ...]) -> list[tuple[Any, ...]]:
    return list(zip(*lines, strict=True))


def _gene(gene: Gene) -> list[Any]:
    return [
        gene.id,
        gene.capsule,
        gene.version,
        gene.title,
        _lines(gene.lines),
        gene.next_line,
        [_claim(live) for live in gene.claims],
        [trigger.model_dump(mode="json") for trigger in gene.triggers],
        sorted(gene.protected),
        gene.protected_whole,
        gene.keeper,
    ]


def _claim(live: LiveClaim) -> list[Any]:
    """Write a claim as a row; its line only where it is known, as in the snapshots of earlier versions."""
    return [live.claim.model_dump(mode="json"), live.origin, *([live.line] if live.line else [])]
