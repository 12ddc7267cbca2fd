"""Redaction: secrets leave a text before it is stored."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Redaction:
    """A place where a rule removed text: character offsets in the redacted text, end exclusive."""

    start: int
    end: int
    rule: str


_RULES: Final = (
    ("private-key", r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    ("aws-access-key", r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b"),
    ("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{22,})"),
    ("gitlab-token", r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("slack-token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("api-key", r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{20,}"),
    ("google-key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("stripe-key", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("url-password", r"(?<=://)[^\s/:@]*:[^\s/@]+(?=@)"),
    ("bearer", r"(?i)(?<=bearer )[A-Za-z0-9._~+/=-]{16,}"),
    (
        "assigned-secret",
        r"""(?ix)\b[\w.-]*(?:secret|token|passw(?:or)?d|api[_-]?key|access[_-]?key)[\w.-]*
        ["']?\s*[:=]\s*["']?(?P<secret>[^\s"',;&]{8,})""",
    ),
)
"""Rule names follow gitleaks where it has the same rule; the set is small on purpose (trust.md)."""

_COMPILED: Final = tuple((name, re.compile(pattern)) for name, pattern in _RULES)


def redact(text: str) -> tuple[str, tuple[Redaction, ...]]:
    """Replace every secret by `[rule]` and say where, in offsets of the new text."""
    hits: list[tuple[int, int, str]] = []
    for name, pattern in _COMPILED:
        for match in pattern.finditer(text):
            group = "secret" if "secret" in pattern.groupindex else 0
            hits.append((*match.span(group), name))
    parts: list[str] = []
    marks: list[Redaction] = []
    done = 0
    length = 0
    for start, end, name in sorted(hits, key=lambda hit: (hit[0], -hit[1])):
        if start < done:
            continue  # inside a secret that another rule already took
        label = f"[{name}]"
        length += start - done
        marks.append(Redaction(length, length + len(label), name))
        parts += (text[done:start], label)
        length += len(label)
        done = end
    return "".join([*parts, text[done:]]), tuple(marks)
