"""Redaction: secrets leave a text before it is stored."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class Redaction(NamedTuple):
    """A place where a rule removed text: character offsets in the redacted text, end exclusive."""

    start: int
    end: int
    rule: str


class Leak(NamedTuple):
    """A secret that a scanner of its own found: the rule that knows it, and the text itself."""

    rule: str
    secret: str


_NAMED: Final = r"secret|passw(?:or)?d|passphrase|api[_-]?key|access[_-]?key|account[_-]?key|private[_-]?key"
"""What secrets are called. Around such a word names are bounded, so that a long run of name characters costs no
quadratic search."""

_VALUE: Final = r"""[^\s"',;&\\]{8,}"""

_QUOTE: Final = r"""\\{0,7}["']?"""
"""A quotation mark or none: JSON in the strings of JSON puts one backslash before it, then three, then seven."""

_RULES: Final = (
    (
        "private-key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY[A-Z ]*-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY[A-Z ]*-----|\Z)",
    ),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?"),
    ("aws-access-key", r"(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("github-token", r"(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    ("gitlab-token", r"\bgl(?:pat|dt|rt|cbt)-[A-Za-z0-9_-]{20,}"),
    ("slack-token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    (
        "slack-webhook",
        r"hooks\.slack\.com\\{0,7}/(?P<secret>(?:services|workflows)\\{0,7}/[A-Za-z0-9/\\_-]{20,})",
    ),
    ("api-key", r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}"),
    ("google-key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("google-token", r"\bya29\.[A-Za-z0-9_-]{20,}"),
    ("stripe-key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("pypi-token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("huggingface-token", r"\bhf_[A-Za-z0-9]{30,}"),
    ("sendgrid-key", r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    ("digitalocean-token", r"\bdo[opr]_v1_[a-f0-9]{64}"),
    ("url-password", r""":(?:\\{0,7}/){2}(?P<secret>[^\s/:@"'<>\\]*:[^\s/"'<>]+)@"""),
    ("bearer", r"(?i)(?<=bearer )[A-Za-z0-9._~+/=-]{16,}"),
    ("basic-auth", rf"""(?i)\bauthorization{_QUOTE}\s*[:=]\s*{_QUOTE}basic\s+(?P<secret>[A-Za-z0-9+/=]{{8,}})"""),
    (
        "assigned-secret",
        rf"""(?ix)\b[\w.-]{{0,40}}(?:{_NAMED})[\w.-]{{0,40}}{_QUOTE}\s*[:=]\s*{_QUOTE}(?P<secret>{_VALUE})""",
    ),
    (
        "assigned-token",  # a parser names tokens too: without a digit it is a word of a message
        rf"""(?ix)\b[\w.-]{{0,40}}token[\w.-]{{0,40}}{_QUOTE}\s*[:=]\s*{_QUOTE}(?P<secret>(?=[^\s\d]*\d){_VALUE})""",
    ),
    (
        "secret-option",
        rf"""(?ix)(?<![\w-])--?[\w-]{{0,40}}(?:{_NAMED}|token)[\w-]{{0,40}}\s+["']?(?P<secret>{_VALUE})""",
    ),
)
"""Rule names follow gitleaks where it has the same rule; the set is small on purpose (trust.md)."""

_TELLING: Final = (
    ("", ("://", ":\\", "eyJ", "AKIA", "ASIA", "ABIA", "ACCA", "AIza", "ya29.", "SG.", "hooks.slack")),
    ("-", ("-----BEGIN ", "sk-", "xox", "glpat-", "gldt-", "glrt-", "glcbt-", "pypi-")),
    ("_", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "k_live_", "k_test_", "npm_", "hf_", "_v1_")),
)
"""What a text must hold for a rule above to find anything in it, by a character that all of a row have."""

_TELLING_IN_ANY_CASE: Final = ("secret", "passw", "passphrase", "token", "bearer ", "authorization")


def may_hold_secret(text: str) -> bool:
    """Tell, far quicker than `redact` does, whether a text can hold a secret at all."""
    for common, marks in _TELLING:
        if common in text:
            for mark in marks:
                if mark in text:
                    return True
    lower = text.lower()
    for mark in _TELLING_IN_ANY_CASE:
        if mark in lower:
            return True
    return "key" in lower and _secret_name().search(lower) is not None  # asked last: many a word ends in key


def without_secrets(text: str) -> str:
    """Give a text, such as a name or a template, with every secret replaced by `[rule]`."""
    return redact(text)[0] if may_hold_secret(text) else text


def named_secret(name: str) -> bool:
    """Tell whether a name says that its value is a secret."""
    return _name_of_secret().search(name) is not None


def redact(text: str, leaks: Iterable[Leak] = ()) -> tuple[str, tuple[Redaction, ...]]:
    """Replace every secret by `[rule]` and say where, in offsets of the new text.

    `leaks` are secrets that another scanner found: they go wherever they stand.
    """
    parts: list[str] = []
    marks: list[Redaction] = []
    done = 0
    length = 0
    for begins, end, name in sorted(_found(text, leaks), key=lambda hit: (hit[0], -hit[1])):
        if end <= done:
            continue  # inside a secret that another rule already took
        start = max(begins, done)
        label = f"[{name}]" if begins >= done else ""  # the rest of one that another rule took in part
        length += start - done
        if label:
            marks.append(Redaction(length, length + len(label), name))
        parts += (text[done:start], label)
        length += len(label)
        done = end
    return "".join([*parts, text[done:]]), tuple(marks)


def _found(text: str, leaks: Iterable[Leak]) -> Iterator[tuple[int, int, str]]:
    for name, pattern in _compiled():
        for match in pattern.finditer(text):
            group = "secret" if "secret" in pattern.groupindex else 0
            yield (*match.span(group), name)
    for leak in leaks:
        at = text.find(leak.secret) if leak.secret else -1
        while at >= 0:
            yield at, at + len(leak.secret), leak.rule
            at = text.find(leak.secret, at + len(leak.secret))


@cache
def _compiled() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """Compile the rules once they are needed: `why` shows redacted texts, and redacts none."""
    return tuple((name, re.compile(pattern)) for name, pattern in _RULES)


@cache
def _secret_name() -> re.Pattern[str]:
    return re.compile(rf"(?i){_NAMED}|token")


@cache
def _name_of_secret() -> re.Pattern[str]:
    return re.compile(rf"(?i)(?:{_NAMED}|token)$")
