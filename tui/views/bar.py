"""The top bar as a row: where you are, the preset, and whether the registry is being followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from tui.views.rows import Part, clean, cut, cut_row, pad_row, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.views.rows import Row

_GAP = 3
_LEAST = 8
"""Cells that a cut crumb keeps: enough to know a name by (a guess)."""


def bar_row(crumbs: Sequence[str], preset: str, note: str, width: int, *, live: bool) -> list[Row]:
    """Write the breadcrumb at the left; preset, state and note at the right.

    Where there is no room for all of it, the longest crumb is cut: what it leads to still says where one is. Then
    the note gives way; preset and state never do.
    """
    state = Part("● live", "good") if live else Part("○ not read", "warn")
    said = [clean(crumb) for crumb in crumbs]
    standing = (Part(clean(preset), "accent"), Part("  "), state)
    right: Row = (*standing, Part(f"  {note} " if note else " ", "dim"))
    if width - width_of(right) - _GAP < min(width_of(_trail(said[-1:])), _LEAST):
        right = (*standing, Part(" "))
    left = max(width - width_of(right) - _GAP, 0)
    over = width_of(_trail(said)) - left
    if over > 0:
        longest = max(range(len(said)), key=lambda at: cell_len(said[at]))
        said[longest] = cut(said[longest], max(cell_len(said[longest]) - over, _LEAST))
    trail = _trail(said)
    return [cut_row((*pad_row(trail, left), Part(" " * _GAP), *right), width)]


def _trail(crumbs: Sequence[str]) -> Row:
    trail: list[Part] = [Part(" ")]
    for at, crumb in enumerate(crumbs):
        trail += [Part(" › ", "dim")] if at else []
        trail.append(Part(crumb, "strong" if at == len(crumbs) - 1 else ""))
    return tuple(trail)
