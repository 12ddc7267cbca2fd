"""Differences between two texts, by line and by word, for people to read."""

from __future__ import annotations

import re
from collections import defaultdict, deque
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import groupby
from typing import TYPE_CHECKING, Final, Literal
from unicodedata import category

from registry.state.line_match import Gap, gaps, match

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Span = tuple[int, int]

# Below this share of common words two lines are different lines, not versions of one (difflib's own cutoff
# for "close" is .6; shorter, templated skill lines read better a little lower. A guess).
ALIKE = 0.5

_SIGNS: Final = {" ": "·", "\t": "→", "\r": "␍", "\n": "␊"}
_OTHER_BLANK: Final = "⍽"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line of a diff: kept " ", added "+", removed "-", or "?" where unchanged lines are left out.

    Line numbers count from 1 and are None on the side where the line is not; `text` keeps its ending. `spans`
    are the (start, end) character ranges that changed, where the line has a counterpart on the other side.
    """

    kind: Literal[" ", "+", "-", "?"]
    text: str
    old_no: int | None
    new_no: int | None
    spans: tuple[Span, ...] = ()


def line_diff(old: Sequence[str], new: Sequence[str]) -> list[DiffLine]:
    """Compare two texts given as lines; every line of both appears, removed ones before added ones."""
    pairs = [(i, j) for i, j in match(old, new) if old[i] == new[j]]
    changes = {(gap.old_start, gap.new_start): gap for gap in gaps(pairs, Gap(0, len(old), 0, len(new)))}
    stops = [*pairs, (len(old), len(new))]
    rows: list[DiffLine] = []
    i = j = 0
    for stop_old, stop_new in stops:
        if (i, j) in changes:
            rows += _change(old, new, changes[i, j])
        if stop_old < len(old):
            rows.append(DiffLine(" ", old[stop_old], stop_old + 1, stop_new + 1))
        i, j = stop_old + 1, stop_new + 1
    return rows


def shorten(rows: Sequence[DiffLine], context: int = 3) -> list[DiffLine]:
    """Keep what changed with `context` lines around it; a "?" line says how many lines are left out."""
    near: set[int] = set()
    for at, row in enumerate(rows):
        if row.kind != " ":
            near.update(range(at - context, at + context + 1))
    kept: list[DiffLine] = []
    left_out = 0
    for at, row in enumerate(rows):
        if at in near:
            kept += _left_out(left_out)
            kept.append(row)
            left_out = 0
        else:
            left_out += 1
    return kept + _left_out(left_out)


def with_blanks_shown(rows: Sequence[DiffLine]) -> list[DiffLine]:
    """Write blanks that changed as signs, in lines that differ in nothing else: they would look the same.

    Each blank is shown as one sign, so that spans stay where they are; an ending has signs where it changed.
    """
    shown: list[DiffLine] = []
    for is_change, of_one_kind in groupby(rows, lambda row: row.kind in "+-"):
        block = list(of_one_kind)
        shown += _block_shown(block) if is_change else block
    return shown


def _block_shown(block: list[DiffLine]) -> list[DiffLine]:
    """Show the blanks of one change: each added line is compared with the next removed one of the same words."""
    waiting: dict[tuple[str, ...], deque[int]] = defaultdict(deque)
    for at, row in enumerate(block):
        words = tuple(row.text.split())
        if row.kind == "-":
            waiting[words].append(at)
        elif waiting[words]:
            before = waiting[words].popleft()
            block[before], block[at] = _blanks_shown(block[before], row)
    return block


def _blanks_shown(old: DiffLine, new: DiffLine) -> tuple[DiffLine, DiffLine]:
    same_ending = ending(old.text) == ending(new.text)
    both = zip((old, new), word_spans(old.text, new.text), strict=True)
    before, after = (_signs_in(row, spans, within_line=same_ending) for row, spans in both)
    return before, after


def _signs_in(row: DiffLine, spans: Sequence[Span], *, within_line: bool) -> DiffLine:
    """Write the blanks in some spans as signs; `within_line` leaves the ending of the line as it is."""
    stop = len(row.text) - len(ending(row.text)) if within_line else len(row.text)
    spans = tuple((start, min(end, stop)) for start, end in spans if start < stop)
    chars = list(row.text)
    for start, end in spans:
        chars[start:end] = map(_sign, chars[start:end])
    return replace(row, text="".join(chars), spans=spans)


def _sign(char: str) -> str:
    """Write a blank as a sign; one that steers terminals is left to those who print it."""
    return _SIGNS.get(char) or (_OTHER_BLANK if category(char) == "Zs" else char)


def ending(text: str) -> str:
    """Return how a line ends: LF, CRLF, or "" where it has no ending."""
    return text[len(text.rstrip("\r\n")) :]


def word_spans(old: str, new: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Find the character ranges that differ between two lines, in whole words."""
    words_old, words_new = _words(old), _words(new)
    matcher = SequenceMatcher(None, [w for w, _ in words_old], [w for w, _ in words_new], autojunk=False)
    left: list[Span] = []
    right: list[Span] = []
    for tag, i1, i2, j1, j2 in matcher.get_opcodes():
        if tag != "equal":
            left += _range(words_old, i1, i2)
            right += _range(words_new, j1, j2)
    return tuple(left), tuple(right)


def _change(old: Sequence[str], new: Sequence[str], gap: Gap) -> list[DiffLine]:
    removed = range(gap.old_start, gap.old_end)
    added = range(gap.new_start, gap.new_end)
    spans_old: dict[int, tuple[Span, ...]] = {}
    spans_new: dict[int, tuple[Span, ...]] = {}
    for i, j in _counterparts(old, new, removed, added):
        spans_old[i], spans_new[j] = word_spans(old[i], new[j])
    return [
        *(DiffLine("-", old[i], i + 1, None, spans_old.get(i, ())) for i in removed),
        *(DiffLine("+", new[j], None, j + 1, spans_new.get(j, ())) for j in added),
    ]


def _counterparts(
    old: Sequence[str], new: Sequence[str], removed: Sequence[int], added: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Pair the lines of a change that are versions of each other, both rising."""
    if len(removed) == len(added):
        yield from ((i, j) for i, j in zip(removed, added, strict=True) if is_reworded(old[i], new[j]))
        return
    start = 0
    for i in removed:
        for at in range(start, len(added)):
            if is_reworded(old[i], new[added[at]]):
                yield i, added[at]
                start = at + 1
                break


def is_reworded(old: str, new: str, least: float = ALIKE) -> bool:
    """Tell whether two lines are versions of each other: this share of their words is the same, in order."""
    words_old, words_new = old.split(), new.split()
    matcher = SequenceMatcher(None, words_old, words_new, autojunk=False)
    return matcher.real_quick_ratio() >= least and matcher.quick_ratio() >= least and matcher.ratio() >= least


def _words(text: str) -> list[tuple[str, Span]]:
    return [(token[0], token.span()) for token in re.finditer(r"\w+|\s+|[^\w\s]", text)]


def _range(words: Sequence[tuple[str, Span]], start: int, end: int) -> list[Span]:
    return [(words[start][1][0], words[end - 1][1][1])] if end > start else []


def _left_out(count: int) -> list[DiffLine]:
    return [DiffLine("?", f"{count} unchanged lines\n" if count > 1 else "1 unchanged line\n", None, None)] * (
        count > 0
    )
