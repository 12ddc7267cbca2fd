"""Which lines of an old text are still there in a new one: patience matching, and nothing else."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class Gap(NamedTuple):
    """Old lines `old_start:old_end` became new lines `new_start:new_end`; one of the two may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


def match(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pair the lines that stayed, as (old index, new index), both rising.

    Lines that stand once on both sides anchor first, then duplicates pair in order; what lies between two
    pairs shares no line at all. A line without an ending equals the same line with one.
    """
    left, right = [_key(text) for text in old], [_key(text) for text in new]
    pairs: list[tuple[int, int]] = []
    open_gaps = [Gap(0, len(left), 0, len(right))]
    while open_gaps:
        gap = _trim(left, right, open_gaps.pop(), pairs)
        anchors = _rising(_unique(left, right, gap)) or _rising(_in_order(left, right, gap))
        if anchors:
            pairs += anchors
            open_gaps += gaps(anchors, gap)
    return sorted(pairs)


def gaps(pairs: Sequence[tuple[int, int]], whole: Gap) -> list[Gap]:
    """List what lies between rising pairs, in order, empty gaps left out."""
    between = []
    old_at, new_at = whole.old_start, whole.new_start
    for i, j in (*pairs, (whole.old_end, whole.new_end)):
        if i > old_at or j > new_at:
            between.append(Gap(old_at, i, new_at, j))
        old_at, new_at = i + 1, j + 1
    return between


def _key(text: str) -> str:
    """Only the last line of a file can lack its ending: it is the same line all the same."""
    return text.removesuffix("\n")


def _trim(left: list[str], right: list[str], gap: Gap, pairs: list[tuple[int, int]]) -> Gap:
    """Pair equal lines at both ends of a gap and return what is left of it."""
    a, b, c, d = gap
    while a < b and c < d and left[a] == right[c]:
        pairs.append((a, c))
        a, c = a + 1, c + 1
    while a < b and c < d and left[b - 1] == right[d - 1]:
        b, d = b - 1, d - 1
        pairs.append((b, d))
    return Gap(a, b, c, d)


def _unique(left: list[str], right: list[str], gap: Gap) -> list[tuple[int, int]]:
    """Pair lines that stand exactly once on each side, by old index."""
    a, b, c, d = gap
    once_left, once_right = Counter(left[a:b]), Counter(right[c:d])
    where = {right[j]: j for j in range(c, d) if once_right[right[j]] == 1}
    return [(i, where[left[i]]) for i in range(a, b) if once_left[left[i]] == 1 and left[i] in where]


def _in_order(left: list[str], right: list[str], gap: Gap) -> list[tuple[int, int]]:
    """Pair the k-th occurrence of a line on one side with the k-th on the other, by old index."""
    a, b, c, d = gap
    waiting: dict[str, list[int]] = {}
    for j in range(d - 1, c - 1, -1):
        waiting.setdefault(right[j], []).append(j)
    return [(i, waiting[left[i]].pop()) for i in range(a, b) if waiting.get(left[i])]


def _rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Keep the longest run of pairs whose new index rises too (patience sorting)."""
    tops: list[int] = []
    piles: list[int] = []  # position in `pairs` of each pile's top
    back: list[int] = []
    for at, (_, j) in enumerate(pairs):
        pile = bisect_left(tops, j)
        back.append(piles[pile - 1] if pile else -1)
        tops[pile : pile + 1] = [j]
        piles[pile : pile + 1] = [at]
    kept = []
    at = piles[-1] if piles else -1
    while at >= 0:
        kept.append(pairs[at])
        at = back[at]
    return kept[::-1]
