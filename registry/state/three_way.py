"""Three-way merge: what one side made of a common text, carried into what the other side made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from registry.state.line_match import match

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def carried_over(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...]:
    """Return our lines with what they changed since `base`; where both changed the same lines, theirs.

    Lines that both sides put in at one place all stay, ours first.
    """
    merged = [line for piece in _pieces(base, ours, theirs) for line in piece]
    return tuple(
        line if line.endswith("\n") or at == len(merged) - 1 else f"{line}\n" for at, line in enumerate(merged)
    )


def _pieces(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Iterator[Sequence[str]]:
    """Yield the merged text piece by piece: lines that all three have part those that somebody changed."""
    in_ours, in_theirs = dict(match(base, ours)), dict(match(base, theirs))
    anchors = [at for at in range(len(base)) if at in in_ours and at in in_theirs]
    left, mine, other = 0, 0, 0
    for at in (*anchors, None):
        stop = (len(base), len(ours), len(theirs)) if at is None else (at, in_ours[at], in_theirs[at])
        yield _piece(base[left : stop[0]], ours[mine : stop[1]], theirs[other : stop[2]])
        if at is not None:
            yield ours[stop[1] : stop[1] + 1]
            left, mine, other = stop[0] + 1, stop[1] + 1, stop[2] + 1


def _piece(base: Sequence[str], ours: Sequence[str], theirs: Sequence[str]) -> Sequence[str]:
    """Merge lines that somebody changed."""
    if list(theirs) in (list(base), list(ours)):
        return ours
    if list(ours) == list(base):
        return theirs
    return theirs if base else (*ours, *(line for line in theirs if line not in ours))
