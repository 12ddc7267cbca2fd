"""gitleaks as a second scanner for secrets where its binary is installed; the built-in rules stand without it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

from registry.evidence.redaction import Leak

if TYPE_CHECKING:
    from collections.abc import Iterable

_TIMEOUT_S: Final = 20.0
"""Generous for the few hundred texts that a scan keeps; a hung scanner must not hang the scan (guess)."""

_COMMAND: Final = ("stdin", "--no-banner", "--log-level=error", "--exit-code=0", "--report-format=json")
"""Since gitleaks 8.19; nothing of what it reads appears in a command line."""

_LEAST_CHARS: Final = 6
"""A shorter finding, taken out everywhere, would tear words apart."""


def find_gitleaks() -> str:
    """Return where gitleaks is installed, "" where it is not."""
    binary = shutil.which("gitleaks")
    return str(Path(binary).absolute()) if binary else ""


def leaks_in(texts: Iterable[str], binary: str, *, timeout_s: float = _TIMEOUT_S) -> tuple[Leak, ...]:
    """Ask gitleaks which secrets stand in these texts, in one run.

    Never fails: where gitleaks is missing, too old, too slow or broken, it has found nothing.
    """
    joined = "\n\n".join(texts).encode(errors="replace")
    if not binary or not joined:
        return ()
    try:
        run = subprocess.run(  # noqa: S603 - an argument list of our own, no shell, texts on stdin
            [binary, *_COMMAND, "--report-path=/dev/stdout"],
            input=joined,
            cwd=os.sep,  # gitleaks obeys a .gitleaks.toml and .gitleaksignore where it is started
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
        return _leaks(json.loads(run.stdout or b"[]"))
    except (OSError, subprocess.TimeoutExpired, ValueError):
        return ()


def _leaks(report: object) -> tuple[Leak, ...]:
    rows = report if isinstance(report, list) else []
    leaks = {
        (str(row.get("RuleID") or "gitleaks"), secret)
        for row in rows
        if isinstance(row, dict) and isinstance(secret := row.get("Secret"), str) and len(secret) >= _LEAST_CHARS
    }
    return tuple(Leak(rule, secret) for rule, secret in sorted(leaks))
