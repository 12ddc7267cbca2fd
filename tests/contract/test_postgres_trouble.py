"""What PostgreSQL is asked to refuse, who may do what, and what happens when it goes away."""

from __future__ import annotations

import logging
import re
import threading
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest

from events.errors import (
    BusyError,
    ConflictError,
    CorruptLogError,
    CredentialsError,
    GermlineError,
    NotFoundError,
    StorageError,
)
from events.postgres.address import PostgresAddress
from events.postgres.errors import refused
from events.postgres.log import PostgresLog
from events.postgres.migrations import SCHEMA_VERSION
from events.sqlite.log import SqliteLog
from events.store.envelope import Envelope
from events.store.protocol import StoredDocument, StoredEpisode
from registry.projection.document_check import document_problems
from tests.contract.drafts import Pen, put
from tests.contract.promise_contract import grown
from tests.registries import NAME

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.postgres_server import Server

WRITERS = 8
APPENDS = 25
REST = ", ".join(Envelope._fields[4:])


def opened(stated: str, *, create: bool = False, read_only: bool = False, patience_s: float = 5) -> PostgresLog:
    address = PostgresAddress.parse(stated)
    return PostgresLog.open(address, Path(), create=create, read_only=read_only, patience_s=patience_s)


@pytest.fixture
def where(postgres: Server) -> str:
    """Name a registry of five events, with a row in each other table."""
    stated = postgres.empty_address()
    with closing(opened(stated)) as log:
        pen = Pen("first")
        put(log, *(pen.draft(stream) for stream in ("registry", "gene:a", "registry", "gene:a", "registry")))
        log.put_blob(b"some text", kind="evidence")
        log.put_episodes([StoredEpisode("e1", "a.jsonl", b"{}")])
        log.put_map("a.jsonl", b"10")
    return stated


@pytest.fixture
def log(where: str) -> Iterator[PostgresLog]:
    with closing(opened(where)) as log:
        yield log


def schema_of(stated: str) -> str:
    return PostgresAddress.parse(stated).registry


def as_user(stated: str, user: str) -> str:
    return stated.replace("postgres@", f"{user}@")


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE {at}.events SET actor = actor",
        "UPDATE {at}.events SET position = 9 WHERE position = 5",
        "DELETE FROM {at}.events WHERE position = 5",
        "TRUNCATE {at}.events",
        f"INSERT INTO {{at}}.events SELECT 7, 'x', 'new', 1, {REST} FROM {{at}}.events WHERE position = 5",
        f"INSERT INTO {{at}}.events SELECT 0, 'x', 'new', 1, {REST} FROM {{at}}.events WHERE position = 5",
        "INSERT INTO {at}.events SELECT * FROM {at}.events ON CONFLICT (position) DO UPDATE SET actor = 'x'",
        "UPDATE {at}.blobs SET body = ''",
        "UPDATE {at}.episodes SET body = ''",
        "TRUNCATE {at}.blobs, {at}.episodes",
    ],
)
def test_the_database_itself_refuses_even_its_administrator(
    postgres: Server, where: str, log: PostgresLog, statement: str
) -> None:
    before = list(log.read())
    with pytest.raises(psycopg.errors.RestrictViolation, match="ever"):
        postgres.execute(statement.format(at=schema_of(where)))
    assert list(log.read()) == before
    assert log.verify().problems == ()


def test_the_owner_of_a_registry_has_no_grant_to_change_its_events(postgres: Server) -> None:
    postgres.execute("DROP ROLE IF EXISTS owner_of_one", "CREATE ROLE owner_of_one LOGIN")
    postgres.execute("GRANT CREATE ON DATABASE postgres TO owner_of_one")
    stated = postgres.new_address(user="owner_of_one")
    with closing(opened(stated, create=True)) as log:
        put(log, *Pen().drafts(2))
        for statement in ("UPDATE events SET actor = 'x'", "DELETE FROM events", "TRUNCATE events"):
            with pytest.raises(StorageError, match="may not do that"):
                log._session.run(statement)
        assert log.verify().problems == ()


@pytest.fixture
def reader(postgres: Server, where: str) -> str:
    """Give the address of the same registry for somebody who has nothing but SELECT."""
    at = schema_of(where)
    with postgres.admin() as connection:
        if not connection.execute("SELECT 1 FROM pg_roles WHERE rolname = 'only_reads'").fetchall():
            connection.execute("CREATE ROLE only_reads LOGIN")
    postgres.execute(
        f"GRANT USAGE ON SCHEMA {at} TO only_reads", f"GRANT SELECT ON ALL TABLES IN SCHEMA {at} TO only_reads"
    )
    return as_user(where, "only_reads")


@pytest.mark.parametrize("read_only", [True, False])
def test_a_role_that_may_only_read_reads_everything_and_is_told_when_it_writes(
    reader: str, *, read_only: bool
) -> None:
    with closing(opened(reader, read_only=read_only)) as log:
        assert [e.position for e in log.read()] == [1, 2, 3, 4, 5]
        assert (len(log.blob_kinds()), len(list(log.episodes())), len(log.maps())) == (1, 1, 1)
        assert list(islice(log.subscribe(after=3, poll_s=0.001), 2))
        assert log.verify().problems == ()
        for write in (
            lambda: put(log, Pen("more").draft()),
            lambda: log.put_documents([StoredDocument("v", "k", 0, b"")]),
            lambda: log.put_map("b", b""),
        ):
            with pytest.raises(StorageError, match="cannot be written" if read_only else "may not") as caught:
                write()
            assert caught.value.hint
        assert log.head().position == 5


def let_write(postgres: Server, where: str) -> None:
    """Grant a role `writer` what the documentation lists."""
    page = (Path(__file__).parents[2] / "docs/postgres.md").read_text(encoding="utf-8")
    grants = re.findall(r"^GRANT .* TO writer;", page, re.MULTILINE)
    assert len(grants) == 6
    postgres.execute("DO $$ BEGIN CREATE ROLE writer LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$")
    postgres.execute(*(grant.replace("agents", schema_of(where)) for grant in grants))


def test_a_writer_changes_no_text_unseen(postgres: Server, tmp_path: Path) -> None:
    where = postgres.new_address()
    with closing(opened(where, create=True)) as log:
        registry = grown(log, tmp_path)
        let_write(postgres, where)
        with postgres.admin(user="writer") as writer:
            writer.execute(
                f"UPDATE {schema_of(where)}.documents SET body = (SELECT body FROM {schema_of(where)}.documents"
                " WHERE view = 'snapshot' LIMIT 1) WHERE view = 'live'"
            )
        with pytest.raises(StorageError, match=f"the state of {NAME} .* is damaged"):
            registry.capsule(NAME)
        assert [problem.what.partition(" beside")[0] for problem in document_problems(log)] == [
            f"the state of {NAME} at version 5"
        ]


def test_a_writer_who_is_not_the_owner_needs_the_grants_that_the_documentation_lists(
    postgres: Server, where: str
) -> None:
    let_write(postgres, where)
    with closing(opened(as_user(where, "writer"))) as log:
        put(log, Pen("more").draft())
        for _ in range(2):
            log.put_documents([StoredDocument("v", "k", 0, b"")])
            log.put_map("b.jsonl", b"")
        log.drop_documents()
        assert log.erase_blob(log.put_blob(b"more text", kind="evidence"))
        log.put_episodes([StoredEpisode("e2", "a.jsonl", b"{}")])
        assert log.drop_episodes({"e2": "e1"}) == 1
        assert not log.scrub(), "its owner's to do"
        with pytest.raises(StorageError, match="may not do that"):
            log._session.run("DELETE FROM events")
        assert log.verify().problems == ()


def test_a_role_without_any_grant_is_told_so(postgres: Server, where: str) -> None:
    postgres.execute("DROP ROLE IF EXISTS nobody_at_all", "CREATE ROLE nobody_at_all LOGIN")
    with pytest.raises(StorageError, match="may not do that"):
        opened(as_user(where, "nobody_at_all"))


def test_registries_of_one_database_know_nothing_of_each_other(postgres: Server, log: PostgresLog) -> None:
    with closing(opened(postgres.new_address(), create=True, patience_s=0.05)) as other:
        with log.transaction():
            put(log, Pen("one").draft())
            assert put(other, Pen("other").draft()).envelopes[0].position == 1
        assert (log.head().position, other.head().position) == (6, 1)


def test_a_missing_registry_is_not_made_by_looking(postgres: Server) -> None:
    stated = postgres.new_address()
    for _ in range(2):
        with pytest.raises(NotFoundError) as caught:
            opened(stated)
        assert caught.value.hint == "germline init"


def test_those_who_make_one_registry_at_once_make_it_once(postgres: Server) -> None:
    stated = postgres.new_address()
    failed: list[BaseException] = []

    def make() -> None:
        try:
            opened(stated, create=True).close()
        except GermlineError as error:
            failed.append(error)

    makers = [threading.Thread(target=make) for _ in range(4)]
    for maker in makers:
        maker.start()
    for maker in makers:
        maker.join()
    assert failed == []
    with closing(opened(stated)) as log:
        steps = log._session.rows("SELECT step FROM germline_steps ORDER BY step")
    assert steps == [(step,) for step in range(1, SCHEMA_VERSION + 1)]


def test_a_registry_of_the_first_schema_is_read_as_it_is_and_brought_up_to_date_by_a_writer(
    postgres: Server,
) -> None:
    where = postgres.new_address()
    there = schema_of(where)
    with closing(opened(where, create=True)) as log:
        put(log, Pen("first").draft("gene:a"))
    postgres.execute(f"DELETE FROM {there}.germline_steps WHERE step > 1", f"DROP FUNCTION {there}.append_event")
    with closing(opened(where, read_only=True)) as log:
        assert [envelope.position for envelope in log.read()] == [1]
        assert log._session.rows("SELECT max(step) FROM germline_steps") == [(1,)]
    with closing(opened(where)) as log:
        put(log, Pen("second").draft("gene:b"))
        assert log._session.rows("SELECT max(step) FROM germline_steps") == [(SCHEMA_VERSION,)]
        assert log.verify().problems == ()


def test_a_server_that_hashes_otherwise_is_found_out_by_the_first_who_appends(postgres: Server) -> None:
    stated = postgres.new_address()
    opened(stated, create=True).close()
    with postgres.admin() as hand:
        query = "SELECT pg_get_functiondef(%s::regproc)"
        ((written,),) = hand.execute(query, (f"{schema_of(stated)}.append_event",)).fetchall()
        hand.execute(str(written).replace("sha256(", "sha224("))
    with closing(opened(stated)) as log, pytest.raises(CorruptLogError, match="event 1 with a hash") as caught:
        put(log, Pen("first").draft("gene:a"))
    assert (caught.value.position, caught.value.hint) == (1, "germline verify")


def test_a_registry_of_a_newer_germline_is_refused(postgres: Server) -> None:
    stated = postgres.new_address()
    opened(stated, create=True).close()
    postgres.execute(f"INSERT INTO {schema_of(stated)}.germline_steps VALUES (99)")
    for read_only in (True, False):
        with pytest.raises(StorageError, match="schema 99") as caught:
            opened(stated, read_only=read_only)
        assert caught.value.hint == "upgrade germline"


def test_a_schema_of_something_else_is_refused_and_left_alone(postgres: Server) -> None:
    stated = postgres.new_address()
    postgres.execute(f"CREATE SCHEMA {schema_of(stated)}", f"CREATE TABLE {schema_of(stated)}.events (n int)")
    for create in (True, False):
        with pytest.raises(CorruptLogError, match="something else"):
            opened(stated, create=create)


def test_an_empty_schema_that_was_given_is_used(postgres: Server) -> None:
    stated = postgres.new_address()
    postgres.execute(f"CREATE SCHEMA {schema_of(stated)}")
    with closing(opened(stated, create=True)) as log:
        put(log, Pen().draft())


def test_a_database_that_cannot_keep_all_text_is_refused(postgres: Server) -> None:
    postgres.execute(
        "DROP DATABASE IF EXISTS latin", "CREATE DATABASE latin ENCODING LATIN1 LOCALE 'C' TEMPLATE template0"
    )
    with pytest.raises(StorageError, match="UTF8"):
        opened(postgres.new_address(database="latin"), create=True)


def test_a_refused_login_a_missing_database_and_a_server_that_is_not_there_are_told_apart(
    postgres: Server,
) -> None:
    with postgres.admin() as connection:
        ((hba,),) = connection.execute("SHOW hba_file").fetchall()
        connection.execute("DROP ROLE IF EXISTS with_password")
        connection.execute("CREATE ROLE with_password LOGIN PASSWORD 's3cret'")
        rules = Path(str(hba))
        rules.write_text("local all with_password scram-sha-256\n" + rules.read_text())
        connection.execute("SELECT pg_reload_conf()")
    stated = as_user(postgres.new_address(), "with_password:wr0ng")
    for wrong in (stated, stated.replace(":wr0ng", "")):
        with pytest.raises(CredentialsError) as refused:
            opened(wrong)
        assert refused.value.exit_code == 4
        assert "PGPASSWORD" in refused.value.hint
        assert "wr0ng" not in str(refused.value)
    with pytest.raises(NotFoundError, match="nowhere"):
        opened(postgres.new_address(database="nowhere"))
    with pytest.raises(StorageError, match="cannot be reached"):
        opened("postgresql://postgres@localhost:1/postgres?connect_timeout=2")


def test_hashes_are_those_of_a_registry_in_a_file(log: PostgresLog, tmp_path: Path) -> None:
    with closing(SqliteLog.open(tmp_path / "registry.db", create=True)) as file:
        pen = Pen("first")
        put(file, *(pen.draft(stream) for stream in ("registry", "gene:a", "registry", "gene:a", "registry")))
        assert list(file.read()) == list(log.read())


def test_a_subscriber_sees_what_eight_writers_append_once_and_in_order(where: str, log: PostgresLog) -> None:
    def write(name: str) -> None:
        pen = Pen(name)
        with closing(opened(where)) as own:
            for turn in range(APPENDS):
                own.append([pen.draft(f"gene:{name}")], expected={f"gene:{name}": turn})

    writers = [threading.Thread(target=write, args=(f"w{n}",)) for n in range(WRITERS)]
    for writer in writers:
        writer.start()
    seen = list(islice(log.subscribe(poll_s=0.01), 5 + WRITERS * APPENDS))
    for writer in writers:
        writer.join()
    assert [e.position for e in seen] == list(range(1, 6 + WRITERS * APPENDS))
    assert log.verify().problems == ()
    assert log.stream_versions([f"gene:w{n}" for n in range(WRITERS)]) == dict.fromkeys(
        [f"gene:w{n}" for n in range(WRITERS)], APPENDS
    )


def test_a_subscriber_is_told_of_an_append_long_before_it_would_look(where: str, log: PostgresLog) -> None:
    coming = log.subscribe(after=5, poll_s=600)  # the timeout of the test would be passed first

    def write() -> None:
        with closing(opened(where)) as other:
            put(other, Pen("late").draft())

    writer = threading.Thread(target=write)
    writer.start()
    assert next(coming).position == 6
    writer.join()


def cut(postgres: Server, log: PostgresLog) -> None:
    """End the connection of a log, as a restart of the server would."""
    postgres.execute(f"SELECT pg_terminate_backend({log._session._connection.info.backend_pid})")


def test_a_connection_that_was_lost_between_two_questions_is_made_again(
    postgres: Server, log: PostgresLog
) -> None:
    cut(postgres, log)
    assert log.head().position == 5
    cut(postgres, log)
    with log.transaction():
        put(log, Pen("more").draft())
    cut(postgres, log)
    assert list(islice(log.subscribe(after=5, poll_s=0.001), 1))


def test_a_connection_that_is_lost_within_a_transaction_takes_all_of_it_along(
    postgres: Server, log: PostgresLog
) -> None:
    batch = Pen("more").drafts(2)

    def lose() -> None:
        with log.transaction():
            log.append(batch, expected={"registry": 3})
            cut(postgres, log)
            log.put_map("b.jsonl", b"")

    with pytest.raises(StorageError, match="lost") as caught:
        lose()
    assert "again" in caught.value.hint
    assert (log.head().position, log.append(batch, expected={"registry": 3}).repeated) == (5, False)


@pytest.mark.parametrize(("way", "before", "events"), [("placed", 0, 1), ("alone", 2, 1), ("run", 0, 2)])
def test_an_append_whose_answer_was_lost_is_answered_when_it_is_sent_again(
    postgres: Server, log: PostgresLog, monkeypatch: pytest.MonkeyPatch, way: str, before: int, events: int
) -> None:
    session, pen = log._session, Pen("more")
    for version in range(3, 3 + before):
        log.append([pen.draft()], expected={"registry": version})
    really = getattr(session, way)

    def lose(statement: str, *row: Sequence[object]) -> object:
        answer = really(statement, *row)
        if way != "run" or statement == "COMMIT":
            monkeypatch.undo()
            cut(postgres, log)
            session.run("SELECT 1")
        return answer

    batch = pen.drafts(events)
    monkeypatch.setattr(session, way, lose)
    with pytest.raises(StorageError, match="lost"):
        log.append(batch, expected={"registry": 3 + before})
    receipt = log.append(batch, expected={"registry": 3 + before})
    reached = 5 + before
    assert receipt.repeated
    assert [envelope.position for envelope in receipt.envelopes] == list(range(reached + 1, reached + events + 1))


def test_a_statement_that_takes_too_long_is_told_and_leaves_the_log_whole(log: PostgresLog) -> None:
    log._session.run("SET statement_timeout = 20")
    with pytest.raises(StorageError, match="longer") as caught:
        log._session.rows("SELECT pg_sleep(5)")
    assert "statement_timeout" in caught.value.hint
    log._session.run("SET statement_timeout = 0")
    put(log, Pen("more").draft())


def test_a_transaction_that_the_server_ended_does_not_go_on_piecemeal(log: PostgresLog) -> None:
    def go_on() -> None:
        with log.transaction():
            put(log, Pen("more").draft())
            with pytest.raises(StorageError):
                log._session.run("SELECT no_such_function()")
            log.put_map("b.jsonl", b"")

    with pytest.raises(StorageError, match="is over"):
        go_on()
    assert (log.head().position, "b.jsonl" in log.maps()) == (5, False)


def test_a_writer_that_thinks_the_log_stands_still_is_set_right(where: str, log: PostgresLog) -> None:
    pen = Pen("more")
    with closing(opened(where)) as other:
        for turn in range(3):
            for writer in (log, log, log, other):
                put(writer, pen.draft("gene:b"))
            with pytest.raises(ConflictError) as caught:
                log.append([pen.draft("gene:b")], expected={"gene:b": 4 * turn + 3})
            assert caught.value.actual == 4 * turn + 4
    assert log.verify().problems == ()


def test_waiting_for_the_lock_ends_also_where_a_guess_is_sent_along_with_it(where: str) -> None:
    with closing(opened(where)) as holder, closing(opened(where, patience_s=0.05)) as other:
        pen = Pen("more")
        for version in (3, 4, 5):
            other.append([pen.draft()], expected={"registry": version})
        with holder.transaction(), pytest.raises(BusyError):
            other.append([pen.draft()], expected={"registry": 6})
        assert other.append([pen.draft()], expected={"registry": 6}).envelopes[0].position == 9


def test_an_acknowledged_append_is_on_disk_whatever_the_database_has_as_default(postgres: Server) -> None:
    postgres.execute("DROP ROLE IF EXISTS in_a_hurry", "CREATE ROLE in_a_hurry LOGIN SUPERUSER")
    for setting, kept in (("off", "on"), ("remote_apply", "remote_apply")):
        postgres.execute(f"ALTER ROLE in_a_hurry SET synchronous_commit = {setting}")
        with closing(opened(postgres.new_address(user="in_a_hurry"), create=True)) as log:
            assert log._session.rows("SHOW synchronous_commit") == [(kept,)]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        ("UPDATE {at}.events SET actor = 'person:mallory' WHERE position = 3", "event 3 is not what was hashed"),
        ("UPDATE {at}.events SET payload = payload || ' ' WHERE position = 3", "event 3 is not what was hashed"),
        ("DELETE FROM {at}.events WHERE position IN (2, 3)", "event 2 to 3 is missing"),
        ("UPDATE {at}.blobs SET body = 'x'", "blob "),
        ("UPDATE {at}.blobs SET kind = 'filf'", "blob "),
        ("UPDATE {at}.episodes SET source = 'b.jsonl'", "episode e1 is not what was hashed"),
        ("UPDATE {at}.checkpoints SET body = 'x'", "map a.jsonl is not what was hashed"),
    ],
)
def test_what_an_administrator_changed_is_named(
    postgres: Server, where: str, log: PostgresLog, statement: str, named: str
) -> None:
    with postgres.admin() as connection:
        connection.execute("SET session_replication_role = replica")  # without the triggers in the way
        connection.execute(statement.format(at=schema_of(where)))
    (problem,) = log.verify().problems
    assert problem.what.startswith(named)


def test_a_refusal_that_was_switched_off_is_named(postgres: Server) -> None:
    with closing(opened(postgres.new_address(), create=True)) as log:
        at = schema_of(log.location)
        postgres.execute(f"ALTER TABLE {at}.events DISABLE TRIGGER events_refuse_update")
        postgres.execute(f"DROP TRIGGER blobs_refuse_truncate ON {at}.blobs")
        problems = [problem.what for problem in log.verify().problems]
        assert [("events_refuse_update" in what, "blobs_refuse_truncate" in what) for what in problems] == [
            (True, False),
            (False, True),
        ]


@pytest.mark.parametrize(
    ("statement", "named"),
    [
        (
            (
                "CREATE OR REPLACE FUNCTION {at}.refuse() RETURNS trigger LANGUAGE plpgsql"
                " AS 'BEGIN RETURN NULL; END'"
            ),
            "altered: refuse()",
        ),
        ("DROP FUNCTION {at}.append_event", "altered: append_event()"),
        (
            (
                "CREATE OR REPLACE TRIGGER events_refuse_update BEFORE UPDATE OF actor ON {at}.events"
                " FOR EACH STATEMENT EXECUTE FUNCTION {at}.refuse('changed')"
            ),
            "events: events_refuse_update",
        ),
        (
            (
                "CREATE OR REPLACE TRIGGER events_refuse_delete BEFORE DELETE ON {at}.events"
                " FOR EACH STATEMENT EXECUTE FUNCTION suppress_redundant_updates_trigger('removed')"
            ),
            "events: events_refuse_delete",
        ),
    ],
)
def test_a_refusal_that_was_made_harmless_is_named(postgres: Server, statement: str, named: str) -> None:
    with closing(opened(postgres.new_address(), create=True)) as log:
        assert log.verify().problems == ()
        postgres.execute(statement.format(at=schema_of(log.location)))
        (problem,) = log.verify().problems
    assert problem.what.startswith("the database ")
    assert f"{named} is no longer what was made" in problem.what


def test_a_registry_whose_name_needs_quotes_in_sql_is_as_it_was_made(postgres: Server) -> None:
    stated = postgres.new_address().rpartition("=")[0] + "=user"
    with closing(opened(stated, create=True)) as log:
        put(log, Pen().draft())
        assert log.verify().problems == ()


def test_positions_farther_apart_than_python_can_count_are_named(
    postgres: Server, where: str, log: PostgresLog
) -> None:
    lowest = 1 - 2**63  # the first position with its highest bit turned
    with postgres.admin() as connection:
        connection.execute("SET session_replication_role = replica")
        connection.execute(f"UPDATE {schema_of(where)}.events SET position = {lowest} WHERE position = 1")
    first, gap = log.verify().problems[:2]
    assert first.what == f"event {lowest} is not what was hashed"
    assert gap.what == f"event {lowest + 1} to 1 is missing"


@pytest.mark.parametrize("what", ["starting up", "not yet accepting connections", "in recovery mode"])
def test_a_server_that_is_about_to_stand_up_is_told_from_one_that_is_not_there(what: str) -> None:
    message = (
        f"connection failed: connection to server failed: FATAL:  the database system is {what}\nDETAIL: wait"
    )
    error = refused(psycopg.OperationalError(message), "postgresql:///")
    assert error.message == f"postgresql:/// takes no connections now: the database system is {what}"
    assert "again" in error.hint


def test_what_the_driver_complains_of_besides_its_errors_does_not_reach_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(logging.getLogger(), "handlers", [])  # as where nobody asked for a log
    logging.getLogger("psycopg").warning("error ignored terminating a pipeline")
    assert capsys.readouterr().err == ""


def test_erased_bytes_are_gone_from_the_files_of_the_table(log: PostgresLog) -> None:
    name = log.put_blob(b"a secret", kind="evidence")
    assert log.erase_blob(name)
    assert log.scrub()
    with log.transaction():
        assert not log.scrub()
    assert log.get_blob(name) is None


@pytest.mark.parametrize(
    "stated", ["postgresql://", "postgresql:///", "postgres://h", "postgresql://a:b@h:1,i:2/d"]
)
def test_an_address_may_leave_to_libpq_what_it_knows(stated: str) -> None:
    address = PostgresAddress.parse(stated)
    assert address.registry == "germline"
    assert ":b" not in f"{address} {address!r}"
    assert PostgresAddress.parse(str(address)).slug == address.slug
