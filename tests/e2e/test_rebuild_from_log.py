"""The log is all there is: every document and every file can be made from it again, byte for byte."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from events.sqlite.log import SqliteLog
from events.store.protocol import StoredDocument
from registry.actions.publish import publish, take_in_edits, write_out
from registry.decide.commands import MoveAlias, Protect, RevertVersion
from registry.projection.projector import rebuild
from registry.projection.stored_documents import FORMAT
from registry.registry import Registry
from tests.clocks import TickingClock
from tests.registries import AVOID, NAME, NO_GUESS, documents, imported, learn, listed, rewrite
from tui.session.open_registry import open_library

FILES = {"scripts/run.sh": "echo 1\n", "notes.txt": "count\n"}
Files = dict[str, tuple[bytes, int]]


@pytest.fixture
def full_registry(registry: Registry, tmp_path: Path) -> Registry:
    """A registry in which everything has happened: promotions, a hand edit, a revert, aliases, protection."""
    place = imported(registry, tmp_path, files=FILES)
    (place / "scripts" / "run.sh").chmod(0o755)
    take_in_edits(registry, NAME)
    learn(registry)
    learn(registry, NO_GUESS, claims=(AVOID,), candidate="c2")
    rewrite(place, "Round nothing", "Round")
    (place / "notes.txt").unlink()
    take_in_edits(registry, NAME)
    registry.execute(MoveAlias(NAME, "production", 3))
    registry.execute(Protect(NAME, f"{NAME}.3", (), "settled"))
    registry.execute(RevertVersion(NAME, 3, "worse"))
    publish(registry, NAME)
    return registry


def files_below(folder: Path) -> Files:
    files = (file for file in folder.rglob("*") if file.is_file())
    return {str(file.relative_to(folder)): (file.read_bytes(), file.stat().st_mode & 0o777) for file in files}


def every_version(registry: Registry, folder: Path) -> dict[int, Files]:
    """Write every version of the skill below a folder, and read them back."""
    for row in registry.versions(NAME):
        write_out(registry, registry.capsule(NAME, str(row.version)), folder / str(row.version))
    return {row.version: files_below(folder / str(row.version)) for row in registry.versions(NAME)}


def test_rebuilding_the_deleted_projection_gives_the_same_files_byte_for_byte(
    full_registry: Registry, tmp_path: Path
) -> None:
    place = tmp_path / NAME
    files, versions, before = (
        files_below(place),
        every_version(full_registry, tmp_path / "before"),
        documents(full_registry),
    )
    full_registry.log.drop_documents()
    shutil.rmtree(place)
    assert documents(full_registry) == []
    rebuild(full_registry.log)
    publish(full_registry, NAME)
    assert documents(full_registry) == before
    assert files_below(place) == files
    assert every_version(full_registry, tmp_path / "after") == versions


def test_a_fresh_database_with_the_source_tables_alone_gives_the_same_files_byte_for_byte(
    full_registry: Registry, tmp_path: Path
) -> None:
    versions, before = every_version(full_registry, tmp_path / "before"), documents(full_registry)
    copy = tmp_path / "copy" / "registry.db"
    copy.parent.mkdir()
    with closing(sqlite3.connect(full_registry.log.location)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
        target.execute("DELETE FROM documents")
        target.commit()
    with closing(SqliteLog.open(copy)) as log:
        other = Registry(log, TickingClock(seed=2), "person:bob")
        assert other.names() == []
        rebuild(log)
        assert documents(other) == before
        assert every_version(other, tmp_path / "after") == versions
        assert log.verify().problems == ()
        assert log.verify().head == full_registry.log.head()


def test_a_rebuilt_registry_goes_on_as_the_first_one_would(full_registry: Registry) -> None:
    rebuild(full_registry.log)
    learn(full_registry, "More.\n", candidate="c9", claims=())
    before = documents(full_registry)
    rebuild(full_registry.log)
    assert documents(full_registry) == before
    assert full_registry.capsule(NAME).version == 7


def test_a_projection_of_another_format_is_folded_anew_when_it_is_opened(full_registry: Registry) -> None:
    before = full_registry.log.document("registry", "")
    assert before is not None
    old = before.body.replace(f'"format":{FORMAT}'.encode(), b'"format":1')
    assert old != before.body
    full_registry.log.put_documents([StoredDocument("registry", "", 0, old)])
    assert not full_registry.is_projected()
    with open_library(Path(full_registry.log.location)) as library:
        assert library.log.document("registry", "") == before


@pytest.mark.parametrize(("a_second", "on_terminal"), [(1, True), (1, False), (1_000, True)])
def test_who_waits_at_a_terminal_for_events_to_be_folded_anew_is_told_so(
    full_registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    a_second: int,
    on_terminal: bool,  # noqa: FBT001 - a case of the claim
) -> None:
    monkeypatch.setattr("tui.session.open_registry._FOLDED_A_SECOND", a_second)
    monkeypatch.setattr("sys.stderr.isatty", lambda: on_terminal)
    full_registry.log.drop_documents()
    listed(full_registry, Path(full_registry.log.location))
    note = f"note       the events are folded again, once: about {full_registry.log.head().position} s\n"
    with open_library(Path(full_registry.log.location)):
        assert capsys.readouterr().err == (note if on_terminal and a_second == 1 else "")
    with open_library(Path(full_registry.log.location)):
        assert capsys.readouterr().err == ""
