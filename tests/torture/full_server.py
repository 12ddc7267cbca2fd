"""A PostgreSQL server whose disk fills up: for its tables first, then for the log it cannot be without."""

from __future__ import annotations

from contextlib import closing, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import psycopg

from events.postgres.address import PostgresAddress
from events.postgres.log import PostgresLog
from tests.contract.drafts import Pen
from tests.contract.log_writers import project
from tests.postgres_server import serving
from tests.torture.full_disk import Ballast, refused, small_disk
from tests.torture.outcome import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from events.store.envelope import EventDraft
    from tests.postgres_server import Server

_DISK_MB = 96
"""A new server takes 38, its log 16 for every segment; the rest is for what is written before the disk is full."""
_LONG = "x" * 1_900
_SETTINGS = (
    "ALTER SYSTEM SET wal_recycle = off",  # a segment that is needed then needs room, at once
    "ALTER SYSTEM SET min_wal_size = '32MB'",
    "ALTER SYSTEM SET max_wal_size = '32MB'",
    "SELECT pg_reload_conf()",
)


@dataclass
class Writer:
    """Appends to a registry, and remembers what was acknowledged and what was not."""

    log: PostgresLog
    pen: Pen = field(default_factory=Pen)
    acknowledged: list[str] = field(default_factory=list)
    blobs: list[str] = field(default_factory=list)
    doubtful: list[list[EventDraft]] = field(default_factory=list)
    """What was sent and not acknowledged: it may be there or not."""

    def append(self) -> None:
        self.doubtful.append([self.pen.draft(text=_LONG), self.pen.draft("gene:a", text=_LONG)])
        self.send_last()

    def send_last(self) -> None:
        versions = self.log.stream_versions(["registry", "gene:a"])
        self.log.append(self.doubtful[-1], expected=versions, project=project)
        self.acknowledged += [envelope.event_id for envelope in self.doubtful.pop()]

    def keep(self) -> None:
        # Random enough that the server cannot press it together.
        body = (
            b"".join(bytes.fromhex(envelope.hash) for envelope in self.log.read())
            + self.pen.draft().event_id.encode()
        )
        self.blobs.append(self.log.put_blob(body, kind="evidence"))


def fill_server(folder: Path, turns: int) -> Outcome:
    """Fill the disk of a server under appends and blobs, with tables and then its log in need; then make room."""
    outcome = Outcome("disk full, PostgreSQL")
    with small_disk(folder / "disk", _DISK_MB) as disk:
        if disk is None:
            outcome.remark = "no tmpfs may be mounted here"
            return outcome
        outcome.remark = f"tmpfs of {_DISK_MB} MB"
        with serving(disk / "server") as server:
            server.execute(*_SETTINGS)
            address = PostgresAddress.parse(server.new_address())
            with closing(PostgresLog.open(address, folder / "beside", create=True)) as log:
                writer = Writer(log)
                for turn in range(turns):
                    _fill_once(writer, server, Ballast(disk), outcome, spare_bytes=turn % 3 * 150_000)
                outcome.figures |= {"acknowledged": len(writer.acknowledged)}
                outcome.add("lost", len(set(writer.acknowledged) - {envelope.event_id for envelope in log.read()}))
    return outcome


def _fill_once(writer: Writer, server: Server, ballast: Ballast, outcome: Outcome, *, spare_bytes: int) -> None:
    """Fill the disk twice: until the tables have no room, and until the server's own log has none."""

    def append_in_a_new_segment() -> None:
        with suppress(psycopg.Error):
            server.execute("SELECT pg_switch_wal()")
        writer.append()

    writer.append()
    ballast.fill(spare_bytes)
    refused(writer.append, outcome, "append")
    refused(writer.keep, outcome, "blob")
    _account(writer, outcome, "while the disk is full")
    refused(append_in_a_new_segment, outcome, "append in a new segment")
    refused(writer.append, outcome, "append to a server that fell over")
    outcome.add("falls of the server", not server.answers())
    ballast.remove()
    if server.stand_up():
        outcome.add("hung until ended")
    while writer.doubtful:
        writer.send_last()  # with the ids that it had: written now, unless it was then
    writer.append()
    writer.keep()
    _account(writer, outcome, "when there was room again")


def _account(writer: Writer, outcome: Outcome, when: str) -> None:
    """See that all that was acknowledged is there, with its documents, and nothing that was never sent."""
    events, integrity = list(writer.log.read()), writer.log.verify()
    there, known = {envelope.event_id for envelope in events}, set(writer.acknowledged)
    documents = writer.log.documents("seen")
    outcome.expect(known <= there, f"{when}: {len(known - there)} acknowledged events are lost")
    sent = known | {draft.event_id for batch in writer.doubtful for draft in batch}
    outcome.expect(there <= sent, f"{when}: an event is there that nobody sent")
    outcome.expect(set(writer.blobs) <= writer.log.blob_kinds().keys(), f"{when}: a blob is lost")
    outcome.expect(sorted(documents) == sorted(project(events)), f"{when}: the projection is torn")
    outcome.expect(not integrity.problems, f"{when}: it does not verify: {integrity.problems[:2]}")
