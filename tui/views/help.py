"""The keys of a screen as rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tui.views.rows import Part, cell, cut_row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.views.rows import Row


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
    rows: list[Row] = [
        cut_row(
            (
                cell(f" {line.keys}", 14, "accent"),
                cell(line.name, 15, "strong"),
                Part(line.tooltip),
                Part(f"   {line.key_id}", "dim"),
            ),
            width,
        )
        for line in found
    ]
    return rows or [(Part(f' no key has "{needle}"', "dim"),)]
