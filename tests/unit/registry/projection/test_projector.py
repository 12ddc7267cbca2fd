"""The projection: disposable documents, always rebuilt the same, and skills as files."""

from __future__ import annotations

import sqlite3
import tracemalloc
import zlib
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from events.errors import RefusedError
from events.store.envelope import EventDraft
from events.types.frozen import Frozen
from registry.actions.publish import take_in, take_in_edits
from registry.decide.commands import MoveAlias, Protect, RecordFact, RevertVersion, SwitchPreset
from registry.projection import stored_documents
from registry.projection.projector import projecting, rebuild
from registry.projection.snapshots import EVERY, freeze, thaw
from registry.skill_md.render import projected_lines, skill_bytes, skill_text
from tests.registries import NAME, SKILL, VIEWS, documents, imported, learn, raised_signal, rewrite

if TYPE_CHECKING:
    from pathlib import Path

    from events.types.registry_events import SignalRaised
    from registry.registry import Registry


class SkillSang(Frozen):
    """An event that this germline does not know."""

    capsule: str = NAME


def raised(fingerprint: str) -> SignalRaised:
    return raised_signal(fingerprint=fingerprint, count=9, episodes=5, runs=("r1",), severity=1.5)


@pytest.mark.usefixtures("place")
def test_deleting_every_document_and_rebuilding_gives_the_same_bytes(registry: Registry) -> None:
    registry.execute(SwitchPreset("bold", "a quiet week"))
    registry.execute(RecordFact((raised("f1"), raised("f2"))))
    for number in range(2 * EVERY // 3):
        learn(registry, f"Lesson {number}.\n", candidate=f"c{number}", claims=())
    registry.execute(MoveAlias(NAME, "production", 3))
    registry.execute(Protect(NAME, f"{NAME}.2", (1,), "settled"))
    registry.execute(RevertVersion(NAME, 4, "enough"))
    before = documents(registry)
    assert rebuild(registry.log) == registry.log.head().position
    assert documents(registry) == before
    assert "snapshot" in {document.view for document in before}


@pytest.mark.usefixtures("place")
def test_the_table_of_views_names_every_view(registry: Registry) -> None:
    assert len(VIEWS) == len(set(VIEWS))
    learn(registry)
    with closing(sqlite3.connect(registry.log.location)) as connection:
        stored = {view for (view,) in connection.execute("SELECT DISTINCT view FROM documents")}
    assert stored < set(VIEWS)


@pytest.mark.parametrize("batch", [1, 7])
@pytest.mark.usefixtures("place")
def test_a_rebuild_is_the_same_in_batches_of_any_size(registry: Registry, batch: int) -> None:
    registry.execute(SwitchPreset("bold", "a quiet week"))
    learn(registry)
    registry.execute(RevertVersion(NAME, 1, "worse"))
    before = documents(registry)
    rebuild(registry.log, batch=batch)
    assert documents(registry) == before


@pytest.mark.usefixtures("place")
def test_a_rebuild_that_fails_leaves_the_documents_as_they_were(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = documents(registry)

    def fail(documents: object) -> None:
        raise MemoryError(documents)

    monkeypatch.setattr(registry.log, "put_documents", fail)
    with pytest.raises(MemoryError):
        rebuild(registry.log)
    assert documents(registry) == before


@pytest.mark.usefixtures("place")
def test_events_of_unknown_type_are_kept_and_passed_over(registry: Registry) -> None:
    draft = EventDraft(
        "capsule:sql-analyst", SkillSang(), registry.clock.new_id(), registry.clock.now(), "person:ada"
    )
    before = registry.capsule(NAME)
    registry.log.append(
        [draft], expected=registry.log.stream_versions([draft.stream]), project=projecting(registry.log)
    )
    assert learn(registry).version == 2
    assert rebuild(registry.log) == registry.log.head().position
    assert replace(registry.capsule(NAME, "1"), score=before.score) == before


@pytest.mark.usefixtures("place")
def test_a_capsule_thawed_is_the_capsule_that_was_frozen(registry: Registry) -> None:
    learn(registry)
    registry.execute(MoveAlias(NAME, "production", 1))
    registry.execute(Protect(NAME, f"{NAME}.2", (1, 3), "settled"))
    capsule = registry.capsule(NAME)
    assert thaw(freeze(capsule)) == capsule


@pytest.mark.parametrize(
    "content",
    [
        SKILL.encode(),
        SKILL.removesuffix("\n").encode(),
        SKILL.replace("\n", "\r\n").encode(),
        b"\xef\xbb\xbf" + SKILL.encode(),
        SKILL.replace("nothing", "n\u00e9ant").encode("latin-1"),
        b"---\nname: sql-analyst\n---",
        b"\n\n---\nname: sql-analyst\n---\ntext\n# \n```\n# no heading\n",
    ],
    ids=["plain", "no last ending", "crlf", "bom", "latin-1", "front matter alone", "odd"],
)
def test_an_import_that_nobody_edited_projects_the_same_bytes(
    registry: Registry, tmp_path: Path, content: bytes
) -> None:
    place = tmp_path / NAME
    place.mkdir()
    (place / "SKILL.md").write_bytes(content)
    take_in(registry, place)
    assert skill_bytes(registry.capsule(NAME)) == content


@pytest.mark.usefixtures("place")
def test_the_stamp_names_the_new_version_and_its_origin_is_that_version(registry: Registry) -> None:
    assert "germline" not in skill_text(registry.capsule(NAME))
    capsule = learn(registry)
    stamp = [line for line in projected_lines(capsule) if not line.id]
    assert [line.text for line in stamp] == ["metadata:\n", '  germline: "sql-analyst@2"\n']
    (origin,) = registry.log.at([stamp[0].origin])
    assert origin.type == "CapsuleVersioned"
    assert '"sql-analyst@3"' in skill_text(learn(registry, "More.\n", candidate="c2"))


@pytest.mark.usefixtures("place")
def test_projected_lines_are_numbered_from_one_and_join_to_the_file(registry: Registry) -> None:
    lines = projected_lines(learn(registry))
    assert [line.number for line in lines] == list(range(1, len(lines) + 1))
    assert "".join(line.text for line in lines) == skill_text(registry.capsule(NAME))


def test_files_come_from_the_event_that_gave_them_their_content(registry: Registry, tmp_path: Path) -> None:
    place = imported(registry, tmp_path, files={"a.txt": "a\n", "b.txt": "b\n"})
    rewrite(place, "Round nothing", "Round")
    (place / "b.txt").write_text("bb\n")
    take_in_edits(registry, NAME)
    files = registry.capsule(NAME).files
    types = [(file.entry.path, registry.log.at([file.origin])[0].type) for file in files]
    assert types == [("a.txt", "CapsuleImported"), ("b.txt", "FileChanged")]


def test_a_packed_state_is_read_up_to_a_bound_and_costs_no_more_memory_than_that() -> None:
    packing = zlib.compressobj(1)
    bomb = b"".join([packing.compress(b" " * 2**24) for _ in range(16)]) + packing.flush()
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=str(2**26)):
            thaw(bomb)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most_bytes < 3 * 2**26


@pytest.mark.usefixtures("place")
def test_a_state_that_would_not_be_read_back_is_refused_before_it_is_appended(
    registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = registry.capsule(NAME)
    (state,) = registry.log.documents("live", NAME)
    monkeypatch.setattr(stored_documents, "_MOST_STATE_BYTES", len(zlib.decompress(state.body)) + 1)
    with pytest.raises(RefusedError, match="is the most"):
        learn(registry, "More.\n", candidate="c1", claims=())
    assert registry.capsule(NAME) == before
