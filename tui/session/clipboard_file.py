"""Copying into a file: for terminals that do not pass a text on to the clipboard."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from platformdirs import user_cache_path

if TYPE_CHECKING:
    from pathlib import Path

FILE: Final = "copied.txt"
_PRIVATE: Final = 0o600


def copied_file() -> Path:
    """Give the place of the file that holds what was copied last."""
    return user_cache_path("germline") / FILE


def kept_where(text: str) -> str:
    """Write a text into that file, and say so; or why it could not be."""
    try:
        return f"also in {keep_copy(text)}"
    except OSError as error:
        return f"in no file: {error.strerror}"


def keep_copy(text: str) -> Path:
    """Write a text into that file, for this user alone; raises OSError where it cannot be written."""
    path = copied_file()
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(text + "\n")
    return path
