"""The ways in which a line can be read: as it is, without what hides in it, and decoded."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote_plus

from registry.skill_md.invisible_chars import hidden_characters

if TYPE_CHECKING:
    from collections.abc import Iterator

RUN: Final = "run"
"""How text is encoded that stands in a line as base64 or hexadecimal digits."""
LETTERS: Final = "letters"
"""How it is encoded where its letters are written in another way."""

_DEPTH: Final = 2
"""How often what was decoded is decoded again."""
_MOST_RUNS: Final = 32
"""Encoded runs of one piece that are looked into."""
_READABLE: Final = 0.9
"""The share of printable characters from which decoded text says something (a guess; random bytes reach .4)."""

_ASCII: Final = re.compile(r"[\t\n\r\x20-\x7e]*")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX: Final = re.compile(r"(?:[0-9a-fA-F]{2}[ :]?){12,}")
_ESCAPED: Final = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u\{?([0-9a-fA-F]{4,5})\}?|([0-7]{3}))")
_PERCENT: Final = re.compile(r"(?:%[0-9a-fA-F]{2}.{0,20}?){3}")
_SPACED: Final = re.compile(r"(?<!\S)\S(?: \S){3,}(?!\S)|\b\w(?:[._*-]\w\b){3,}")
_SPACED_SHORT: Final = re.compile(r"(?<!\S)\S(?: \S(?!\S))+|\b\w(?:[._*-]\w\b)+")
_LEET: Final = re.compile(r"[A-Za-z][0134579@$][A-Za-z]")
_LEET_LETTERS: Final = str.maketrans("0134579@$", "oieastgas")
_ROT13: Final = re.compile(
    r"\b(?:gur|lbhe?|naq|gb|nyy|sebz|bs|nal|guvf|vf|va)\b|vtabe|qryrgr|\bfraq\b|hcybnq|qvfertneq|sbetrg|cnffjbeq",
    re.IGNORECASE,
)
_REVERSED: Final = re.compile(r"\b(?:eht|ruoy|uoy|dna|ot|lla|morf|fo|yna|siht|si|ni)\b", re.IGNORECASE)
_WORDS: Final = re.compile(
    r"\b(?:the|to|and|all|your?|of|this|is|in|any|a|for|from|it|that|with|on|be)\b", re.IGNORECASE
)
_LOOKALIKES: Final = str.maketrans(
    "аеосрхуіјѕһԁɡԛԝкмтвнѵαεορχυικντβη",  # Cyrillic, then Greek
    "aeocpxyijshdgqwkmtbhvaeopxuikvtbn",
)


class LineReading(NamedTuple):
    """A line in lower case without accents; `encoded` says how it is, where it had to be decoded for that."""

    text: str
    encoded: str


def readings(piece: str) -> Iterator[LineReading]:
    """Give every reading of a piece of a line; the work is bounded by its length."""
    shown = visible(piece)
    plain = folded(shown)
    yield LineReading(plain, "")
    if not plain.isascii() and (alike := plain.translate(_LOOKALIKES)) != plain:
        yield LineReading(alike, "")
    for text, encoded in dict.fromkeys(_decoded(shown, _DEPTH)):
        yield LineReading(folded(visible(text)), encoded)


def says_something(text: str) -> bool:
    """Tell whether decoded text is a sentence, and no key, path or markup."""
    return len(_WORDS.findall(text)) >= 3  # noqa: PLR2004 - random letters give one now and then


def visible(text: str) -> str:
    """Take out what does not show; tags, which spell ASCII beside it, are written as what they spell."""
    if _ASCII.fullmatch(text):
        return text
    hidden = {chr(character.code) for character in hidden_characters(text)} - {"\n"}
    spelled = {char: chr(ord(char) - 0xE0000) if 0xE0020 <= ord(char) < 0xE007F else "" for char in hidden}  # noqa: PLR2004 - the block of tags
    return text.translate({ord(char): letter for char, letter in spelled.items()})


def folded(text: str) -> str:
    """Write a text in lower case, without accents and in the plain form of each letter."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", text)
    return "".join(char for char in apart if not unicodedata.combining(char)).casefold().replace("’", "'")


def _decoded(text: str, depth: int) -> Iterator[tuple[str, str]]:
    for inner, encoded in (
        *((run, RUN) for run in _of_runs(text)),
        *((way, LETTERS) for way in _of_letters(text)),
    ):
        yield inner, encoded
        if depth > 1 and len(inner) <= len(text):
            yield from _decoded(inner, depth - 1)


def _of_runs(text: str) -> Iterator[str]:
    """Decode runs of base64 and hexadecimal digits that hold text."""
    runs = [(_base64, match[0]) for match in _BASE64.finditer(text)]
    runs += [(_hex, match[0]) for match in _HEX.finditer(text)]
    for decode, run in runs[:_MOST_RUNS]:
        decoded_text = decode(run).decode(errors="replace")
        if decoded_text and sum(
            char.isprintable() or char in "\t\n\r" for char in decoded_text.replace("\ufffd", "\0")
        ) >= _READABLE * len(decoded_text):
            yield decoded_text


def _base64(run: str) -> bytes:
    if run.isalpha() and (run.islower() or run.isupper()):
        return b""
    body = run.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return base64.b64decode(body + "=" * (-len(body) % 4))
    except (binascii.Error, ValueError):
        return b""


def _hex(run: str) -> bytes:
    return bytes.fromhex(run.replace(":", " "))


def _of_letters(text: str) -> Iterator[str]:
    """Read what is written letter by letter in another way: escapes, entities, rot13, backwards, spaced, leet."""
    if "\\" in text and _ESCAPED.search(text):
        yield _ESCAPED.sub(_character, text)
    if "%" in text and _PERCENT.search(text):
        yield unquote_plus(text, errors="replace")
    if "&" in text and (unescaped := html.unescape(text)) != text:
        yield unescaped
    if _ROT13.search(text):
        yield codecs.decode(text, "rot13")
    if _REVERSED.search(text):
        yield text[::-1]
    if _SPACED.search(text):
        yield " ".join(_SPACED_SHORT.sub(lambda run: run[0][::2], text).split())
    if _LEET.search(text):
        yield text.translate(_LEET_LETTERS)


def _character(escape: re.Match[str]) -> str:
    code = int(escape[3], 8) if escape[3] else int(escape[1] or escape[2], 16)
    return chr(code) if code and not 0xD800 <= code < 0xE000 and code < 0x110000 else " "  # noqa: PLR2004 - surrogates
