"""A notice as rows: what is the matter, and what to type next."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.views.rows import BLANK, Part, clean, wrap

if TYPE_CHECKING:
    from tui.views.rows import Row

_INDENT = 2
_NEXT = "next  "


def notice_rows(message: str, hint: str, width: int) -> list[Row]:
    """Say what is the matter, and below it what to type next."""
    rows: list[Row] = [BLANK]
    rows += [(Part(" " * _INDENT), *row) for row in wrap((Part(clean(message)),), width - 2 * _INDENT)]
    if hint:
        rows.append(BLANK)
        for at, row in enumerate(wrap((Part(clean(hint), "accent"),), width - 2 * _INDENT - len(_NEXT))):
            rows.append((Part(" " * _INDENT), Part(" " * len(_NEXT) if at else _NEXT, "dim"), *row))
    return rows


def unmatched_rows(needle: str, width: int) -> list[Row]:
    """Say that nothing holds the text looked for; nothing where no text is."""
    return notice_rows(f'nothing here holds "{needle}"', "esc   shows everything again", width) if needle else []
