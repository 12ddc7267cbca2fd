"""Discovery: where the tools that agents run in are known to keep their logs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from strategies.logs.scan import log_files

_PLACES: Final = (
    ("Claude Code", "CLAUDE_CONFIG_DIR", "~/.claude", "projects"),
    ("Codex", "CODEX_HOME", "~/.codex", "sessions"),
)
"""Tool, the variable that moves its folder, the folder where nothing does, and the logs in it."""


@dataclass(frozen=True, slots=True)
class FoundLogs:
    """The logs of one tool. Units: size_bytes on disk."""

    tool: str
    path: Path
    files: int
    size_bytes: int


def usual_places() -> list[tuple[str, Path]]:
    """List the folders that are there, each with the tool that writes to it."""
    places = [
        (tool, Path(os.environ.get(variable) or folder).expanduser() / logs)
        for tool, variable, folder, logs in _PLACES
    ]
    return [(tool, path) for tool, path in places if path.is_dir()]


def discover() -> list[FoundLogs]:
    """Look into the usual places, and tell how much lies there; empty ones are left out."""
    found = []
    for tool, path in usual_places():
        sizes = [_size_bytes(file) for file, _ in log_files([path])]
        if sizes:
            found.append(FoundLogs(tool, path, len(sizes), sum(sizes)))
    return found


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # gone since it was listed
