"""Discovery: how much lies in the places where agents write their logs by themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strategies.logs.scan import log_files
from strategies.logs.usual import usual_logs

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class FoundLogs:
    """The logs of one tool. Units: size_bytes on disk."""

    tool: str
    path: Path
    files: int
    size_bytes: int


def discover() -> list[FoundLogs]:
    """Look into the usual places, and tell how much lies there; empty ones are left out."""
    found = []
    for tool, path in usual_logs():
        sizes = [_size_bytes(file) for file, _ in log_files([path])]
        if sizes:
            found.append(FoundLogs(tool, path, len(sizes), sum(sizes)))
    return found


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # gone since it was listed
