"""The keys of a screen as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from tui.views.rows import Part, cell, cut_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.views.rows import Row


_ROOMY: Final = 99
"""Cells from which a row has room for everything: 100, less the scroll bar."""


class KeyLine(NamedTuple):
    """A key as help tells it; `name` is what it does in a word or two, `key_id` what a keymap calls it."""

    keys: str
    name: str
    tooltip: str
    key_id: str


def help_rows(lines: Sequence[KeyLine], needle: str, width: int) -> list[Row]:
    """List the keys whose line holds a text."""
    wanted = needle.casefold()
    found = [line for line in lines if wanted in " ".join(line).casefold()]
    rows = [_narrow(line, width) if width < _ROOMY else _roomy(line, width) for line in found]
    return rows or [(Part(f' no key has "{needle}"', "dim"),)]


def _roomy(line: KeyLine, width: int) -> Row:
    said = max(width - 29 - len(line.key_id) - 3, 0)
    told = (cell(f" {line.keys}", 14, "accent"), cell(line.name, 15, "strong"), cell(line.tooltip, said))
    return cut_row((*told, Part(f"  {line.key_id}", "dim")), width)


def _narrow(line: KeyLine, width: int) -> Row:
    """Leave out the name, which the bottom line tells; the id never gives way: a keymap needs all of it."""
    said = max(width - 11 - len(line.key_id) - 3, 0)
    told = (cell(f" {line.keys}", 11, "accent"), cell(line.tooltip, said))
    return cut_row((*told, Part(f"  {line.key_id}", "dim")), width)
