"""Secrets in a text, by the rules: all patterns as one first, and by itself only what that finds."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

import re2

from registry.evidence.published_secrets import published_in
from registry.evidence.secret_rules import RULES
from registry.evidence.secret_values import is_secret, unwrapped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.evidence.secret_rules import SecretRule

Hit = tuple[int, int, str]
"""Where a secret stands, in bytes, end exclusive, and the rule that knows it."""

_MEMORY_BYTES: Final = 64 * 1024 * 1024
"""What an automaton may take: with RE2's default of 8 MiB that of all rules is dropped and rebuilt in a search."""

_LOOKED_AT_BYTES: Final = 512
"""How much of a value tells whether it is one (guess)."""

_PATIENCE: Final = 8
"""How many times over the bytes of a text may lie in values that are searched again (guess)."""

_GROUP: Final = re.compile(r"\(\?P<\w+>")
_LEAST_WRAPPED: Final = 20
_BASE64: Final = rf"[A-Za-z0-9+/_-]{{{_LEAST_WRAPPED},}}={{0,2}}"
"""A run that may be wrapped text: shorter ones hold no name with a value."""


def holds_a_mark(raw: bytes) -> bool:
    """Tell whether a text holds anything that a rule looks at."""
    return _gate().search(raw) is not None or any(published_in(raw)) or any(_wrapped(raw))


def secrets_in(raw: bytes) -> Iterator[Hit]:
    """Find every secret, in no order; the same may be found by several rules."""
    yield from _by_rules(raw)
    yield from published_in(raw)
    yield from _wrapped(raw)


def _by_rules(raw: bytes) -> Iterator[Hit]:
    if _gate().search(raw):
        rules = _compiled()
        for index in sorted(_rule_set().Match(raw) or range(len(rules))):  # a set out of memory names none
            yield from _found_by(rules[index], raw)


class _Compiled(NamedTuple):
    """A rule ready to search; the groups by number, 0 for the whole match, and that of the name before it."""

    rule: SecretRule
    pattern: re2._Regexp
    values: tuple[int, ...]
    named: int


def _found_by(compiled: _Compiled, raw: bytes) -> Iterator[Hit]:
    """Find the places of a rule; where a value is none, the next is looked for in it, which may hold another name.

    A text that is made to be searched again and again runs out of patience: then every value counts.
    """
    rule, pattern, values, named = compiled
    at, patience = 0, _PATIENCE * (len(raw) + _LOOKED_AT_BYTES)
    while match := pattern.search(raw, at):
        start, end = next((span for group in values if (span := match.span(group))[0] >= 0), match.span())
        name = (match[named] or b"").decode("utf-8", "replace") if named else ""
        before = raw[start - 1 : start].decode("latin-1")
        value = raw[start : min(end, start + _LOOKED_AT_BYTES)].decode("utf-8", "replace")
        counts = patience < 0 or is_secret(value, name[:_LOOKED_AT_BYTES], before, rule.values)
        patience -= match.end() - match.start()
        if counts:
            yield start, end, rule.name
        at = max(end if counts else start, match.start() + 1)


def _wrapped(raw: bytes) -> Iterator[Hit]:
    """Find runs of base64 that stand for a text with a secret in it: wrapped once, for twice is no accident."""
    if len(raw) < _LEAST_WRAPPED:
        return
    for match in _runs().finditer(raw):
        inside = unwrapped(match[0])
        if inside and (any(_by_rules(inside)) or any(published_in(inside))):
            yield (*match.span(), "base64-secret")


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = _MEMORY_BYTES
    options.log_errors = False
    return options


@cache
def _compiled() -> tuple[_Compiled, ...]:
    """Compile the rules once they are needed: `why` shows redacted texts, and redacts none."""
    options, compiled = _options(), list[_Compiled]()
    for rule in RULES:
        pattern = re2.compile(rule.pattern.encode(), options)
        groups = {name.decode(): number for name, number in pattern.groupindex.items()}
        named = groups.pop("name", 0)
        compiled.append(_Compiled(rule, pattern, tuple(groups.values()) or (0,), named))
    return tuple(compiled)


@cache
def _gate() -> re2._Regexp:
    """Give one pattern that finds something wherever a rule does."""
    options = _options()
    options.never_capture = True
    joined = "|".join(f"(?:{_GROUP.sub('(?:', rule.pattern)})" for rule in RULES)
    return re2.compile(joined.encode(), options)


@cache
def _rule_set() -> re2.Set:
    """Give the rules as one automaton, which tells in one pass which of them find something."""
    rules = re2.Set.SearchSet(_options())
    for rule in RULES:
        rules.Add(_GROUP.sub("(?:", rule.pattern))
    rules.Compile()
    return rules


@cache
def _runs() -> re2._Regexp:
    return re2.compile(_BASE64.encode(), _options())
