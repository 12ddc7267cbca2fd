"""Keys: what a record keeps in the place of a text, so that equal texts are known without keeping them."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from xxhash import xxh3_64_intdigest, xxh3_128_digest

KEY_BYTES: Final = 16
"""128 bits: no two of 10^12 keys meet by chance."""


def bytes_key(raw: bytes | str) -> bytes:
    """Hash a text, b"" for none.

    XXH3 takes a twentieth of the time of SHA-256, and no two texts meet by chance. It does not stop a writer who
    wants two texts to be one; who writes the log can as well write the same text twice.
    """
    if isinstance(raw, str):
        raw = _bytes(raw)
    return xxh3_128_digest(raw) if raw else b""


_WORD_BITS: Final = 24
"""Enough to tell the words of an episode apart, too few to find a secret by."""
_MOST_WORDS: Final = 16
_LEAST_CHARS: Final = 3
_KNOWN_WORDS: Final = 4_096
"""Words that are at hand: a log has few, and many times each."""
_WORD: Final = re.compile(r"[^\s'\"`;|&<>(){}\[\],=]+")


def word_keys(text: str) -> tuple[int, ...]:
    """Hash the words of a short text, sorted: paths by their last part, neither flags nor bare numbers."""
    first = list(dict.fromkeys(filter(None, map(_kept, _WORD.findall(text)))))[:_MOST_WORDS]
    return tuple(sorted(set(map(word_key, first))))


@lru_cache(maxsize=_KNOWN_WORDS)
def _kept(word: str) -> str:
    """Give what is kept of a word, "" for nothing."""
    word = word.strip(".:,!?").rstrip("/").rpartition("/")[2]
    return word if len(word) >= _LEAST_CHARS and word[0] != "-" and not word.isdigit() else ""


@lru_cache(maxsize=_KNOWN_WORDS)
def word_key(word: str) -> int:
    """Hash one word to so few bits that it cannot be found again."""
    return xxh3_64_intdigest(_bytes(word)) >> 64 - _WORD_BITS


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
