"""Files that a command writes for people to keep: whole or not at all, and never over another one."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from events.errors import StorageError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def write_new(path: Path, text: str) -> None:
    """Write a file that must not be there yet; raises UsageError where it is, StorageError where it cannot be."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError as error:
        raise UsageError(f"{path} is there already, and is not overwritten", hint="-o ANOTHER-FILE") from error
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        path.unlink(missing_ok=True)
        raise StorageError(f"{path} cannot be written: {error.strerror}") from error
