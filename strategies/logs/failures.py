"""How failure shows in tool results that carry no flag for it."""

from __future__ import annotations

from typing import Final

import re2

_LOOKED_AT_CHARS: Final = 2000
"""A failing tool says so first, or (exit codes, tracebacks) last: the middle of a long result is content."""

_FAILED: Final = re2.compile(
    r"(?i:^\s*(?:<[a-z_]+>\s*)?(?:error|fatal|exception)\b[^\n]{0,40}:)"
    r"|(?m:^Traceback \(most recent call last\))"
    r"|(?i:(?:exit(?:ed)?(?: with)?(?: code| status)|returned non-zero exit status)[ :=]*[1-9])"
    r"|(?m:^(?:[\w./-]+: )*(?:line \d+: )?[\w./-]+: (?:command not found|No such file or directory)$)"
    r"|(?m:^[\w.]+(?:Error|Exception): )"
    r"|^Your proposed edit has introduced new syntax error"
)


def looks_failed(result: str) -> bool:
    """Tell whether a tool result reads like a failure: an error line, a traceback, a non-zero exit code."""
    if len(result) > 2 * _LOOKED_AT_CHARS:
        result = f"{result[:_LOOKED_AT_CHARS]}\n{result[-_LOOKED_AT_CHARS:]}"
    return _FAILED.search(result) is not None
