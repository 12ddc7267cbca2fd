"""What the Trends screen shows: how a skill did over its last versions; read in the thread for long questions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.trend_reads import read_trends

if TYPE_CHECKING:
    from registry.library import Library
    from tui.views.trends import Trends

LAST: Final = 60
"""Versions that the screen looks back on: more than it has columns for, at 140 cells."""


def read_last_trends(library: Library, skill: str) -> Trends:
    """Read the trends of a skill over its last versions; raises NotFoundError for an unknown one."""
    newest = library.capsule(skill).version
    rows = [library.version(skill, version) for version in range(max(newest - LAST, 0) + 1, newest + 1)]
    return read_trends(library, skill, rows, library.candidates(skill))
