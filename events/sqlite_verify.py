"""Verification: one pass over the events and the source tables that names every place that does not hold."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from events.envelope import GENESIS
from events.log import Head, Integrity, Problem
from events.sqlite_read import SELECT
from events.sqlite_tables import content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable

    Row = tuple[int, bytes, bytes, int, bytes, int, bytes, bytes, bytes, bytes, bytes, bytes, bytes]
    """The columns of an event, text as bytes."""

_SEPARATOR: Final = b"\x1f"
_BETWEEN: Final = 9
"""Separators between the ten header fields."""

_MOST: Final = 1_000
"""Problems told one by one; a log with more is damaged as a whole, and the rest are only counted."""

_WAIT_S: Final = 10.0
"""How long a reader waits while another process recovers the database."""


def verify_file(location: str) -> Integrity:
    """Check every event, link, counter and content hash of a registry; never raises for what it finds."""
    problems: list[Problem] = []
    chain = _Chain(problems)
    try:
        with ThreadPoolExecutor(1) as beside, closing(_connect(location)) as connection:
            pages = beside.submit(_check_pages, location)
            chain.follow(connection.execute(f"{SELECT} ORDER BY position"))
            _check_tables(connection, problems)
            _check_evidence(connection, problems)
            problems += pages.result()
    except sqlite3.Error as error:
        problems.append(Problem(chain.position + 1, f"the database cannot be read beyond here: {error}"))
    told = problems[:_MOST]
    if len(problems) > _MOST:
        told.append(Problem(0, f"{len(problems) - _MOST} further problems"))
    return Integrity(chain.events, Head(chain.position, chain.stored.decode(errors="replace")), tuple(told))


def _connect(location: str) -> sqlite3.Connection:
    uri = f"{Path(location).absolute().as_uri()}?mode=ro"
    connection = sqlite3.connect(uri, uri=True, timeout=_WAIT_S, isolation_level=None)
    connection.text_factory = bytes  # text as stored: what is no longer UTF-8 is a finding, not an error
    return connection


class _Chain:
    """Follows the events in order, and blames those that break a promise."""

    def __init__(self, problems: list[Problem]) -> None:
        self.problems = problems
        self.events = 0
        self.position = 0
        self.stored = GENESIS.encode()
        self.computed = self.stored
        self.versions: dict[bytes, int] = {}

    def follow(self, rows: Iterable[Row]) -> None:
        """Check each event against the one before it; all that holds takes the short way."""
        versions = self.versions
        for row in rows:
            computed = _hash_of(row)
            position, stream, version, stored = row[0], row[2], row[3], row[11]
            if (
                computed != stored
                or row[10] != self.stored
                or position != self.position + 1
                or version != versions.get(stream, 0) + 1
            ):
                self._blame(row, computed)
            versions[stream] = version
            self.position, self.stored, self.computed = position, stored, computed
            self.events += 1

    def _blame(self, row: Row, computed: bytes) -> None:
        """Say what is wrong with an event, once for each cause.

        After the first problem stream versions prove nothing: the event that counted may be the damaged one.
        """
        position, stream, version, previous, stored = row[0], row[2], row[3], row[10], row[11]
        clean = not self.problems
        if missing := range(self.position + 1, position):
            last = f" to {missing[-1]}" if len(missing) > 1 else ""
            self._add(missing[0], f"event {missing[0]}{last} is missing")
        elif previous not in (self.stored, self.computed):
            self._add(position, f"event {position} does not follow from the one before it")
        if computed != stored:
            self._add(position, f"event {position} is not what was hashed")
        elif clean and not missing and version != self.versions.get(stream, 0) + 1:
            known = self.versions.get(stream, 0)
            self._add(position, f"event {position} is version {version} of {_text(stream)}, which was at {known}")

    def _add(self, position: int, what: str) -> None:
        self.problems.append(Problem(position, what))


def _hash_of(row: Row) -> bytes:
    """Compute the hash of an event from its columns; nothing where they cannot have been appended."""
    position, event_id, stream, version, kind, schema, at, actor, causation, correlation, previous, _, payload = (
        row
    )
    try:
        numbers = (b"%d" % position, b"%d" % version, b"%d" % schema)
        header = _SEPARATOR.join(
            (numbers[0], event_id, stream, numbers[1], kind, numbers[2], at, actor, causation, correlation)
        )
        if header.count(_SEPARATOR) != _BETWEEN or b"{" in correlation:
            return b""  # bytes moved from one field to the next, which the hash alone does not see
        return hashlib.sha256(b"".join((previous, header, payload))).hexdigest().encode()
    except TypeError:
        return b""  # a column of another kind, written around the schema


def _check_tables(connection: sqlite3.Connection, problems: list[Problem]) -> None:
    """Compare each row of the other source tables with its content hash."""
    for name, body in connection.execute("SELECT name, body FROM blobs"):
        if hashlib.sha256(body).hexdigest().encode() != name:
            problems.append(Problem(0, f"blob {_text(name)} does not hold what its name says"))
    for episode, source, body, kept in connection.execute(
        "SELECT episode, source, body, content_hash FROM episodes"
    ):
        if content_hash(_text(episode), _text(source), body=body).encode() != kept:
            problems.append(Problem(0, f"episode {_text(episode)} is not what was hashed"))
    for name, body, kept in connection.execute("SELECT name, body, content_hash FROM checkpoints"):
        if content_hash(_text(name), body=body).encode() != kept:
            problems.append(Problem(0, f"checkpoint {_text(name)} is not what was hashed"))


def _check_evidence(connection: sqlite3.Connection, problems: list[Problem]) -> None:
    """Look for evidence that is gone although no event erased it, or there although one did."""
    kept = {_text(name) for (name,) in connection.execute("SELECT name FROM blobs")}
    erased = {str(payload.get("evidence")) for _, payload in _payloads(connection, "EvidenceErased")}
    problems += [
        Problem(position, f"evidence {name} is gone, and no event erased it")
        for position, payload in _payloads(connection, "SignalRaised")
        for name in map(str, payload.get("evidence") or ())
        if name not in kept and name not in erased
    ]
    problems += [Problem(0, f"evidence {name} was erased, and is there") for name in sorted(erased & kept)]


def _payloads(connection: sqlite3.Connection, kind: str) -> Iterable[tuple[int, dict[str, Any]]]:
    """Read the events of one type; those that are damaged have been blamed already."""
    for position, payload in connection.execute("SELECT position, payload FROM events WHERE type = ?", (kind,)):
        try:
            fields = json.loads(payload)
        except (TypeError, ValueError):
            continue
        if isinstance(fields, dict):
            yield position, fields


def _check_pages(location: str) -> list[Problem]:
    """Ask SQLite whether its pages and indexes agree with the rows; a fifth of the time, and all of it in C."""
    with closing(_connect(location)) as connection:
        found = [_text(text) for (text,) in connection.execute("PRAGMA integrity_check")]
    return [Problem(0, f"the database is damaged: {text}") for text in found if text != "ok"]


def _text(stored: bytes) -> str:
    return stored.decode(errors="backslashreplace")
