"""Old schemas are upcast on read, newer ones are kept and skipped, and no byte of either ever changes."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from events.errors import CorruptLogError, StorageError
from events.sqlite.log import SqliteLog
from events.store.envelope import EventDraft, encode, seal
from events.store.subscriptions import VIEW
from events.types.catalogue import UPCASTERS, schema_of, upcast
from events.types.registry_events import PresetSwitched
from registry.decide.commands import SwitchPreset
from registry.projection.projector import rebuild
from registry.query.event_summaries import summary
from registry.query.library import Library
from tests.clocks import TickingClock
from tests.registries import documents, new_registry
from tui.cli.commands.skills.log import event_line
from tui.cli.output.color import Paint
from tui.documents.events import LogDocument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from events.store.envelope import Envelope
    from events.store.protocol import StoredDocument
    from events.store.sql_log import EventLog
    from registry.registry import Registry

KIND = "PresetSwitched"
OLD = b'{"type":"PresetSwitched","to":"bold","why":"a \\u0022quiet\\u0022 week \xe2\x86\x92"}'
"""How an earlier germline might have written it, spelled in its own way."""


def renamed(fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": fields["type"], "preset": fields["to"], "previous": "", "why": fields["why"]}


def reasoned(fields: dict[str, Any]) -> dict[str, Any]:
    why = fields.pop("why")
    return {**fields, "reason": why}


def follow(log: EventLog, payload: bytes, event_id: str, schema: int = 1, kind: str = KIND) -> Envelope:
    """Write a payload as it is behind the head, as a germline of another time would."""
    head, versions = log.head(), log.stream_versions(["registry"])
    event = type(kind, (PresetSwitched,), {})(preset="p", previous="q", reason="r")
    draft = EventDraft("registry", event, event_id, "2026-11-22T00:00:00.000000Z", "person:ada")
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(UPCASTERS, kind, (renamed,) * (schema - 1))
        (sealed,) = seal([(draft, payload)], position=head.position, previous=head.hash, versions=versions)
    log.take_over([sealed])
    return log.at([sealed.position])[0]


def states(registry: Registry) -> list[StoredDocument]:
    """List all documents but the one that says how far they go."""
    return [document for document in documents(registry) if document.view != VIEW]


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Registry]:
    """Give a registry whose second event is of schema 1, of a type that stands at schema 3 now."""
    registry = new_registry(tmp_path, TickingClock())
    with closing(registry.log) as log:
        follow(log, OLD, "old")
        monkeypatch.setitem(UPCASTERS, KIND, (renamed, reasoned))
        yield registry


def test_an_event_of_an_old_schema_reads_as_the_event_that_it_is_now(registry: Registry) -> None:
    (old,) = registry.log.read(types=[KIND])
    assert (old.schema, schema_of(KIND), old.payload) == (1, 3, OLD)
    assert old.is_known
    assert old.event == PresetSwitched(preset="bold", previous="", reason='a "quiet" week →')


def test_each_upcaster_takes_a_payload_one_schema_further() -> None:
    with pytest.MonkeyPatch.context() as patched:
        patched.setitem(UPCASTERS, KIND, (renamed, reasoned))
        second = json.dumps(renamed(json.loads(OLD))).encode()
        assert upcast(KIND, 1, OLD) == upcast(KIND, 2, second)


def test_new_events_are_written_with_the_new_schema_beside_old_ones(registry: Registry) -> None:
    registry.execute(SwitchPreset("careful", "a busy week"))
    old, new = registry.log.read(types=[KIND])
    assert [(old.schema, old.payload), new.schema] == [(1, OLD), 3]
    assert new.payload == encode(new.event)
    assert registry.log.verify().problems == ()


def test_old_events_fold_list_and_copy_without_a_byte_changed(registry: Registry, tmp_path: Path) -> None:
    rebuild(registry.log)
    assert registry.about().preset == "bold"
    registry.execute(SwitchPreset("careful", "a busy week"))
    before = documents(registry)
    rebuild(registry.log)
    assert documents(registry) == before
    assert [LogDocument.of(envelope).summary for envelope in registry.history(types=[KIND])] == [
        summary(envelope) for envelope in registry.history(types=[KIND])
    ]
    with closing(SqliteLog.open(tmp_path / "copy.db", create=True)) as copy:
        copy.take_over(list(registry.log.read()))
        assert list(copy.read()) == list(registry.log.read())
        assert copy.verify().problems == ()
        rebuild(copy)
        assert Library(copy).about() == registry.about()


@pytest.mark.parametrize(("kind", "schema"), [(KIND, 4), ("SkillSang", 1)])
def test_what_a_newer_germline_wrote_is_listed_skipped_by_folds_and_never_lost(
    registry: Registry, tmp_path: Path, kind: str, schema: int
) -> None:
    log = registry.log
    rebuild(log)
    before = states(registry)
    payload = b'{"type":"%b","song":["la",2.50]}' % kind.encode()
    newer = follow(log, payload, "newer", schema, kind)
    assert not newer.is_known
    assert f"{kind}: written by a newer germline" in event_line(newer, newer.at, Paint(enabled=False))
    assert LogDocument.of(newer).summary == f"{kind}: written by a newer germline"
    assert next(iter(registry.history())) == newer
    rebuild(log)
    assert states(registry) == before
    assert log.verify().problems == ()
    with closing(SqliteLog.open(tmp_path / "copy.db", create=True)) as copy:
        copy.take_over(list(log.read()))
        assert list(copy.read())[-1].payload == payload


def test_reading_a_newer_schema_as_an_event_says_to_upgrade(registry: Registry) -> None:
    newer = follow(registry.log, b'{"type":"PresetSwitched"}', "newer", schema=5)
    with pytest.raises(StorageError, match="newer germline: PresetSwitched, schema 5") as caught:
        _ = newer.event
    assert caught.value.hint == "upgrade germline"


@pytest.mark.parametrize("payload", [b"{", b"[]", b'{"type":"PresetSwitched"}'])
def test_an_old_payload_that_is_not_of_its_schema_is_named_by_its_position(
    registry: Registry, payload: bytes
) -> None:
    broken = follow(registry.log, payload, "broken", schema=1)
    with pytest.raises(CorruptLogError, match="event 3 does not read as PresetSwitched"):
        _ = broken.event


def test_there_is_no_schema_before_the_first(registry: Registry) -> None:
    (old,) = registry.log.read(types=[KIND])
    with pytest.raises(CorruptLogError):
        _ = old._replace(schema=0).event
