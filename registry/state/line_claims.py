"""Which lines carry which claims: decided by the event that brought both."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.claims import Claim
    from events.types.frozen import Frozen
    from events.types.parts import Edit
    from registry.state.gene import Gene
    from registry.state.line import ProjectedLine, SkillLine


def claims_of(gene: Gene, line: SkillLine | ProjectedLine) -> tuple[Claim, ...]:
    """Name the claims that a line carries; a blank line and the heading of a gene carry none.

    Where an event names the lines of its claims, those lines carry them. Else, where it brought as many
    claims as lines, each line carries its own, in order; and else each of its lines carries all of its claims.
    """
    brought = [live for live in gene.claims if live.origin == line.origin]
    if any(live.line for live in brought):
        return tuple(live.claim for live in brought if live.line == line.id)
    claims = tuple(live.claim for live in brought)
    heading = _heading(gene)
    if not claims or not line.text.strip() or line.id == heading:
        return ()
    own = (other for other in gene.lines if other.origin == line.origin and other.id != heading)
    lines = [other.id for other in own if other.text.strip()]
    return (claims[lines.index(line.id)],) if len(lines) == len(claims) else claims


def is_unclaimed(gene: Gene | None, line: SkillLine | ProjectedLine, event: Frozen) -> bool:
    """Tell whether a candidate brought a line of a gene that states something, and that no claim covers."""
    if gene is None or not getattr(event, "candidate", ""):
        return False
    states = bool(line.text.strip()) and not line.text.lstrip().startswith("#")
    return states and not claims_of(gene, line)


def _heading(gene: Gene) -> int:
    """Name the line that is a gene's heading, 0 where it has none; genes that are born have one of this form."""
    first = gene.lines[:1] if gene.title else ()
    return next((line.id for line in first if line.text.lstrip().startswith("#")), 0)


def claims_by_edit(edits: Sequence[Edit], claims: Sequence[Claim]) -> tuple[tuple[Claim, ...], ...]:
    """Divide the claims of a candidate among its edits, in the order of both.

    Where there are as many claims as new lines, each goes with its line; else nobody can tell, and each edit that
    brings lines carries all of them.
    """
    lines = [sum(bool(text.strip()) for text in edit.text) for edit in edits]
    if sum(lines) != len(claims):
        return tuple(tuple(claims) if brings else () for brings in lines)
    ends = list(accumulate(lines))
    return tuple(tuple(claims[end - size : end]) for size, end in zip(lines, ends, strict=True))


def lost_claims(gene: Gene, edits: Iterable[Edit]) -> tuple[tuple[Claim, ...], tuple[Claim, ...]]:
    """Name the claims whose line the edits rewrite, in the order of the lines, and those whose line goes.

    A line that is rewritten as a blank one is gone: that one says nothing.
    """
    from registry.state.edits import apply_edits  # noqa: PLC0415 - for those who write

    after, _ = apply_edits(gene.lines, edits, next_line=gene.next_line, origin=0, version=0)
    left = {line.id: line.origin for line in after if line.text.strip()}
    rewritten = [claim for line in gene.lines if left.get(line.id) == 0 for claim in claims_of(gene, line)]
    removed = [claim for line in gene.lines if line.id not in left for claim in claims_of(gene, line)]
    return tuple(dict.fromkeys(rewritten)), tuple(dict.fromkeys(removed))
