"""What every screen shows around its rows: the top bar, what keys do, and what to type where nothing is there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from rich.cells import cell_len

from tui.text.rows import BLANK, RowPart, cell, clean, cut, cut_row, pad_row, width_of, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tui.text.rows import Row
    from tui.text.terms import Term

_ROOMY: Final = 99
"""Cells from which a row has room for everything: 100, less the scroll bar."""


_INDENT = 2
_TERM = 14
_NEXT = "next  "


_GAP = 3
_TAB_GAP = 2
_LEAST = 8
"""Cells that a cut crumb keeps: enough to know a name by (a guess)."""


def bar_row(crumbs: Sequence[str], preset: str, note: str, width: int, *, live: bool) -> list[Row]:
    """Write the breadcrumb at the left; preset, state and note at the right.

    Where there is no room for all of it, the longest crumb is cut: what it leads to still says where one is. Then
    the note gives way; preset and state never do.
    """
    state = RowPart("● live", "good") if live else RowPart("○ not read", "warn")
    names = [clean(crumb) for crumb in crumbs]
    standing = (RowPart(clean(preset), "accent"), RowPart("  "), state)
    right: Row = (*standing, RowPart(f"  {note} " if note else " ", "dim"))
    if width - width_of(right) - _GAP < min(width_of(_trail(names[-1:])), _LEAST):
        right = (*standing, RowPart(" "))
    left = max(width - width_of(right) - _GAP, 0)
    over = width_of(_trail(names)) - left
    if over > 0:
        longest = max(range(len(names)), key=lambda at: cell_len(names[at]))
        names[longest] = cut(names[longest], max(cell_len(names[longest]) - over, _LEAST))
    trail = _trail(names)
    return [cut_row((*pad_row(trail, left), RowPart(" " * _GAP), *right), width)]


def _trail(crumbs: Sequence[str]) -> Row:
    trail: list[RowPart] = [RowPart(" ")]
    for at, crumb in enumerate(crumbs):
        trail += [RowPart(" › ", "dim")] if at else []
        trail.append(RowPart(crumb, "strong" if at == len(crumbs) - 1 else ""))
    return tuple(trail)


class ScreenTab(NamedTuple):
    """A screen in the bar of them: the key that shows it, and how much waits there."""

    view: str
    key: str
    waiting: int = 0

    def row(self, *, here: bool, named: bool = True) -> Row:
        """Write the key, the name and what waits; the key alone where there is no room for its name."""
        name = f" {self.view.capitalize()}" if named else ""
        badge = (RowPart(f" {self.waiting:,}", "warn"),) if named and self.waiting else ()
        return RowPart(self.key, "dim"), RowPart(name, "strong" if here else ""), *badge


def tab_rows(tabs: Sequence[ScreenTab], view: str, width: int) -> list[Row]:
    """Write the bar of screens; where it is too long the last ones keep their key alone, but for this one."""
    named, room = [True] * len(tabs), width - 1
    gap = " " if _tabs_width(tabs, view, named, _TAB_GAP) > room else " " * _TAB_GAP
    for at in reversed(range(len(tabs))):
        if _tabs_width(tabs, view, named, len(gap)) <= room:
            break
        named[at] = tabs[at].view == view
    parts = (part for row in _tabs(tabs, view, named) for part in (*row, RowPart(gap)))
    return [cut_row((RowPart(" "), *parts), width)]


def _tabs_width(tabs: Sequence[ScreenTab], view: str, named: Sequence[bool], gap: int) -> int:
    return sum(width_of(row) + gap for row in _tabs(tabs, view, named))


def _tabs(tabs: Sequence[ScreenTab], view: str, named: Sequence[bool]) -> list[Row]:
    return [tab.row(here=tab.view == view, named=has) for tab, has in zip(tabs, named, strict=True)]


def notice_rows(message: str, hint: str, width: int) -> list[Row]:
    """Say what is the matter, and below it what to type next."""
    rows: list[Row] = [BLANK]
    rows += [(RowPart(" " * _INDENT), *row) for row in wrap((RowPart(clean(message)),), width - 2 * _INDENT)]
    if hint:
        rows.append(BLANK)
        for at, row in enumerate(wrap((RowPart(clean(hint), "accent"),), width - 2 * _INDENT - len(_NEXT))):
            rows.append((RowPart(" " * _INDENT), RowPart(" " * len(_NEXT) if at else _NEXT, "dim"), *row))
    return rows


def unmatched_rows(needle: str, width: int) -> list[Row]:
    """Say that nothing holds the text looked for; nothing where no text is."""
    return notice_rows(f'nothing here holds "{needle}"', "esc   shows everything again", width) if needle else []


class KeyLine(NamedTuple):
    """A key as help tells it; `name` is what it does in a word or two, `key_id` what a keymap calls it."""

    keys: str
    name: str
    tooltip: str
    key_id: str


def help_rows(
    own: Sequence[KeyLine], common: Sequence[KeyLine], terms: Sequence[Term], needle: str, width: int
) -> list[Row]:
    """List a screen's own keys whose line holds a text, the terms that do, and the keys that every screen has.

    A term that is called so comes first.
    """
    wanted = needle.casefold()
    rows, others = (
        [
            _narrow(line, width) if width < _ROOMY else _roomy(line, width)
            for line in lines
            if wanted in " ".join(line).casefold()
        ]
        for lines in (own, common)
    )
    meant = [term for term in terms if wanted in f"{term.name} {term.meaning}".casefold()]
    words = [row for term in meant for row in _term_rows(term, width)]
    if words and wanted == meant[0].name.casefold():
        return [*words, BLANK, *rows, *others]
    if words:
        rows += [*([BLANK] if rows else []), (RowPart(" words on this screen", "dim"),), *words]
        others = [BLANK, *others] if others else []
    rows += others
    return rows or [(RowPart(f' no key and no word here has "{needle}"', "dim"),)]


def _term_rows(term: Term, width: int) -> list[Row]:
    wrapped = wrap((RowPart(term.meaning),), width - _TERM - 1)
    return [(cell("" if at else f" {term.name}", _TERM, "accent"), *row) for at, row in enumerate(wrapped)]


def _roomy(line: KeyLine, width: int) -> Row:
    room = max(width - 29 - len(line.key_id) - 3, 0)
    cells = (cell(f" {line.keys}", 14, "accent"), cell(line.name, 15, "strong"), cell(line.tooltip, room))
    return cut_row((*cells, RowPart(f"  {line.key_id}", "dim")), width)


def _narrow(line: KeyLine, width: int) -> Row:
    """Leave out the name, which the bottom line tells; the id never gives way: a keymap needs all of it."""
    room = max(width - 11 - len(line.key_id) - 3, 0)
    cells = (cell(f" {line.keys}", 11, "accent"), cell(line.tooltip, room))
    return cut_row((*cells, RowPart(f"  {line.key_id}", "dim")), width)
