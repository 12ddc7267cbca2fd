"""Readers of other packages: found by their entry point, and never the reason why a scan fails."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from events.errors import UnreadableLogError
from strategies.logs import reader_plugins
from strategies.logs.formats_table import all_readers, broken_readers, reader_names
from strategies.logs.scan import scan
from strategies.logs.scan_file import ReadTask, scan_packed
from tests.plugged import plugged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package with readers, good ones and bad ones."""
    with plugged(tmp_path, monkeypatch):
        yield


@pytest.mark.usefixtures("plugins")
def test_reader_of_another_package_is_asked_before_the_general_ones(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text("OURS")
    (record,) = scan([path]).records
    assert record.format == "ours"
    assert reader_names()[-5:] == ("nosy", "ours", "weak", "chat", "plain-text")


@pytest.mark.usefixtures("plugins")
def test_broken_plug_ins_are_named_with_the_reason_and_passed_over(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text("ERROR x\n")
    assert scan([path]).records[0].format == "plain-text"
    reasons = {reader.entry: reader.reason for reader in broken_readers()}
    assert {reader.package for reader in broken_readers()} == {"plugged"}
    assert sorted(reasons) == ["a-missing", "b-fails", "c-shapeless", "d-taken", "e-nosy"]
    assert "no_such_module" in reasons["a-missing"]
    assert "no licence" in reasons["b-fails"]
    assert reasons["c-shapeless"] == "it has no name, sniff, read"
    assert "known already" in reasons["d-taken"]
    assert "nosy" in reasons["e-nosy"]


@pytest.mark.usefixtures("plugins")
def test_plug_in_that_breaks_while_it_reads_breaks_one_file_and_keeps_what_came_before(tmp_path: Path) -> None:
    (tmp_path / "w.log").write_text("WEAK")
    (tmp_path / "x.log").write_text("OURS, but longer")
    logs_scan = scan([tmp_path / "w.log", tmp_path / "x.log"], on_broken="list")
    assert len(logs_scan.records) == 2 - logs_scan.duplicates
    (error,) = logs_scan.broken
    assert isinstance(error, UnreadableLogError)
    assert "'weak' broke" in error.message
    assert "g-weak" in error.hint


@pytest.mark.usefixtures("plugins")
def test_plug_in_that_breaks_in_a_worker_is_told_by_the_scan(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    path.write_text("ERROR x\n")
    packed, _ = scan_packed(ReadTask(path=path))
    assert "e-nosy" in {reader.entry for reader in packed.broken_readers}
    reader_plugins.plugged_in.cache_clear()  # as in the process that gave out the work: it asked no reader
    assert "e-nosy" not in {reader.entry for reader in broken_readers()}
    with ThreadPoolExecutor(1) as worker:
        logs_scan = scan([path], executor=worker)
    entries = sorted(reader.entry for reader in logs_scan.broken_readers)
    assert entries == ["a-missing", "b-fails", "c-shapeless", "d-taken", "e-nosy"]


def test_without_plug_ins_there_are_the_own_readers_alone() -> None:
    reader_plugins.plugged_in.cache_clear()
    assert [reader.name for reader in all_readers()][-2:] == ["chat", "plain-text"]
    assert broken_readers() == ()
