"""What was ever written reads back for ever: golden files of every event and of every schema of the database."""

from __future__ import annotations

import gzip
import json
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from events.sqlite.log import SqliteLog
from events.sqlite.open_database import SCHEMA_VERSION
from events.store.envelope import encode, holds
from events.types.catalogue import event_types, schema_of
from registry.projection.projector import rebuild
from registry.query.library import Library
from tests.golden.add import EVENTS, envelope_of, golden_of, read_golden, registry_files, texts
from tests.golden.examples import example

if TYPE_CHECKING:
    from pathlib import Path

    from events.types.frozen import Frozen

GOLDEN_EVENTS = sorted(EVENTS.glob("*.json"))


@pytest.mark.parametrize("kind", event_types(), ids=lambda kind: kind.__name__)
def test_every_event_type_has_a_golden_file_of_each_schema(kind: type[Frozen]) -> None:
    name = kind.__name__
    lacking = [schema for schema in range(1, schema_of(name) + 1) if not golden_of(name, schema).exists()]
    assert not lacking, "python -m tests.golden.add writes it"


@pytest.mark.parametrize("kind", event_types(), ids=lambda kind: kind.__name__)
def test_an_event_whose_fields_change_takes_the_next_schema_number(kind: type[Frozen]) -> None:
    now = envelope_of(example(kind))
    hint = "its fields changed: add an upcaster to events.types.catalogue, then python -m tests.golden.add"
    assert now.payload == read_golden(golden_of(now.type, now.schema)).payload, hint


@pytest.mark.parametrize("path", GOLDEN_EVENTS, ids=lambda path: path.stem)
def test_an_event_of_any_age_is_what_was_hashed_and_reads(path: Path) -> None:
    golden = read_golden(path)
    assert holds(golden)
    assert golden.is_known
    assert type(golden.event).__name__ == golden.type
    if golden.schema == schema_of(golden.type):
        assert encode(golden.event) == golden.payload


@pytest.mark.parametrize("schema", range(1, SCHEMA_VERSION + 1))
def test_a_registry_of_any_schema_opens_migrates_verifies_and_says_what_it_said(
    schema: int, tmp_path: Path
) -> None:
    packed, contents_file = registry_files(schema)
    path = tmp_path / "golden.db"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    with closing(sqlite3.connect(path)) as plain:
        assert plain.execute("PRAGMA user_version").fetchone() == (schema,)
    stands = json.loads(contents_file.read_text(encoding="utf-8"))
    with closing(SqliteLog.open(path)) as log:
        rebuild(log)
        assert log.verify().problems == ()
        assert (log.head().position, log.head().hash) == (stands["events"], stands["head"])
        assert texts(Library(log)) == stands["texts"]
    with closing(sqlite3.connect(path)) as plain:
        assert plain.execute("PRAGMA user_version").fetchone() == (SCHEMA_VERSION,)
    assert packed.stat().st_size < 100_000
