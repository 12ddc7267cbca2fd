"""Translate errors of SQLite into errors of germline: what, then why, then what to type."""

from __future__ import annotations

import sqlite3
from typing import Final

from events.errors import BusyError, ConflictError, CorruptLogError, GermlineError, StorageError

COMPLAINTS: Final = (sqlite3.Error, UnicodeDecodeError)
"""What Python's module raises where SQLite complains: a complaint that quotes a damaged name is no text to it."""

_PRIMARY: Final = 0xFF
"""Extended result codes carry the primary one in their low byte (sqlite.org/rescode.html)."""

_TAKEN: Final = {
    sqlite3.SQLITE_CONSTRAINT_UNIQUE,
    sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY,
    sqlite3.SQLITE_CONSTRAINT_TRIGGER,
}
_BUSY: Final = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}
_DISK: Final = {
    sqlite3.SQLITE_FULL: (
        "the disk is full",
        "make room and run the command again: all that was acknowledged is safe",
    ),
    sqlite3.SQLITE_READONLY: ("it cannot be written", "check who owns the file and its folder"),
    sqlite3.SQLITE_CANTOPEN: ("it cannot be opened", "check who owns the file and its folder"),
    sqlite3.SQLITE_PERM: ("access was refused", "check who owns the file and its folder"),
    sqlite3.SQLITE_IOERR: ("the disk failed to read or write", "check the disk, then: germline verify"),
}


def _code(error: sqlite3.Error | UnicodeDecodeError) -> int:
    """Return the extended result code; 0 for what Python's own module complains about."""
    return int(getattr(error, "sqlite_errorcode", 0))


def is_busy(error: sqlite3.Error | UnicodeDecodeError) -> bool:
    """Tell whether another connection holds what was needed: waiting helps."""
    return _code(error) & _PRIMARY in _BUSY


def typed(error: sqlite3.Error | UnicodeDecodeError, location: str) -> GermlineError:
    """Say what went wrong with the database at `location`."""
    if _code(error) in _TAKEN:
        return ConflictError(f"the registry {location} refused a row: {error}")
    code = _code(error) & _PRIMARY
    if code in _BUSY:
        return BusyError(
            f"the registry {location} stayed locked by another process", hint="run the command again in a moment"
        )
    if code == sqlite3.SQLITE_NOTADB:
        return CorruptLogError(
            f"{location} is not a registry: the file is not a database",
            hint="name the registry's folder, or restore this file from a copy",
        )
    if code == sqlite3.SQLITE_CORRUPT or "decode" in str(error):  # a text, or a name, that is no longer UTF-8
        return CorruptLogError(f"the registry {location} is damaged: {error}", hint="germline verify")
    if _code(error) == sqlite3.SQLITE_IOERR_SHMSIZE:  # no room for the index of the log, which reading needs too
        code = sqlite3.SQLITE_FULL
    what, hint = _DISK.get(code, (str(error), "germline verify"))
    return StorageError(f"the registry {location} could not be used: {what}", hint=hint)
