"""What verification asks of rows, whichever database they were read from: pure, and shared by every backend.

Text comes as bytes, as it is stored: what is no longer UTF-8 is a finding, not an error.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from events.store.contents import BLOB_KINDS, content_hash
from events.store.envelope import GENESIS
from events.store.protocol import Head, Integrity, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from collections.abc import Set as AbstractSet

    Row = tuple[int, bytes, bytes, int, bytes, int, bytes, bytes, bytes, bytes, bytes, bytes, bytes]
    """The columns of an event, text as bytes."""

_HASHED: Final = b"%b%d" + b"\x1f%b\x1f%b\x1f%d\x1f%b\x1f%d\x1f%b\x1f%b\x1f%b\x1f%b" + b"%b"
"""The previous hash, the header and the payload (events.store.envelope.seal): what the hash of an event is over.

Nine separators were hashed, for neither a field nor a payload held one; these nine are all of them again, so that
no byte can have moved past one without another hash. Only the brace separates the last field from the
payload: where it is, must be asked."""

NAMES_EVIDENCE: Final = b'"evidence":["'
"""The part of a signal's payload that names evidence (events.store.envelope.encode): databases search for it."""

_MOST: Final = 1_000
"""Problems listed one by one; a log with more is damaged as a whole, and the rest are only counted."""


def integrity_of(chain: Chain) -> Integrity:
    """Say what was found, the first thousand problems of it."""
    problems = chain.problems
    first = problems[:_MOST]
    if len(problems) > _MOST:
        first.append(Problem(0, f"{len(problems) - _MOST} further problems"))
    return Integrity(chain.events, Head(chain.position, as_text(chain.stored)), tuple(first))


class Chain:
    """Follows the events in order, and blames those that break a promise."""

    def __init__(self, problems: list[Problem], *, behind: Head | None = None) -> None:
        head = behind or Head(0, GENESIS)
        self.problems = problems
        self.events = 0
        self.position = head.position
        self.stored = head.hash.encode()
        self.computed = self.stored
        self.versions: dict[bytes, int] = {}

    def follow(self, rows: Iterable[Row]) -> None:
        """Check each event against the one before it; all that holds takes the short way.

        The database takes half of the time and SHA-256 a sixth; because of the rest the hash is written out here,
        and the place is kept in names of its own until the end.
        """
        versions, version_of = self.versions, self.versions.get
        last, link, digest, events = self.position, self.stored, self.computed, self.events
        try:
            for row in rows:
                position, event_id, stream, version, kind, schema, at, actor, cause, turn, before, stored, body = (
                    row
                )
                try:
                    hashed = _HASHED % (
                        before,
                        position,
                        event_id,
                        stream,
                        version,
                        kind,
                        schema,
                        at,
                        actor,
                        cause,
                        turn,
                        body,
                    )
                    # where the last field ends and the payload begins, the hash does not see
                    sealed = b"{" not in turn and body[:1] == b"{"
                except TypeError:
                    hashed, sealed = b"", False  # a column of another kind, written around the schema
                computed = sha256(hashed).hexdigest().encode() if sealed else b""
                if (
                    computed != stored
                    or before != link
                    or position != last + 1
                    or version != version_of(stream, 0) + 1
                ):
                    self.position, self.stored, self.computed = last, link, digest
                    self._blame(row, computed)
                    version = version if type(version) is int else 0
                versions[stream] = version
                last, link, digest = position, stored, computed
                events += 1
        finally:
            self.position, self.stored, self.computed, self.events = last, link, digest, events

    def _blame(self, row: Row, computed: bytes) -> None:
        """Say what is wrong with an event, once for each cause.

        After the first problem stream versions prove nothing: the event that counted may be the damaged one.
        """
        position, stream, version, previous, stored = row[0], row[2], row[3], row[10], row[11]
        clean = not self.problems
        if missing := range(self.position + 1, position):
            last = f" to {missing[-1]}" if missing[-1] > missing[0] else ""  # len() ends at 2^63
            self._add(missing[0], f"event {missing[0]}{last} is missing")
        elif previous not in (self.stored, self.computed):
            self._add(position, f"event {position} does not follow from the one before it")
        if computed != stored:
            self._add(position, f"event {position} is not what was hashed")
        elif clean and not missing and version != self.versions.get(stream, 0) + 1:
            known = self.versions.get(stream, 0)
            self._add(
                position, f"event {position} is version {version} of {as_text(stream)}, which was at {known}"
            )

    def _add(self, position: int, what: str) -> None:
        self.problems.append(Problem(position, what))


def table_problems(query: Callable[[str], Iterable[tuple[Any, ...]]]) -> Iterator[Problem]:
    """Check the rows of the source tables beside the events; `query` runs a statement."""
    yield from _blob_problems(query("SELECT name, kind, body FROM blobs"))
    yield from _episode_problems(query("SELECT episode, source, body, content_hash FROM episodes"))
    yield from _map_problems(query("SELECT name, body, content_hash FROM checkpoints"))


def _blob_problems(rows: Iterable[tuple[bytes, bytes, bytes]]) -> Iterator[Problem]:
    """Compare blobs, as (name, kind, body), with the hash that names them, and their kind with those there are."""
    for name, kind, body in rows:
        if as_text(kind) not in BLOB_KINDS:
            yield Problem(0, f"blob {as_text(name)} is kept as {as_text(kind)!r}, which nothing is")
        if sha256(_as_bytes(body)).hexdigest().encode() != name:
            yield Problem(0, f"blob {as_text(name)} does not hold what its name says")


def _episode_problems(rows: Iterable[tuple[bytes, bytes, bytes, bytes]]) -> Iterator[Problem]:
    """Compare episodes, as (episode, source, body, content hash), with their hash."""
    for episode, source, body, kept in rows:
        if content_hash(as_text(episode), as_text(source), body=_as_bytes(body)).encode() != kept:
            yield Problem(0, f"episode {as_text(episode)} is not what was hashed")


def _map_problems(rows: Iterable[tuple[bytes, bytes, bytes]]) -> Iterator[Problem]:
    """Compare stored maps, as (name, body, content hash), with their hash."""
    for name, body, kept in rows:
        if content_hash(as_text(name), body=_as_bytes(body)).encode() != kept:
            yield Problem(0, f"map {as_text(name)} is not what was hashed")


def evidence_problems(
    kept: AbstractSet[str], raised: Iterable[tuple[int, bytes]], erased: Iterable[tuple[int, bytes]]
) -> Iterator[Problem]:
    """Look for evidence that is gone although no event erased it, or there although one did.

    Shapes: kept holds the names of blobs; raised and erased are the (position, payload) of the events
    SignalRaised, of those at least that hold NAMES_EVIDENCE, and EvidenceErased.
    """
    gone = {str(payload.get("evidence")) for _, payload in _payloads(erased)}
    for position, payload in _payloads(raised):
        for name in map(str, payload.get("evidence") or ()):
            if name not in kept and name not in gone:
                yield Problem(position, f"evidence {name} is gone, and no event erased it")
    for name in sorted(gone & kept):
        yield Problem(0, f"evidence {name} was erased, and is there")


def _payloads(rows: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """Read the events of one type; those that are damaged have been blamed already."""
    for position, payload in rows:
        try:
            fields = json.loads(payload)
        except (TypeError, ValueError):
            continue
        if isinstance(fields, dict):
            yield position, fields


def as_text(stored: object) -> str:
    """Show stored text, whatever became of it."""
    return stored.decode(errors="backslashreplace") if isinstance(stored, bytes) else str(stored)


def _as_bytes(stored: object) -> bytes:
    """Give stored bytes; none where damage made a number of them, or nothing."""
    return stored if isinstance(stored, bytes) else b""
