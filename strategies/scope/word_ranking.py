"""Ranking texts by words: to which text some words are nearest, by BM25, and by what margin over the next one.

A score is the BM25 sum over the sum that a text would reach which held every word as often as one likes: 0 where
they share nothing, under 1 always. So one chance word among many is little, whatever the other texts are.
Source: Robertson and Zaragoza 2009, with the usual k1 and b; the idf is Lucene's, which is never negative.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import fsum, log
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

K1: Final = 1.2
B: Final = 0.75
MARGIN: Final = 0.1
"""The least lead over the next text with which something is assigned (a guess; docs/commands.md states it)."""
_SHOWN: Final = 3
"""Shared words that are named."""
_KNOWN_WORDS: Final = 16_384
"""Words whose form is kept at hand: requests share most of theirs."""
_WORD: Final = re.compile(r"[^\W\d_]+")
_JOINT: Final = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where words of a name meet: `existsSync`, `HTTPServer`."""
_PLURAL: Final = re.compile(r"(?<=[a-z]{2}[^su\W])s$")
_SIBILANT: Final = re.compile(r"(?<=ch|sh)e$")
_COMMON: Final = frozenset(
    (
        *(
            "about",
            "after",
            "all",
            "also",
            "an",
            "and",
            "any",
            "are",
            "as",
            "at",
            "be",
            "been",
            "before",
            "but",
            "by",
            "call",
            "can",
        ),
        *("cannot", "command", "could", "did", "do", "doe", "done", "each", "error", "exist", "fail", "failed"),
        *(
            "failure",
            "file",
            "find",
            "first",
            "for",
            "found",
            "from",
            "get",
            "given",
            "had",
            "has",
            "have",
            "how",
            "if",
            "in",
        ),
        *(
            "into",
            "invalid",
            "is",
            "it",
            "its",
            "line",
            "make",
            "may",
            "message",
            "more",
            "most",
            "must",
            "name",
            "named",
        ),
        *(
            "new",
            "no",
            "not",
            "nothing",
            "of",
            "on",
            "one",
            "only",
            "or",
            "other",
            "out",
            "over",
            "path",
            "read",
            "run",
        ),
        *(
            "running",
            "see",
            "set",
            "should",
            "so",
            "some",
            "step",
            "such",
            "than",
            "that",
            "the",
            "their",
            "them",
            "then",
        ),
        *(
            "there",
            "these",
            "they",
            "this",
            "to",
            "tool",
            "two",
            "unexpected",
            "unknown",
            "until",
            "up",
            "use",
            "used",
        ),
        *(
            "using",
            "value",
            "was",
            "were",
            "what",
            "when",
            "where",
            "which",
            "while",
            "who",
            "will",
            "with",
            "without",
        ),
        *("work", "would", "you", "your"),
    )
)
"""English that says nothing of a subject, and what every error says."""


def words_of(text: str) -> list[str]:
    """Split a text into the words it is compared by: lower case, no plural, none that says nothing."""
    return [_singular(word) for word in telling_words(text)]


def telling_words(text: str) -> list[str]:
    """Split a text into its words in lower case, without those that say nothing."""
    words = (word.lower() for word in _WORD.findall(_JOINT.sub(" ", text)))
    return [word for word in words if _tells(word)]


@lru_cache(maxsize=_KNOWN_WORDS)
def _tells(word: str) -> bool:
    return len(_singular(word)) > 1 and not {word, _singular(word)} & _COMMON


@lru_cache(maxsize=_KNOWN_WORDS)
def _singular(word: str) -> str:
    return _SIBILANT.sub("", _PLURAL.sub("", word))


class Nearest(NamedTuple):
    """The nearest text by its name, "" where none shares a word; its score, its lead, and the words it shares."""

    name: str = ""
    score: float = 0.0
    margin: float = 0.0
    shared: tuple[str, ...] = ()


@dataclass(frozen=True)
class TextIndex:
    """Texts by name, each as its words with how often they count."""

    texts: Mapping[str, Mapping[str, float]]

    @cached_property
    def _containing(self) -> Counter[str]:
        return Counter(word for text in self.texts.values() for word in text)

    @cached_property
    def _lengths(self) -> dict[str, float]:
        """The length of each text over that of a mean one."""
        sizes = {name: sum(text.values()) for name, text in self.texts.items()}
        mean = sum(sizes.values()) / len(sizes) or 1.0
        return {name: size / mean for name, size in sizes.items()}

    def scores(self, asked: Mapping[str, float], among: Iterable[str] | None = None) -> dict[str, float]:
        """Score each text, or each of some, against weighted words, in [0, 1), whatever their order."""
        most = fsum(weight * self._idf(word) for word, weight in asked.items())
        names = self.texts if among is None else among
        return {name: fsum(self._addends(asked, name).values()) / most if most else 0.0 for name in names}

    def nearest(self, asked: Mapping[str, float], among: Iterable[str] | None = None) -> Nearest:
        """Find the text that scores highest; of equals the first by name, with a margin of 0."""
        scores = self.scores(asked)
        ranked = sorted((-scores[name], name) for name in (scores if among is None else among))
        if not ranked or not ranked[0][0]:
            return Nearest()
        best, name = -ranked[0][0], ranked[0][1]
        addends = self._addends(asked, name)
        shared = sorted(addends, key=lambda word: (-addends[word], word))[:_SHOWN]
        return Nearest(name, best, best + ranked[1][0] if len(ranked) > 1 else best, tuple(shared))

    def _addends(self, asked: Mapping[str, float], name: str) -> dict[str, float]:
        text, norm = self.texts[name], K1 * (1 - B + B * self._lengths[name])
        return {
            word: weight * self._idf(word) * text[word] / (text[word] + norm)
            for word, weight in asked.items()
            if word in text
        }

    def _idf(self, word: str) -> float:
        """Weigh a word by how few texts hold it; one that none holds counts as if one did."""
        holding = max(self._containing[word], 1)
        return log(1 + (len(self.texts) - holding + 0.5) / (holding + 0.5))
