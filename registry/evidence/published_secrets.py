"""Secrets by the published rules of gitleaks and betterleaks, which are data beside this module.

A rule is searched only where one of its keywords occurs: all keywords are looked for in one pass, which costs a
small part of what the rules of our own do. A rule whose value has no shape of its own has names, and finds what
is given to one of them; quotation marks may be escaped, as in the strings of JSON.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

import re2

if TYPE_CHECKING:
    from collections.abc import Iterator

_RULES: Final = Path(__file__).with_name("published_rules.tsv")
_GIVEN: Final = r"""[ \t\w.-]{0,20}[\s'"\\]{0,9}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[`'"\s=\\]{0,12}"""
"""Between a name and its value."""

_END: Final = r"(?:[^0-9A-Za-z]|\z)"
_LEAST_SIGNS: Final = 6
"""How many different characters a secret has at least: fewer are a pattern of one (guess)."""


class PublishedRule(NamedTuple):
    """A rule: the words of which one must be there, the names that it is given to ("" for none), and its value."""

    name: str
    keywords: tuple[str, ...]
    names: str
    value: str


@cache
def published_rules() -> tuple[PublishedRule, ...]:
    """Read the rules, once they are needed."""
    lines = _RULES.read_text(encoding="utf-8").splitlines()
    fields = (line.split("\t") for line in lines if line and not line.startswith("#"))
    return tuple(
        PublishedRule(name, tuple(words.split(",")), names, value) for name, words, names, value in fields
    )


def published_in(raw: bytes) -> Iterator[tuple[int, int, str]]:
    """Find every secret by these rules: begin and end in bytes, and the name of the rule."""
    for index in _keywords().Match(raw) or ():
        for match in _compiled(index).finditer(raw):
            start, end = match.span(match.re.groups)
            if _varies(raw[start:end]):
                yield start, end, published_rules()[index].name


def _varies(value: bytes) -> bool:
    """Tell a secret from a word or a placeholder: digits, or letters of both cases, and no few characters."""
    return len(set(value)) >= _LEAST_SIGNS and (
        any(char in b"0123456789" for char in value) or value.lower() != value != value.upper()
    )


@cache
def _keywords() -> re2.Set:
    options = _options()
    options.case_sensitive = False
    keywords = re2.Set.SearchSet(options)
    for rule in published_rules():
        keywords.Add("|".join(map(re2.escape, rule.keywords)))
    keywords.Compile()
    return keywords


@cache
def _compiled(index: int) -> re2._Regexp:
    rule = published_rules()[index]
    begin = f"(?i:{rule.names}){_GIVEN}" if rule.names else ""
    return re2.compile(f"{begin}({rule.value}){_END}".encode(), _options())


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = 64 * 1024 * 1024  # a set whose automaton takes more finds nothing
    options.log_errors = False
    return options
