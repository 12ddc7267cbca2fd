"""The rules of text that instructs an agent against its user: who is addressed, what is ordered, to what end.

Words are grouped into classes (injection_words.py), and those of a sentence are found in one pass. A rule is a
condition over classes, not a phrase: "send", "your keys" and an address make one wherever in a sentence they
stand, unless it forbids. Every way to read a line is looked at (text_readings.py).
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final

import re2

from registry.skill_md.invisible_chars import HIDDEN, hidden_characters
from strategies.gate.injection_acts import ACTIONS, ORDERS
from strategies.gate.injection_moods import MOODS
from strategies.gate.injection_words import DIRECTED, MARK
from strategies.gate.text_readings import RUN, readings, says_something

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from collections.abc import Set as AbstractSet

HIDDEN_CHARACTERS: Final = "hidden characters"
ENCODED: Final = "encoded text"
OVERRIDE: Final = "text that overrides instructions"
SECRETS: Final = "a request for secrets"
DESTROY: Final = "an order to destroy"
UNGUARD: Final = "an order to drop safeguards"
MISUSE: Final = "an order to misuse a tool"
CONCEAL: Final = "an order to hide something from the user"
PERSIST: Final = "text that wants to be written down"
POLICY: Final = "a policy as a pretext"
AUTHORITY: Final = "a claim of authority"
PASSING: Final = "a request to an agent in passing"
HIDDEN_MARKUP: Final = "words hidden by markup"

_PIECE: Final = 1_000
"""Characters that are looked at together; a longer line is cut into pieces that overlap."""
_OVERLAP: Final = 200
_SENTENCE: Final = re.compile(r"(?<=[.!?;:])\s+|\s[–—]\s|\n")

_ORDER: Final = re2.compile(DIRECTED)
_MARK: Final = MARK.encode()
_CLEARED: Final = re2.compile(r"\b(do not|don't|never) (forget|hesitate|fail|neglect|omit) to\b")
_FORBIDDEN: Final = re2.compile(
    r"\bwithout (?:any )?(?:secrets?|credentials|passwords?|tokens?)\b|\b(?:never|do not|don't|does not|doesn't"
    r"|must not|mustn't|should not|shouldn't|cannot|can't|may not|not to|without ever|refuses? to"
    r"|no need to|not)\b"
    r"(?:, [^,]{0,40},)?(?: [^\s,;:.!?()]+){0,9}"
)


class _Classes:
    """Patterns that are looked for in one pass."""

    def __init__(self, patterns: dict[str, str]) -> None:
        self._names = tuple(patterns)
        options = re2.Options()
        options.max_mem = 64 << 20
        self._set = re2.Set.SearchSet(options)
        for pattern in patterns.values():
            self._set.Add(pattern)
        self._set.Compile()

    def of(self, raw: bytes) -> frozenset[str]:
        """Name the classes that a text holds words of."""
        return frozenset([self._names[at] for at in self._set.Match(raw) or ()])


@cache
def _moods() -> _Classes:
    return _Classes(MOODS)


@cache
def _actions() -> _Classes:
    return _Classes(ACTIONS)


@cache
def _orders() -> _Classes:
    return _Classes(ORDERS)


def instructing(line: str) -> tuple[str, ...]:
    """Name what in a line instructs an agent against its user, or does not show; nothing for what is harmless."""
    names = [HIDDEN_CHARACTERS] if HIDDEN in line or hidden_characters(line) else []
    for piece in _pieces(line):
        for text, encoded in readings(piece):
            named = _named(text)
            if encoded and (named or (encoded == RUN and says_something(text))):
                names.append(ENCODED)
            names += named
    return tuple(dict.fromkeys(names))


def _pieces(line: str) -> Iterator[str]:
    for start in range(0, max(len(line) - _OVERLAP, 1), _PIECE - _OVERLAP):
        yield line[start : start + _PIECE]


def _named(text: str) -> list[str]:
    """Apply every rule to one reading of a line.

    RE2 reads bytes: with texts it counts characters again for every match, which takes twice as long in all.
    """
    raw = text.encode()
    moods = _moods().of(raw)
    allowed = _FORBIDDEN.sub(lambda _: b" ", _CLEARED.sub(lambda _: b"please", raw)).decode()
    sentences = [_acts(sentence.encode()) for sentence in _SENTENCE.split(allowed) if sentence.strip()]
    named = dict.fromkeys(name for acts in sentences for name in _ordered(acts, moods))
    risky = any(_risky(acts) for acts in sentences) or bool(moods & _OVERRIDING)
    return [
        *(name for name, holds in _by_mood(moods, risky=risky or bool(named), ordered=bool(named)) if holds),
        *named,
    ]


def _acts(sentence: bytes) -> AbstractSet[str]:
    """Name the classes of one sentence, with those of what it orders."""
    return _actions().of(sentence) | _orders().of(_ORDER.sub(lambda order: order[0] + _MARK, sentence))


_OVERRIDING: Final = frozenset({"discard", "discard all", "discard given", "void", "again", "unbound"})


def _by_mood(moods: AbstractSet[str], *, risky: bool, ordered: bool) -> Iterator[tuple[str, bool]]:
    """Apply the rules about who speaks to whom; each but the first asks for something risky besides."""
    yield OVERRIDE, bool(moods & (_OVERRIDING | {"role", "tongues"}))
    yield AUTHORITY, risky and "authority" in moods
    yield POLICY, risky and "policy" in moods and (ordered or "duty" in moods)
    yield PASSING, risky and bool(moods & {"soft", "addressed"})
    yield CONCEAL, "secretly" in moods
    yield HIDDEN_MARKUP, "markup" in moods and (risky or "told" in moods)


def _ordered(acts: AbstractSet[str], moods: AbstractSet[str]) -> Iterator[str]:
    """Name what one sentence orders."""
    checks: Iterable[tuple[str, bool]] = (
        (SECRETS, _asks_for_secrets(acts, moods)),
        (
            DESTROY,
            bool(acts & {"ruin", "delete named", "run drop"})
            or ({"delete", "whole"} <= acts and "plain place" not in acts),
        ),
        (DESTROY, "rewrite all" in acts or ({"delete form", "whole"} <= acts and "unasked" in moods)),
        (CONCEAL, bool(acts & {"covert", "deceive"})),
        (UNGUARD, "disable guard" in acts or ({"unguarded", "act"} <= acts)),
        (UNGUARD, "accept all" in acts and bool(moods & {"unasked"} or "always" in acts)),
        (UNGUARD, {"act"} <= acts and "unasked" in moods),
        (
            MISUSE,
            bool(
                acts
                & {
                    "shell out",
                    "decode run",
                    "publish",
                    "password",
                    "merge",
                    "piped unsafely",
                    "prank",
                    "obey",
                    "trigger",
                }
            ),
        ),
        (
            MISUSE,
            "biased" in moods
            or {"act", "transfer"} <= acts
            or {"grant", "to whom"} <= acts
            or {"run", "blindly"} <= acts,
        ),
        (
            MISUSE,
            {"piped", "each time"} <= acts
            or {"fetch run", "dest"} <= acts
            or {"fetch", "dest", "as root"} <= acts,
        ),
        (PERSIST, bool(acts & {"startup code", "spread", "note down", "keep this"})),
        (PERSIST, {"write", "memory", "this text"} <= acts or {"write", "startup", "payload"} <= acts),
        (PERSIST, {"schedule", "payload"} <= acts or {"for ever", "put", "dest"} <= acts),
        (PERSIST, {"for ever", "keep on"} <= acts or {"for ever", "fetch", "dest"} <= acts),
    )
    yield from (name for name, holds in checks if holds)


def _asks_for_secrets(acts: AbstractSet[str], moods: AbstractSet[str]) -> bool:
    """Tell whether a sentence wants something to leave that should stay: by a request, an answer, or a command."""
    private = acts & {"secret", "data"}
    by_command = (
        "env dump" in acts
        or {"secret file", "net", "upload"} <= acts
        or bool(private and acts & {"link", "leak"})
        or {"secret file", "put", "here"} <= acts
        or {"request with", "dest", "handed"} <= acts
    )
    if by_command or ("sent as login" in acts and "conceal" not in moods):
        return by_command
    outside = "dest" in acts and "not there" not in acts
    moved = acts & {"out form", "put", "say"} if "secret" in acts else acts & {"out"}
    if outside and moved and (private or "handed" in acts):
        return True
    spoken = ("in full" in acts and bool(acts & {"say", "ask for"})) or (
        "placed" in acts and bool(acts & {"say", "put", "out"})
    )
    return bool(private and spoken) or {"out", "in full", "secret"} <= acts


def _risky(acts: AbstractSet[str]) -> bool:
    """Tell whether a sentence speaks of what no pretext allows, in whatever form."""
    leaves = acts & {"out form", "say form", "placed"} and ("secret" in acts or {"data", "dest"} <= acts)
    spread = {"out form", "data"} <= acts or {"act", "transfer"} <= acts
    ruins = "whole" in acts and bool(acts & {"delete form", "deletion"})
    return bool(leaves) or spread or ruins or bool(acts & {"guard", "unguarded", "ruin"})
