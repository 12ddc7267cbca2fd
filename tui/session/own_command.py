"""The command that starts germline again: by its own place, never by the folder that a process is in."""

from __future__ import annotations

import sys
from pathlib import Path

import tui


def own_command() -> tuple[str, ...]:
    """Give the words that run this germline: interpreter and file, absolute; nothing is imported from here."""
    return (sys.executable, "-P", str(Path(tui.__file__).resolve().parent / "cli" / "main.py"))
