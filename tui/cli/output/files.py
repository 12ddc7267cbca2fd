"""Files that a command writes for people to keep: whole or not at all, and over another one only if asked."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from events.errors import StorageError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable


def write_new(path: Path, text: str) -> None:
    """Write a file that must not be there yet; raises UsageError where it is, StorageError where it cannot be."""
    write_new_chunks(path, [text.encode()])


def write_new_chunks(path: Path, chunks: Iterable[bytes]) -> int:
    """Write the same out of pieces, and return how many there were; whatever breaks them off leaves no file."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
    except FileExistsError as error:
        raise UsageError(f"{path} is there already, and is not overwritten", hint="-o ANOTHER-FILE") from error
    except OSError as error:
        raise _unwritable(path, error) from error
    written = 0
    try:
        with os.fdopen(handle, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
                written += 1
            file.flush()
            os.fsync(file.fileno())
    except BaseException as error:  # Ctrl-C as well: half a file is none
        path.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise _unwritable(path, error) from error
        raise
    return written


def write_over(path: Path, text: str) -> None:
    """Write a file in the place of the one that may be there; raises StorageError where it cannot be.

    A new one is for its owner's eyes, as the registry is; one that was there keeps its mode, and is what it was
    until the new one is on disk. A link stays a link.
    """
    place = path.resolve()
    half: Path | None = None
    try:
        handle, name = tempfile.mkstemp(dir=place.parent, prefix=f".{place.name[:100]}.germline-writing-")
        half = Path(name)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if place.exists():
            half.chmod(place.stat().st_mode & 0o777)
        half.replace(place)
    except OSError as error:
        raise _unwritable(path, error) from error
    finally:
        if half:
            half.unlink(missing_ok=True)


def _unwritable(path: Path, error: OSError) -> StorageError:
    return StorageError(
        f"{path} cannot be written: {error.strerror}", hint="make room, or name another file: -o ANOTHER-FILE"
    )
