"""The top bar as a row: where you are, the preset, and whether the registry is being followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.views.rows import Part, clean, cut_row, pad_row, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.views.rows import Row

_GAP = 3


def bar_row(crumbs: Sequence[str], preset: str, note: str, width: int, *, live: bool) -> list[Row]:
    """Write the breadcrumb at the left; preset, state and note at the right, which never give way."""
    trail: list[Part] = [Part(" ")]
    for at, crumb in enumerate(crumbs):
        trail += [Part(" › ", "dim")] if at else []
        trail.append(Part(clean(crumb), "strong" if at == len(crumbs) - 1 else ""))
    state = Part("● live", "good") if live else Part("○ not read", "warn")
    right: Row = (Part(clean(preset), "accent"), Part("  "), state, Part(f"  {note} " if note else " ", "dim"))
    left = max(width - width_of(right) - _GAP, 0)
    return [cut_row((*pad_row(tuple(trail), left), Part(" " * _GAP), *right), width)]
