"""What PostgreSQL complains about, said in the errors of germline: what, then why, then what to type."""

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
    # a key that exists, or what the triggers of events.postgres_schema raise
    (
        (codes.UniqueViolation, codes.RestrictViolation),
        ConflictError,
        "the registry {place} refused a row: {said}",
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
        _UNUSABLE + "this role may not do that: {said}",
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
        _UNUSABLE + "a statement took longer than the server allows: {said}",
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
        "the registry {place} is damaged: {said}",
        "germline verify",
    ),
    (
        (codes.UndefinedTable, codes.UndefinedColumn, codes.InvalidSchemaName),
        StorageError,
        "the registry {place} lacks what belongs to it: {said}",
        "germline verify",
    ),
)
"""Codes of the server, what they are here, and how that is said."""

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
            return kind(what.format(place=location, said=said_by(error)), hint=hint)
    if lost:
        return StorageError(f"the connection to {location} was lost: {said_by(error)}", hint=_AGAIN)
    if isinstance(error, DataError):
        return UsageError(f"no registry could hold what is asked for: {said_by(error)}")
    return StorageError(f"{_UNUSABLE.format(place=location)}{said_by(error)}", hint="germline verify")


def refused(error: Error, location: str) -> GermlineError:
    """Say why no connection came about."""
    said = said_by(error)
    if not isinstance(error, OperationalError):
        return UsageError(
            f"{location} holds an option that PostgreSQL does not know", hint="see docs/postgres.md for addresses"
        )
    if any(part in said for part in _PASSWORD):
        return CredentialsError(
            f"{location} refused the login: {said}", hint="export PGPASSWORD=…, or a line in ~/.pgpass"
        )
    if 'database "' in said and "does not exist" in said:
        return NotFoundError(f"{location}: {said}", hint="createdb NAME, as somebody who may")
    if said.startswith(_NOT_NOW):
        return StorageError(f"{location} takes no connections now: {said}", hint=_AGAIN)
    return StorageError(f"{location} cannot be reached: {said}", hint="check host, port and that the server runs")


def said_by(error: Error) -> str:
    """Return what matters of a message: what the server said last, or else the first line."""
    said = (error.diag.message_primary or str(error)).strip().splitlines() or [type(error).__name__]
    fatal = [line for line in said if _FATAL in line]  # one for each host; a line of details may follow
    return (fatal[-1] if fatal else said[0]).rpartition(_FATAL)[2].strip()
