"""A notice as rows: what is the matter, and what to type next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.views.rows import BLANK, Part, clean, wrap

if TYPE_CHECKING:
    from tui.views.rows import Row

_INDENT = 2


def notice_rows(message: str, hint: str, width: int) -> list[Row]:
    """Say what is the matter, and below it what to type next."""
    rows: list[Row] = [BLANK]
    rows += [(Part(" " * _INDENT), *row) for row in wrap((Part(clean(message)),), width - 2 * _INDENT)]
    if hint:
        rows += [BLANK, (Part(" " * _INDENT), Part("next  ", "dim"), Part(clean(hint), "accent"))]
    return rows
