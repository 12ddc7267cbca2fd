"""Redaction: secrets leave a text before it is stored."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.evidence.secret_rules import COUNTED, STRONG

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_NAME_CHARS: Final = 200
"""How long a name is at the most (guess); longer texts hardly recur."""


class Redaction(NamedTuple):
    """A place where a rule removed text: character offsets in the redacted text, end exclusive."""

    start: int
    end: int
    rule: str


class Leak(NamedTuple):
    """A secret that a scanner of its own found: the rule that knows it, and the text itself."""

    rule: str
    secret: str


def may_hold_secret(text: str) -> bool:
    """Tell, quicker than `redact` does, whether a text can hold a secret at all."""
    return _may_hold_secret_again(text) if len(text) <= _NAME_CHARS else _may_hold_secret(text)


def _may_hold_secret(text: str) -> bool:
    from registry.evidence.secret_search import holds_a_mark  # noqa: PLC0415 - what only shows redacts nothing

    return holds_a_mark(text.encode("utf-8", "surrogatepass"))


_may_hold_secret_again: Final = lru_cache(maxsize=4_096)(_may_hold_secret)
"""The same, with the last answers at hand: a log repeats its names on every line, a request those of its shape."""


def without_secrets(text: str) -> str:
    """Give a text, such as a name or a template, with every secret replaced by `[rule]`."""
    return redact(text)[0] if may_hold_secret(text) else text


def secret_lines(text: str) -> list[tuple[int, str]]:
    """Give the number, from 1, of each line where a secret begins, and the rule that knows it."""
    from registry.evidence.secret_search import secrets_in  # noqa: PLC0415 - as above

    raw = text.encode("utf-8", "surrogatepass")
    by_line: dict[int, str] = {}
    for start, _, name in sorted(secrets_in(raw), key=_in_order):
        by_line.setdefault(raw.count(b"\n", 0, start) + 1, name)
    return list(by_line.items())


def named_secret(name: str) -> bool:
    """Tell whether a name says that its value is a secret."""
    return _name_of_secret().search(name) is not None


def redact(text: str, leaks: Iterable[Leak] = ()) -> tuple[str, tuple[Redaction, ...]]:
    """Replace every secret by `[rule]` and say where, in offsets of the new text.

    `leaks` are secrets that another scanner found: they go wherever they stand.
    """
    raw = text.encode("utf-8", "surrogatepass")
    parts: list[str] = []
    marks: list[Redaction] = []
    done = length = 0
    for begins, end, name in sorted(_found(raw, leaks), key=_in_order):
        if end <= done:
            continue  # inside a secret that another rule already took
        start = max(begins, done)
        label = f"[{name}]" if begins >= done else ""  # the rest of one that another rule took in part
        kept = raw[done:start].decode("utf-8", "surrogatepass")
        length += len(kept)
        if label:
            marks.append(Redaction(length, length + len(label), name))
        parts += (kept, label)
        length += len(label)
        done = end
    return "".join([*parts, raw[done:].decode("utf-8", "surrogatepass")]), tuple(marks)


def _in_order(hit: tuple[int, int, str]) -> tuple[int, int]:
    """Put the secret that begins first, and of those the longest, before others; a rule of our own names it."""
    return hit[0], -hit[1]


def _found(raw: bytes, leaks: Iterable[Leak]) -> Iterator[tuple[int, int, str]]:
    from registry.evidence.secret_search import secrets_in  # noqa: PLC0415 - what only shows redacts nothing

    yield from secrets_in(raw)
    for leak in leaks:
        secret = leak.secret.encode("utf-8", "surrogatepass")
        at = raw.find(secret) if secret else -1
        while at >= 0:
            yield at, at + len(secret), leak.rule
            at = raw.find(secret, at + len(secret))


@cache
def _name_of_secret() -> re.Pattern[str]:
    return re.compile(rf"(?i)(?:{STRONG}|{COUNTED})$")
