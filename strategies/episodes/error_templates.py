"""Templates of masked lines: which lines are the same but for their values, and which words of them vary.

Lines of as many words that begin alike are compared, as in Drain (He et al., ICWS 2017), but by the set of all
distinct texts, so the order of scanning cannot matter. A word that holds a value counts as that value whatever
its form. A word without one varies if the same line has many others there (`MANY`), or with any other
behind what names a value (`user x`, `no such table: x`). What names a value (`uid=`, `table:`) never varies.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from strategies.episodes.error_fingerprint import WILDCARD

if TYPE_CHECKING:
    from collections.abc import Iterable

MANY: Final = 5
"""How many distinct words in one place of otherwise equal lines are values; fewer may be states that differ."""

FEW: Final = 3
"""How many distinct pairs of words in two places beside each other are values."""

LIKE: Final = 0.6
"""The share of words that a line must have in common with a known template to belong to it."""

_Words = tuple[str, ...]

_ROUNDS: Final = 4
"""In a line with several words that vary, each is seen to once those beside it are (guess: more are rare)."""

_VALUE: Final = re.compile(
    r"(?:[a-z][\w+.-]*://)?(?:<\*>|[\w$%~@+-]|[./\\#](?![./\\#]))*<\*>(?:<\*>|[\w$%~@+-]|[./\\#](?![./\\#]))*"
)
"""A value with what is written to it: `blk_<*>`, `<*>ms`, `/<*>`. Rows of dots, colons, equals signs divide."""
_VALUES: Final = re.compile(r"<\*>(?::<\*>)+")
_NUMBERED: Final = re.compile(r"[A-Za-z]+\d+[,;]?")
_TRUTH: Final = re.compile(r"\b(?i:true|false)\b")
_EMPTY: Final = {"()": "(<*>)", "[]": "[<*>]", "{}": "{<*>}", "''": "<*>", '""': "<*>"}
_UNIT: Final = re.compile(r"[KMGT]?i?B[,;)]*")
_ANY_UNIT: Final = "\0"
_UNITS: Final = re.compile(r"<\*> \0")
_NAMED: Final = re.compile(r"(.*[=(\[{])[^=(\[{]*")
_NAMES_NEXT: Final = re.compile(r"(?i)(?:user|host|class|table|column|module|package|command|named)")
_NAME: Final = re.compile(r"[a-z_-](?:[\w-]|<\*>)*")
_OUTCOME: Final = re.compile(r"[a-z]*(?:ed|ing|en|ok|done)")
_DELIMITERS: Final = re.compile(r"[=:/()\[\]{}@#.,;_-]")
_DIGITS: Final = re.compile(r"\d+[,;]?$")


def templates_of(texts: Iterable[str], known: Iterable[str] = ()) -> dict[str, str]:
    """Give the template of every masked text; the same set of texts always gives the same templates.

    `known` are templates that something rests on already: a text that fits one belongs to it.
    """
    stored = {text: _key(tuple(text.split())) for text in known}
    fixed: dict[tuple[int, str], dict[_Words, None]] = {}
    for key in sorted(stored.values()):
        if WILDCARD in key:
            fixed.setdefault((len(key), key[0]), {})[key] = None
    members: dict[_Words, list[str]] = {}
    for text in sorted(stored.keys() | set(texts)):
        key = stored.get(text) or _key(tuple(text.split()))
        if key and text not in stored:
            first = (*fixed.get((len(key), key[0]), ()), *fixed.get((len(key), WILDCARD), ()))
            key = next((other for other in first if _covers(other, key)), key)
        members.setdefault(key, []).append(text)
    for _ in range(_ROUNDS):
        merged = _merged(members)
        if len(merged) == len(members):
            break
        members = merged
    templates = dict[str, str]()
    for group in members.values():
        templates.update(dict.fromkeys(group, _template([tuple(text.split()) for text in group])))
    return templates


def _template(group: list[_Words]) -> str:
    """Give the template of lines of one group; behind what names a value, all of a word is one."""
    words = list[str]()
    for place, column in enumerate(zip(*group, strict=True)):
        word = _word(sorted(set(column)))
        words.append(WILDCARD if WILDCARD in word and _is_named(group[0], place) else word)
    return _UNITS.sub(WILDCARD, " ".join(words))


def _covers(known: _Words, key: _Words) -> bool:
    """Tell whether a line fits a known template, of which enough is no value."""
    same = 0
    for own, other in zip(known, key, strict=True):
        if own == other:
            same += own != WILDCARD
        elif own != WILDCARD and (WILDCARD not in own or own != _name(other) + WILDCARD):
            return False
    return known == key or same >= LIKE * len(key)


def _key(words: _Words) -> _Words:
    """Give what the words have in common with those of the same template, as far as one line tells."""
    key = list(words)
    for place, word in enumerate(words):
        key[place] = _form(word)
        if _is_named(words, place):
            key[place] = WILDCARD
        elif place and _UNIT.fullmatch(word) and key[place - 1].endswith(WILDCARD):
            key[place] = "B"
    return tuple(key)


@lru_cache(maxsize=8192)
def _form(word: str) -> str:
    if word[-1:] == ":" and WILDCARD not in word:
        return word
    word = _TRUTH.sub(WILDCARD, word)
    if WILDCARD in word:
        return _VALUES.sub(WILDCARD, _VALUE.sub(WILDCARD, word))
    return WILDCARD if _NUMBERED.fullmatch(word) else _EMPTY.get(word, word)


def _is_named(words: _Words, place: int) -> bool:
    """Tell whether a word follows what names it, or ends a line behind a colon and is no outcome."""
    if place == 0:
        return False
    word, before = words[place], words[place - 1]
    ends = 1 < place == len(words) - 1 and before.endswith(":")
    return _NAMES_NEXT.fullmatch(before) is not None or (
        ends and _NAME.fullmatch(word) is not None and _OUTCOME.fullmatch(word) is None
    )


def _merged(members: dict[_Words, list[str]]) -> dict[_Words, list[str]]:
    """Put together the groups that differ in a word that varies, or in two beside each other that do."""
    others: dict[tuple[_Words, int], set[str]] = {}
    pairs: dict[tuple[_Words, _Words], set[_Words]] = {}
    for key in members:
        for place in range(1, len(key)):
            others.setdefault(_hole(key, place), set()).add(key[place])
            if place + 1 < len(key):
                pairs.setdefault((key[:place], key[place + 2 :]), set()).add(key[place : place + 2])
    merged: dict[_Words, list[str]] = {}
    for key, group in members.items():
        varies = {place for place in range(1, len(key)) if _varies(others[_hole(key, place)], _name(key[place]))}
        for place in range(1, len(key) - 1):
            if len(key) - 2 >= LIKE * len(key) and _vary_together(pairs[key[:place], key[place + 2 :]]):
                varies |= {place, place + 1}
        words = tuple(_name(word) + WILDCARD if place in varies else word for place, word in enumerate(key))
        merged.setdefault(words, []).extend(group)
    return merged


def _vary_together(pairs: set[_Words]) -> bool:
    """Tell whether two words are values, such as a name in two parts: a few, none of which occurs twice."""
    firsts, seconds = {first for first, _ in pairs}, {second for _, second in pairs}
    return len(firsts) == len(seconds) == len(pairs) >= FEW


def _varies(words: set[str], name: str) -> bool:
    """Tell whether what is in one place are values: many, or any behind a name that had a value before."""
    valued = name.endswith("=") and len(words) > 1 and any(WILDCARD in word for word in words)
    return valued or len(words) >= MANY


def _hole(key: _Words, place: int) -> tuple[_Words, int]:
    return (*key[:place], _name(key[place]), *key[place + 1 :]), place


def _name(word: str) -> str:
    """Give the part of a word that names a value, which never varies."""
    if word.endswith(":"):
        return word
    named = _NAMED.fullmatch(word)
    return named[1] if named else ""


def _word(words: list[str]) -> str:
    """Give a word of a template: what its forms begin and end with, and `<*>` for what is between."""
    if len(words) == 1:
        return words[0]
    if all(map(_UNIT.fullmatch, words)):
        return _ANY_UNIT + words[0].lstrip("KMGTiB")
    begin, end = _common(words), _common([word[::-1] for word in words])[::-1]
    shortest = min(map(len, words))
    if len(begin) + len(end) > shortest:
        end = end[len(begin) + len(end) - shortest :]
    if not (all(map(_NUMBERED.fullmatch, words)) and len({_DIGITS.sub("", word) for word in words}) == 1):
        begin = begin[: max((cut.end() for cut in _DELIMITERS.finditer(begin)), default=0)]
    after = _DELIMITERS.search(end)
    end = end[after.start() :] if after else ""
    return _VALUES.sub(WILDCARD, (begin + WILDCARD + end).replace("<*><*>", WILDCARD))


def _common(words: list[str]) -> str:
    """Give what all words begin with."""
    first, last = min(words), max(words)
    same = 0
    while same < len(first) and first[same] == last[same]:
        same += 1
    return first[:same]
