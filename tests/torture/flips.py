"""Single bits that turn, and files that are cut: what finds out, and what lay in bytes that carry nothing."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from events.errors import GermlineError
from events.integrity.checkpoint import Checkpoint, check_against, take_checkpoint
from events.sqlite.log import SqliteLog
from events.sqlite.salvage import salvage
from events.store.envelope import GENESIS, EventDraft, encode, seal
from events.store.protocol import StoredEpisode
from events.types.registry_events import RegistryCreated
from registry.projection.projector import rebuild
from registry.registry import Registry
from tests.clocks import TickingClock
from tests.registries import imported, learn, new_registry
from tests.torture.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path
    from random import Random

    from events.store.envelope import Envelope
    from events.store.protocol import Integrity

AT = "2026-11-22T00:00:00.000000Z"
SOURCE_TABLES = ("events", "blobs", "episodes", "checkpoints")
_FRAME_BYTES = 24 + 4_096
_LOG_HEADER_BYTES = 32
_FORGED = 1


@dataclass(frozen=True)
class Whole:
    """A registry before anything happens to it: its files, what it holds, and what was acknowledged of it."""

    database: bytes
    log: bytes
    source: list[list[tuple[Any, ...]]]
    documents: list[tuple[Any, ...]]
    seen: tuple[Checkpoint, ...]
    head: str


def grown(folder: Path, versions: int, *, open_log: bool) -> Whole:
    """Grow a registry with a row in every table; with `open_log`, half of it lies in SQLite's log only."""
    registry = new_registry(folder, TickingClock())
    imported(registry, folder, files={"scripts/count.py": "print(1)\n" * 40})
    path = folder / "registry.db"

    with closing(registry.log):
        grow(registry, range(versions // 2))
        if open_log:
            registry.log.close()
            reopened = SqliteLog.open(path)
            reopened._session.rows("PRAGMA wal_autocheckpoint = 0")
            registry = Registry(reopened, TickingClock(seed=2), "person:ada")
        grow(registry, range(versions // 2, versions))
        seen = (take_checkpoint(registry.log, at=AT),)
        source, documents = rows(path)
        database, log = path.read_bytes(), b""
        if open_log:
            log = path.with_name("registry.db-wal").read_bytes()
        head = registry.log.head().hash
        registry.log.close()
    return Whole(path.read_bytes() if not open_log else database, log, source, documents, seen, head)


def grow(registry: Registry, versions: range) -> None:
    """Let a registry learn a line for each number, with a row in every other source table."""
    for number in versions:
        learn(registry, f"Line {number}.\n", candidate=f"c{number}", claims=())
        registry.log.put_blob(b"text %d " % number * 30, kind="evidence")
        registry.log.put_episodes([StoredEpisode(f"e{number}", "a.jsonl", b'{"steps": []}' * 9)])
        registry.log.put_map(f"log {number % 3}", b"%d" % number)


def rows(path: Path) -> tuple[list[list[tuple[Any, ...]]], list[tuple[Any, ...]]]:
    """Read every row of the source tables, and every document."""
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as connection:
        source = [connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in SOURCE_TABLES]
        source.append(connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall())
        documents = connection.execute("SELECT * FROM documents ORDER BY view, key, seq").fetchall()
    return source, documents


def laid_out(whole: Whole, path: Path, *, database: bytes | None = None, log: bytes | None = None) -> None:
    """Write the files of a registry as they were, or as something made of them."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    path.write_bytes(whole.database if database is None else database)
    content = whole.log if log is None else log
    if content:
        path.with_name(f"{path.name}-wal").write_bytes(content)


def caught_by(path: Path, whole: Whole) -> str:
    """Name what finds the damage, `nothing` for damage that is silent."""
    try:
        log = SqliteLog.open(path, read_only=True)
    except GermlineError:
        return "refused on opening"
    with closing(log):
        integrity = log.verify()
        if integrity.problems:
            return verifier(integrity)
        if check_against(log, whole.seen, roots=False):
            return "checkpoint outside"
        source, documents = rows(path)
    if source != whole.source:
        # Rows beside the events are no older than one scan: it is read again. No witness outside counts them.
        earlier = source[0] == whole.source[0] and all(
            len(now) <= len(then) for now, then in zip(source, whole.source, strict=True)
        )
        return "an earlier scan" if earlier else "nothing"
    if documents == whole.documents:
        return "carries nothing"
    return "disposable: a rebuild mends it" if _rebuilt(path) == whole.documents else "nothing"


def verifier(integrity: Integrity, *, otherwise: str = "SQLite's pages") -> str:
    """Name which part of a verification found the first of its problems; `otherwise` for the database's own."""
    problems = [problem.what for problem in integrity.problems]
    for words, name in {
        "event ": "chain",
        "blob ": "row hash",
        "episode ": "row hash",
        "checkpoint ": "row hash",
    }.items():
        if any(what.startswith(words) for what in problems):
            return name
    return "log breaks off" if any("log breaks off" in what for what in problems) else otherwise


def _rebuilt(path: Path) -> list[tuple[Any, ...]]:
    with closing(SqliteLog.open(path)) as log:
        rebuild(log)
    return rows(path)[1]


def flip_bits(chance: Random, folder: Path, flips: int, *, in_log: bool) -> Outcome:
    """Turn one random bit after the other, each in a fresh copy; also say how much a repair brings back."""
    folder.mkdir(exist_ok=True)
    whole = grown(folder, 24, open_log=in_log)
    outcome = Outcome("bit flips in the WAL" if in_log else "bit flips in the file", {"flips": flips})
    content = bytearray(whole.log if in_log else whole.database)
    path = folder / "flipped.db"
    for _ in range(flips):
        bit = chance.randrange(len(content) * 8)
        content[bit // 8] ^= 1 << bit % 8
        laid_out(whole, path, **{"log" if in_log else "database": bytes(content)})
        by = caught_by(path, whole)
        outcome.add(by)
        outcome.expect(by != "nothing", f"bit {bit % 8} of byte {bit // 8:,} is silent")
        if in_log or by in {"refused on opening", "chain", "SQLite's pages"}:
            laid_out(whole, path, **{"log" if in_log else "database": bytes(content)})
            outcome.add("repaired without a loss of events", _recovers(path, whole))
        content[bit // 8] ^= 1 << bit % 8
    return outcome


def _recovers(path: Path, whole: Whole) -> bool:
    """Tell whether a repair would bring every event back."""
    new = path.with_name("recovered.db")
    try:
        return salvage(path, new).head.hash == whole.head
    finally:
        for suffix in ("", "-wal", "-shm"):
            new.with_name(new.name + suffix).unlink(missing_ok=True)


def cut_files(chance: Random, folder: Path, cuts: int) -> Outcome:
    """Cut the database and its log at page and frame boundaries, within them, and down to nothing."""
    folder.mkdir(exist_ok=True)
    whole, outcome = grown(folder, 24, open_log=True), Outcome("cut files")
    path, page = folder / "cut.db", 4_096
    pages, frames = len(whole.database) // page, (len(whole.log) - _LOG_HEADER_BYTES) // _FRAME_BYTES
    database = {0, 1, 50, 100, page, len(whole.database) - 1, len(whole.database) - page}
    database |= {chance.randrange(pages) * page + chance.choice((0, 0, 1, 700)) for _ in range(cuts)}
    log = {1, _LOG_HEADER_BYTES, _LOG_HEADER_BYTES + 24, len(whole.log) - 1, len(whole.log) - _FRAME_BYTES}
    log |= {
        _LOG_HEADER_BYTES + chance.randrange(frames) * _FRAME_BYTES + chance.choice((0, 0, 24, 900))
        for _ in range(cuts)
    }
    for name, places in (("database", database), ("log", log)):
        for size in sorted(places):
            laid_out(whole, path, **{name: (whole.database if name == "database" else whole.log)[:size]})
            by = caught_by(path, whole)
            outcome.add(f"cuts of the {name}")
            outcome.add(by)
            outcome.expect(by != "nothing", f"{name} cut to {size} is silent")
    return outcome


def rewrite_history(folder: Path) -> Outcome:
    """Write the whole chain again with one event changed, and cut its end with SQL: only a checkpoint tells."""
    folder.mkdir(exist_ok=True)
    whole, outcome = grown(folder, 10, open_log=False), Outcome("rewritten history")
    path = folder / "rewritten.db"
    for name, change in {"whole-chain rewrites": _reseal, "cut tails": _cut_tail}.items():
        laid_out(whole, path)
        change(path)
        with closing(SqliteLog.open(path, read_only=True)) as log:
            outcome.expect(not log.verify().problems, f"{name}: the chain alone would have told")
            outcome.add(name)
            outcome.add("caught by --against", bool(check_against(log, whole.seen)))
    outcome.expect(outcome.figures["caught by --against"] == 2, "history was rewritten, and nobody noticed")
    return outcome


def resealed(events: Sequence[Envelope]) -> tuple[Envelope, ...]:
    """Write a history again with its first event changed, and every hash as it has to be."""
    forged = RegistryCreated(split_key="another", preset="balanced")
    drafts = [
        (
            EventDraft(
                envelope.stream,
                forged,
                envelope.event_id,
                envelope.at,
                envelope.actor,
                envelope.causation,
                envelope.correlation,
            ),
            encode(forged) if envelope.position == _FORGED else envelope.payload,
        )
        for envelope in events
    ]
    assert events[_FORGED - 1].type == forged.type
    return seal(
        drafts, position=0, previous=GENESIS, versions=dict.fromkeys({envelope.stream for envelope in events}, 0)
    )


def _reseal(path: Path) -> None:
    with closing(SqliteLog.open(path)) as log:
        events = list(log.read())
    _rewrite(path, ["DELETE FROM events"], resealed(events))


def _cut_tail(path: Path) -> None:
    _rewrite(path, ["DELETE FROM events WHERE position > (SELECT max(position) - 5 FROM events)"], ())


def _rewrite(path: Path, statements: list[str], events: tuple[tuple[Any, ...], ...]) -> None:
    """Change the events as somebody would who knows SQLite: without the triggers, which are put back."""
    with closing(sqlite3.connect(path)) as connection:
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:
            connection.execute(f"DROP TRIGGER {name}")
        for statement in statements:
            connection.execute(statement)
        connection.executemany(f"INSERT INTO events VALUES ({', '.join('?' * 13)})", events)
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()
