"""Rows: lines of text in parts that carry a tone; what every view returns and every widget draws.

Widths are counted in terminal cells: a wide character takes two.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, overload

from rich.cells import cell_len, set_cell_size

from registry.skill_md.invisible_chars import hidden_characters
from tui.text.ascii_fallback import MARKS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

_TABLE: Final = str.maketrans(MARKS)


Tone = Literal[
    "", "dim", "strong", "accent", "good", "bad", "warn", "mark", "code", "added", "removed", "new", "old",
    "passed", "failed", "mixed", "here",
]  # fmt: skip
"""What a text means. "added" and "removed" are lines of a diff, "new" and "old" the words in them.

"passed", "failed" and "mixed" are cells of a heat map, "here" the one under the cursor.
"""

ELLIPSIS: Final = "…"
LABEL_WIDTH: Final = 10
"""Cells of the labels before facts: "signal", "evidence" …"""


def tone_of(low: float, high: float) -> Tone:
    """Say whether a difference is clear: better, worse, or not distinguishable from none."""
    return "good" if low > 0 else "bad" if high < 0 else "dim"


class RowPart(NamedTuple):
    """A piece of a line, all in one tone."""

    text: str
    tone: Tone = ""


Row = tuple[RowPart, ...]
BLANK: Final[Row] = ()


class EachRow(Sequence[Row]):
    """Rows that are written one by one, when they come into view: of long lists only those are."""

    def __init__(self, count: int, write: Callable[[int], Row]) -> None:
        self._count = count
        self._write = write

    def __len__(self) -> int:
        """Count the rows."""
        return self._count

    @overload
    def __getitem__(self, at: int) -> Row: ...
    @overload
    def __getitem__(self, at: slice) -> list[Row]: ...
    def __getitem__(self, at: int | slice) -> Row | list[Row]:
        """Write a row, or some."""
        if isinstance(at, slice):
            return [self._write(index) for index in range(self._count)[at]]
        return self._write(range(self._count)[at])


def clean(text: str) -> str:
    """Make text of a skill or a log harmless on a terminal, one character for each.

    What does not show, or steers the terminal, shows as a replacement sign; the line ending goes.
    """
    if text.isascii() and text.isprintable():
        return text
    text = text.rstrip("\r\n").replace("\n", " ").replace("\r", " ").replace("\t", " ")
    chars = list(text)
    for hidden in hidden_characters(text):
        chars[hidden.column - 1] = "\N{REPLACEMENT CHARACTER}"
    return "".join(chars)


def width_of(row: Row) -> int:
    """Count the cells of a row."""
    return sum(cell_len(part.text) for part in row)


def text_of(row: Row) -> str:
    """Join a row's parts into plain text."""
    return "".join(part.text for part in row)


def cut(text: str, width: int) -> str:
    """Shorten a text to at most `width` cells, with an ellipsis where something is missing."""
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, width - 1).rstrip() + ELLIPSIS if width > 0 else ""


def cut_left(text: str, width: int) -> str:
    """Shorten a text to at most `width` cells from the left: of a path, the end tells more."""
    if cell_len(text) <= width:
        return text
    kept = text[-width:] if width > 0 else ""
    while kept and cell_len(kept) >= width:
        kept = kept[1:]
    return ELLIPSIS + kept if width > 0 else ""


def cell(text: str, width: int, tone: Tone = "", *, right: bool = False) -> RowPart:
    """Fit a text into a column: cut or padded, at the right edge where asked."""
    text = cut(text, width)
    gap = " " * (width - cell_len(text))
    return RowPart(gap + text if right else text + gap, tone)


def cut_row(row: Row, width: int) -> Row:
    """Shorten a row to at most `width` cells, with an ellipsis where something is missing."""
    if width_of(row) <= width:
        return row
    kept: list[RowPart] = []
    left = width
    for part in row:
        size = cell_len(part.text)
        if size >= left:
            shortened = cut(part.text + ELLIPSIS * 2, left)
            return (*kept, RowPart(shortened, part.tone))
        kept.append(part)
        left -= size
    return tuple(kept)


def pad_row(row: Row, width: int) -> Row:
    """Cut or pad a row to exactly `width` cells."""
    row = cut_row(row, width)
    gap = width - width_of(row)
    return (*row, RowPart(" " * gap)) if gap else row


def indented(rows: Iterable[Row], width: int) -> list[Row]:
    """Cut rows to a width, and put each a cell to the right."""
    return [(RowPart(" "), *cut_row(row, width)) if row else BLANK for row in rows]


def beside(left: Sequence[Row], right: Sequence[Row], *, left_width: int, gap: int = 3) -> list[Row]:
    """Put two blocks of rows next to each other."""
    height = max(len(left), len(right))
    both = [(left[i] if i < len(left) else BLANK, right[i] if i < len(right) else BLANK) for i in range(height)]
    return [(*pad_row(a, left_width), RowPart(" " * gap), *b) for a, b in both]


def slice_row(row: Row, start: int, end: int) -> Row:
    """Take the characters from `start` up to `end` of a row."""
    taken: list[RowPart] = []
    at = 0
    for part in row:
        piece = part.text[max(start - at, 0) : max(end - at, 0)]
        if piece:
            taken.append(RowPart(piece, part.tone))
        at += len(part.text)
    return tuple(taken)


def wrap(row: Row, width: int) -> list[Row]:
    """Break a row into rows of at most `width` cells, between words where there are any."""
    return [slice_row(row, start, end) for start, end in _breaks(text_of(row), max(width, 1))]


def _breaks(text: str, width: int) -> Iterator[tuple[int, int]]:
    start = 0
    while cell_len(ahead := _ahead(text, start, width)) > width:
        fitting = max(len(set_cell_size(ahead, width).rstrip()), 1)
        space = text.rfind(" ", start + 1, start + fitting + 1)
        slash = text.rfind("/", start + 1, start + fitting)
        stop = space if space > start else slash + 1 if slash > start else start + fitting
        yield start, stop
        start = stop
        while text.startswith(" ", start):
            start += 1
    yield start, len(text)


def _ahead(text: str, start: int, width: int) -> str:
    """Take as much as fills a row, and more: measuring all that is left at each break took 40 s of 360 kB."""
    reach = 2 * width
    while start + reach < len(text) and cell_len(text[start : start + reach]) <= width:
        reach *= 2
    return text[start : start + reach]


def labelled(label: str, row: Row, width: int, *, limit: int = 0) -> list[Row]:
    """Write a fact behind its label, wrapped; at most `limit` rows where one is given."""
    text = text_of(row)
    spans = list(islice(_breaks(text, max(width - LABEL_WIDTH, 1)), limit + 1 if limit else None))
    lines = [slice_row(row, start, end) for start, end in spans]
    if limit and len(lines) > limit:
        rest = slice_row(row, spans[limit - 1][0], len(text))
        lines = [*lines[: limit - 1], cut_row(rest, width - LABEL_WIDTH)]
    return [(cell(label if at == 0 else "", LABEL_WIDTH, "dim"), *line) for at, line in enumerate(lines)]


def marked(text: str, spans: Iterable[tuple[int, int]], tone: Tone, base: Tone = "") -> Row:
    """Give character ranges of a text another tone; spans rise and do not overlap."""
    parts: list[RowPart] = []
    at = 0
    for start, end in spans:
        parts += [RowPart(text[at:start], base), RowPart(text[start:end], tone)]
        at = end
    parts.append(RowPart(text[at:], base))
    return tuple(part for part in parts if part.text)


def toned(text: str, spans: Iterable[tuple[int, int, Tone]], base: Tone = "") -> Row:
    """Give character ranges of a text each a tone of its own; spans rise and do not overlap."""
    parts: list[RowPart] = []
    at = 0
    for start, end, tone in spans:
        parts += [RowPart(text[at:start], base), RowPart(text[start:end], tone)]
        at = end
    parts.append(RowPart(text[at:], base))
    return tuple(part for part in parts if part.text)


def between(rows: Iterable[Row], gap: str, tone: Tone = "dim") -> Row:
    """Join rows into one, with a gap between them."""
    joined: list[RowPart] = []
    for row in rows:
        joined += [RowPart(gap, tone), *row] if joined else row
    return tuple(joined)


def ascii_of(text: str) -> str:
    """Write a text in ASCII, as wide as it was; what is no mark of ours becomes "?"."""
    translated = text if text.isascii() else text.translate(_TABLE)
    if translated.isascii():
        return translated
    return "".join(char if char.isascii() else "?" * cell_len(char) for char in translated)
