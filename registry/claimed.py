"""Which lines carry which claims: decided by the event that brought both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.edits import apply_edits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.claims import Claim
    from events.parts import Edit
    from registry.capsule import ProjectedLine
    from registry.gene import Gene, Line


def claims_of(gene: Gene, line: Line | ProjectedLine) -> tuple[Claim, ...]:
    """Name the claims that a line carries; a blank line carries none.

    Where an event brought as many claims as lines, each line carries its own, in order; else each of its lines
    carries all of its claims.
    """
    claims = tuple(live.claim for live in gene.claims if live.origin == line.origin)
    if not claims or not line.text.strip():
        return ()
    lines = [other.id for other in gene.lines if other.origin == line.origin and other.text.strip()]
    return (claims[lines.index(line.id)],) if len(lines) == len(claims) else claims


def lost_claims(gene: Gene, edits: Iterable[Edit]) -> tuple[tuple[Claim, ...], tuple[Claim, ...]]:
    """Name the claims whose line the edits rewrite, in the order of the lines, and those whose line goes."""
    after, _ = apply_edits(gene.lines, edits, next_line=gene.next_line, origin=0, version=0)
    left = {line.id: line.origin for line in after}
    rewritten = [claim for line in gene.lines if left.get(line.id) == 0 for claim in claims_of(gene, line)]
    removed = [claim for line in gene.lines if line.id not in left for claim in claims_of(gene, line)]
    return tuple(dict.fromkeys(rewritten)), tuple(dict.fromkeys(removed))
