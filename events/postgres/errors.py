"""Translate errors of PostgreSQL into errors of germline: what, then why, then what to type."""

from __future__ import annotations

from typing import Final

from psycopg import DataError, Error, OperationalError
from psycopg import errors as codes

from events.errors import (
    BusyError,
    ConflictError,
    CorruptLogError,
    CredentialsError,
    GermlineError,
    NotFoundError,
    StorageError,
    UsageError,
)

_UNUSABLE: Final = "the registry {place} could not be used: "
_KINDS: Final[tuple[tuple[tuple[type[Error], ...], type[GermlineError], str, str], ...]] = (
    # a key that exists, or what the triggers of events.postgres.migrations raise
    (
        (codes.UniqueViolation, codes.RestrictViolation),
        ConflictError,
        "the registry {place} refused a row: {message}",
        "",
    ),
    (
        (codes.LockNotAvailable, codes.DeadlockDetected),
        BusyError,
        "the registry {place} stayed locked by another process",
        "run the command again in a moment",
    ),
    (
        (codes.InsufficientPrivilege,),
        StorageError,
        _UNUSABLE + "this role may not do that: {message}",
        "ask its owner for the grants of docs/postgres.md",
    ),
    (
        (codes.ReadOnlySqlTransaction,),
        StorageError,
        "the registry {place} cannot be written: it is open for reading, or a replica",
        "name the server that takes writes",
    ),
    (
        (codes.QueryCanceled,),
        StorageError,
        _UNUSABLE + "a statement took longer than the server allows: {message}",
        "raise statement_timeout for this role, then run the command again",
    ),
    (
        (codes.DiskFull,),
        StorageError,
        _UNUSABLE + "the disk of the server is full",
        "make room there and run the command again: all that was acknowledged is safe",
    ),
    (
        (codes.InFailedSqlTransaction,),
        StorageError,
        "the transaction on {place} is over: nothing of it was written",
        "run the command again",
    ),
    (
        (codes.DataCorrupted, codes.IndexCorrupted),
        CorruptLogError,
        "the registry {place} is damaged: {message}",
        "germline verify",
    ),
    (
        (codes.UndefinedTable, codes.UndefinedColumn, codes.InvalidSchemaName),
        StorageError,
        "the registry {place} lacks what belongs to it: {message}",
        "germline verify",
    ),
)
"""Errors of the driver, the class they become here, and the message."""

_AGAIN: Final = "run the command again: all that was acknowledged is safe"
_PASSWORD: Final = ("password authentication failed", "no password supplied", "SCRAM", "pg_hba.conf")
"""How a refused login reads; the server sends its code, but libpq keeps it to itself."""


_FATAL: Final = "FATAL: "
_NOT_NOW: Final = "the database system is "
"""How a server begins that starts, stops or recovers: what it is, and that it takes no connections."""


def typed(error: Error, location: str, *, lost: bool = False) -> GermlineError:
    """Say what went wrong with the registry at `location`; `lost` tells that the connection is gone."""
    for known, kind, what, hint in _KINDS:
        if isinstance(error, known):
            return kind(what.format(place=location, message=message_of(error)), hint=hint)
    if lost:
        return StorageError(f"the connection to {location} was lost: {message_of(error)}", hint=_AGAIN)
    if isinstance(error, DataError):
        return UsageError(f"no registry could hold what is asked for: {message_of(error)}")
    return StorageError(f"{_UNUSABLE.format(place=location)}{message_of(error)}", hint="germline verify")


def refused(error: Error, location: str) -> GermlineError:
    """Say why no connection came about."""
    message = message_of(error)
    if not isinstance(error, OperationalError):
        return UsageError(
            f"{location} holds an option that PostgreSQL does not know", hint="see docs/postgres.md for addresses"
        )
    if any(part in message for part in _PASSWORD):
        return CredentialsError(
            f"{location} refused the login: {message}", hint="export PGPASSWORD=…, or a line in ~/.pgpass"
        )
    if 'database "' in message and "does not exist" in message:
        return NotFoundError(f"{location}: {message}", hint="createdb NAME, as somebody who may")
    if message.startswith(_NOT_NOW):
        return StorageError(f"{location} takes no connections now: {message}", hint=_AGAIN)
    return StorageError(
        f"{location} cannot be reached: {message}", hint="check host, port and that the server runs"
    )


def message_of(error: Error) -> str:
    """Return what matters of a message: the last error of the server, or else the first line."""
    lines = (error.diag.message_primary or str(error)).strip().splitlines() or [type(error).__name__]
    fatal = [line for line in lines if _FATAL in line]  # one for each host; a line of details may follow
    return (fatal[-1] if fatal else lines[0]).rpartition(_FATAL)[2].strip()
