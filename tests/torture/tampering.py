"""What somebody changes on PostgreSQL who may do anything there, as the owner of a registry or as superuser."""

from __future__ import annotations

from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import psycopg

from events.integrity.checkpoint import Checkpoint, check_against, take_checkpoint
from events.postgres.address import PostgresAddress
from events.postgres.log import PostgresLog
from events.store.envelope import Envelope
from registry.decide.commands import CreateRegistry
from registry.projection.projector import rebuild
from registry.registry import Registry
from tests.clocks import TickingClock
from tests.registries import imported
from tests.torture.flips import AT, SOURCE_TABLES, grow, resealed, verifier
from tests.torture.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from random import Random

    from psycopg import Connection

    from tests.postgres_server import Server

    Value = int | str | bytes

_OWNER = "owner_who_tampers"
_GRANTS = {"events": "UPDATE, DELETE", "blobs": "UPDATE", "episodes": "UPDATE"}
"""What an owner has to grant himself before he can change a table: what was revoked when it was made."""
_REWRITE = f"INSERT INTO events VALUES ({', '.join(['%s'] * len(Envelope._fields))})"
_COLUMNS = "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 ORDER BY attnum"
_KIND = 1
"""Where the kind of a blob stands in its row."""


class Hand:
    """A connection that changes what the database refuses to change, and leaves it refusing again."""

    def __init__(self, connection: Connection[tuple[Any, ...]], registry: str, *, superuser: bool) -> None:
        self._connection = connection
        self._superuser = superuser
        connection.execute(f"SET search_path TO {registry}")
        if superuser:
            connection.execute("SET session_replication_role = replica")

    def write(self, table: str, statement: str, rows: Sequence[Sequence[object]] = ((),)) -> list[tuple[Any, ...]]:
        """Change a table by a statement for each row, without its triggers; returns what the last one says."""
        with self._connection.transaction(), self._connection.cursor() as cursor:
            self._open_up(cursor, table)
            for row in rows:
                cursor.execute(statement, row)
            answer = cursor.fetchall() if cursor.description else []
            self._close_again(cursor, table)
        return answer

    def _open_up(self, cursor: psycopg.Cursor[tuple[Any, ...]], table: str) -> None:
        if not self._superuser:
            if table in _GRANTS:
                cursor.execute(f"GRANT {_GRANTS[table]} ON {table} TO CURRENT_USER")
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")

    def _close_again(self, cursor: psycopg.Cursor[tuple[Any, ...]], table: str) -> None:
        if not self._superuser:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
            if table in _GRANTS:
                cursor.execute(f"REVOKE {_GRANTS[table]} ON {table} FROM CURRENT_USER")


@dataclass(frozen=True)
class Victim:
    """A registry on PostgreSQL, what it held before anything happened to it, and the hands that change it."""

    registry: Registry
    log: PostgresLog
    source: list[list[tuple[Any, ...]]]
    documents: list[tuple[Any, ...]]
    seen: tuple[Checkpoint, ...]
    hands: tuple[Hand, Hand]

    def is_whole(self) -> bool:
        """Tell whether it holds what it held, and verifies."""
        whole = (self.source, self.documents) == rows(self.log)
        return whole and not self.log.verify().problems and not check_against(self.log, self.seen)


@contextmanager
def victim(server: Server, versions: int) -> Iterator[Victim]:
    """Grow a registry with a row in every table, whose owner is no superuser."""
    server.execute(
        f"DO $$ BEGIN CREATE ROLE {_OWNER} LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$",
        f"GRANT CREATE ON DATABASE postgres TO {_OWNER}",
    )
    stated = server.new_address(user=_OWNER)
    name = PostgresAddress.parse(stated).registry
    with (
        TemporaryDirectory() as skills,
        closing(PostgresLog.open(PostgresAddress.parse(stated), Path(skills) / "beside", create=True)) as log,
        server.admin() as superuser,
        server.admin(user=_OWNER) as owner,
    ):
        registry = Registry(log, TickingClock(), "person:ada")
        registry.execute(CreateRegistry("key", "balanced"))
        imported(registry, Path(skills), files={"scripts/count.py": "print(1)\n" * 40})
        grow(registry, range(versions))
        hands = Hand(superuser, name, superuser=True), Hand(owner, name, superuser=False)
        yield Victim(registry, log, *rows(log), (take_checkpoint(log, at=AT),), hands)


def rows(log: PostgresLog) -> tuple[list[list[tuple[Any, ...]]], list[tuple[Any, ...]]]:
    """Read every row of the source tables, and every document."""
    source = [log._session.rows(f"SELECT * FROM {table} ORDER BY 1") for table in SOURCE_TABLES]
    return source, log._session.rows("SELECT * FROM documents ORDER BY view, key, seq")


def tamper(chance: Random, server: Server, changes: int, *, versions: int = 24) -> Outcome:
    """Turn one random bit, or put another text, in a random column of a random row; each is undone again."""
    outcome = Outcome("tampering, PostgreSQL", {"changes": changes})
    with victim(server, versions) as whole:
        for _ in range(changes):
            what, by = _one_change(chance, whole)
            outcome.add(by)
            outcome.expect(by != "nothing", f"{what} is silent")
        outcome.expect(whole.is_whole(), "what was changed was not undone")
    return outcome


def _one_change(chance: Random, whole: Victim) -> tuple[str, str]:
    """Change one value, see what finds it, and put it back; returns what was changed, and what found it."""
    hand, table = chance.choice(whole.hands), chance.choice((*SOURCE_TABLES, "documents"))
    columns = [name for (name,) in whole.log._session.rows(_COLUMNS, (table,))]
    number = chance.randrange(len(columns))
    there = whole.log._session.rows(f"SELECT ctid::text, * FROM {table} ORDER BY 2, 3, 4")
    place, *values = chance.choice(there)
    before: Value = values[number]
    after = _changed(chance, before, sorted({row[number + 1] for row in there} - {before}))
    what = f"{table}.{columns[number]} of {values[0]!r}: {after!r} for {before!r}"
    given = "convert_from(%s, 'UTF8')" if isinstance(before, str) else "%s"
    statement = f"UPDATE {table} SET {columns[number]} = {given} WHERE ctid = %s::tid RETURNING ctid::text"
    try:
        ((moved,),) = hand.write(table, statement, [(after, place)])
    except (psycopg.errors.UniqueViolation, psycopg.DataError):  # a key that exists; bytes that are no text
        return what, "refused by the database"
    by = caught_by(whole)
    hand.write(table, statement, [(before.encode() if isinstance(before, str) else before, moved)])
    return what, by


def _changed(chance: Random, before: Value, others: Sequence[Value]) -> int | bytes:
    """Turn a bit; or make a text another one, of another row or of none. Text is returned as bytes."""
    if isinstance(before, int):
        turned = before % 2**64 ^ 1 << chance.randrange(64)
        return turned - 2**64 if turned >= 2**63 else turned
    if isinstance(before, str) and chance.random() < 0.5:
        return str(chance.choice([*others, f"{before} too"])).encode()
    content = bytearray(before.encode() if isinstance(before, str) else before)
    if not content:
        return bytes([chance.randrange(1, 128)])
    bit = chance.randrange(len(content) * 8)
    content[bit // 8] ^= 1 << bit % 8
    return bytes(content)


def caught_by(whole: Victim) -> str:
    """Name what finds the change, `nothing` for one that is silent."""
    integrity = whole.log.verify()
    if integrity.problems:
        return verifier(integrity, otherwise="what PostgreSQL says")
    if check_against(whole.log, whole.seen, roots=False):
        return "checkpoint outside"
    source, documents = rows(whole.log)
    if source != whole.source:
        return (
            "another kind of blob, not told"
            if _but_for_kinds(source) == _but_for_kinds(whole.source)
            else "nothing"
        )
    if documents == whole.documents:
        return "carries nothing"
    with whole.registry.rehearsal():
        rebuild(whole.log)
        _, documents = rows(whole.log)
    return "disposable: a rebuild mends it" if documents == whole.documents else "nothing"


def _but_for_kinds(source: list[list[tuple[Any, ...]]]) -> list[list[tuple[Any, ...]]]:
    """Leave out what no hash covers, as docs/verify.md says: the kind of a blob, changed into another there is."""
    blobs = SOURCE_TABLES.index("blobs")
    return [
        [row[:_KIND] + row[_KIND + 1 :] for row in table] if number == blobs else table
        for number, table in enumerate(source)
    ]


def rewrite_on_server(server: Server, *, versions: int = 10) -> Outcome:
    """Write the whole chain again with one event changed, and cut its end: only a checkpoint tells."""
    outcome = Outcome("rewritten, PostgreSQL")
    with victim(server, versions) as whole:
        events = list(whole.log.read())
        changed = {"whole-chain rewrites": resealed(events), "cut tails": tuple(events[:-5])}
        for hand in whole.hands:
            for name, history in changed.items():
                _put_in_place(hand, history)
                outcome.expect(not whole.log.verify().problems, f"{name}: the chain alone would have told")
                outcome.add(name)
                outcome.add("caught by --against", bool(check_against(whole.log, whole.seen)))
                _put_in_place(hand, events)
        outcome.expect(outcome.figures["caught by --against"] == 4, "history was rewritten, and nobody noticed")
        outcome.expect(whole.is_whole(), "what was changed was not undone")
    return outcome


def _put_in_place(hand: Hand, events: Sequence[Envelope]) -> None:
    """Replace all events by others."""
    hand.write("events", "DELETE FROM events")
    hand.write("events", _REWRITE, events)
