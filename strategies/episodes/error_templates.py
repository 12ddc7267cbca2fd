"""A small Drain tree: groups masked lines that differ only in values, and says which words vary.

Source: He et al., "Drain: An online log parsing approach with fixed depth tree", ICWS 2017. It differs in two
points: it is built over the sorted distinct texts, so the order of scanning cannot matter, and what names a
value never varies: a word that ends in a colon (`no such table: x`, `no such column: x`), and what comes before
a mask or an equals sign in one (`(uid=<*>)`, `LOGIN(uid=<*>)`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.episodes.error_fingerprint import WILDCARD

if TYPE_CHECKING:
    from collections.abc import Iterable

SIMILARITY: Final = 0.6
"""The share of equal words from which two lines are one template: measured on loghub, see test_drain."""

_Words = tuple[str, ...]


class _Cluster:
    """One group of lines: its words so far, `<*>` where they were seen to vary."""

    def __init__(self, words: _Words) -> None:
        self.words = words

    def likeness(self, words: _Words) -> float:
        same = sum(own == other for own, other in zip(self.words, words, strict=True))
        return same / len(words)

    def absorb(self, words: _Words) -> None:
        pairs = zip(self.words, words, strict=True)
        self.words = tuple(own if own == other else WILDCARD for own, other in pairs)


def templates_of(texts: Iterable[str]) -> dict[str, str]:
    """Give the template of every masked text; the same set of texts always gives the same templates."""
    leaves: dict[_Words, list[_Cluster]] = {}
    clusters: dict[str, _Cluster] = {}
    for text in sorted(set(texts)):
        words = tuple(text.split())
        clusters[text] = _place(leaves.setdefault(_path(words), []), words)
    return {text: " ".join(cluster.words) for text, cluster in clusters.items()}


def _path(words: _Words) -> _Words:
    """Give the way through the tree: length, first word, and the names of values, which never vary."""
    first = WILDCARD if not words or _varies(words[0]) else words[0]
    names = ((place, _name(word)) for place, word in enumerate(words))
    return (str(len(words)), first, *(f"{place} {name}" for place, name in names if name))


def _name(word: str) -> str:
    """Give the part of a word that names a value, "" where none does."""
    if word.endswith(":"):
        return "" if _varies(word) else word
    before, mark, _ = word.partition(WILDCARD if WILDCARD in word else "=")
    return before if mark else ""


def _varies(word: str) -> bool:
    return WILDCARD in word or any(char.isdigit() for char in word)


def _place(leaf: list[_Cluster], words: _Words) -> _Cluster:
    best = max(leaf, key=lambda cluster: cluster.likeness(words), default=None)
    if best is None or (words and best.likeness(words) < SIMILARITY):
        best = _Cluster(words)
        leaf.append(best)
    else:
        best.absorb(words)
    return best
