"""betterleaks or gitleaks as a second scanner where one is installed; the built-in rules stand without it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

from registry.evidence.personal_details import personal_data_in
from registry.evidence.redaction import Leak

if TYPE_CHECKING:
    from collections.abc import Iterable

_TIMEOUT_S: Final = 20.0
"""Generous for the few hundred texts that a scan keeps; a hung scanner must not hang the scan (guess)."""

_BETTERLEAKS: Final = "betterleaks"
_COMMAND: Final = ("stdin", "--no-banner", "--log-level=error", "--exit-code=0")
_FIRST_FORM: Final = (*_COMMAND, "--report-format=json", "--report-path=/dev/stdout")
"""Of gitleaks since 8.19 and betterleaks 1; nothing of what they read appears in a command line."""
_SECOND_FORM: Final = (*_COMMAND, "--silent", "--output=-")
"""Of betterleaks 2."""
_SENDS: Final = frozenset(["BETTERLEAKS_VALIDATE", "BETTERLEAKS_ANALYZE"])
"""Variables that have betterleaks send what it finds to who issued it."""

_LEAST_CHARS: Final = 6
"""A shorter finding, taken out everywhere, would tear words apart."""


def find_scanner() -> str:
    """Return where betterleaks or else gitleaks is installed, "" where neither is."""
    binary = shutil.which(_BETTERLEAKS) or shutil.which("gitleaks")
    return str(Path(binary).absolute()) if binary else ""


def leaks_in(texts: Iterable[str], binary: str = "", *, personal_data: bool = False) -> tuple[Leak, ...]:
    """Ask the scanner, in one run, which secrets stand in these texts; with `personal_data`, look for that too.

    Never fails: a scanner that is missing, too old, too slow or broken has found nothing.
    """
    every = list(texts)
    personal = personal_data_in(every) if personal_data else ()
    joined = "\n\n".join(every).encode(errors="replace")
    if not binary or not joined:
        return personal
    forms = (_SECOND_FORM, _FIRST_FORM) if Path(binary).name.startswith(_BETTERLEAKS) else (_FIRST_FORM,)
    for form in forms:
        try:
            run = subprocess.run(  # noqa: S603 - an argument list of our own, no shell, texts on stdin
                [binary, *form],
                input=joined,
                cwd=os.sep,  # gitleaks obeys a .gitleaks.toml and .gitleaksignore where it is started
                env={name: value for name, value in os.environ.items() if name not in _SENDS},
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
            return (*personal, *_leaks(json.loads(run.stdout or b"[]" if run.returncode == 0 else b"")))
        except (OSError, subprocess.TimeoutExpired, ValueError):
            continue
    return personal


def _leaks(report: object) -> tuple[Leak, ...]:
    """Read the report: a list of gitleaks and betterleaks 1, a document of betterleaks 2."""
    rows = report.get("findings") if isinstance(report, dict) else report
    leaks = set[Leak]()
    for row in rows if isinstance(rows, list) else ():
        match = row.get("match") if isinstance(row, dict) else None
        secret = (
            match.get("value") if isinstance(match, dict) else row.get("Secret") if isinstance(row, dict) else None
        )
        if isinstance(secret, str) and len(secret) >= _LEAST_CHARS:
            leaks.add(Leak(str(row.get("rule_id") or row.get("RuleID") or "gitleaks"), secret))
    return tuple(sorted(leaks))
