"""Readers of other packages: found by their entry point, and never the reason why a scan fails."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from events.errors import UnreadableLogError
from strategies.logs import reader_plugins
from strategies.logs.readers import all_readers, broken_readers, reader_names
from strategies.logs.scan import scan

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PLUGIN = """
from strategies.logs.episode import Episode, Span, Step

class Ours:
    name = "ours"
    def sniff(self, head, source):
        return head.startswith(b"OURS")
    def read(self, log, tally):
        step = Step(index=0, turn=0, kind="call", actor="agent", tool="x", span=Span(0, 4, 1))
        yield Episode(id="1", source=log.source, format=self.name, steps=(step,))

class Taken(Ours):
    name = "chat"

class Nosy(Ours):
    name = "nosy"
    def sniff(self, head, source):
        raise KeyError("nosy")

class Weak(Ours):
    name = "weak"
    def sniff(self, head, source):
        return head.startswith(b"WEAK")
    def read(self, log, tally):
        yield from super().read(log, tally)
        raise KeyError("weak")

def fails():
    raise RuntimeError("no licence")
"""
ENTRIES = {
    "a-missing": "no_such_module:Reader",
    "b-fails": "plugged_readers:fails",
    "c-shapeless": "builtins:object",
    "d-taken": "plugged_readers:Taken",
    "e-nosy": "plugged_readers:Nosy",
    "f-ours": "plugged_readers:Ours",
    "g-weak": "plugged_readers:Weak",
}


@pytest.fixture
def plugins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Install a package with readers, good ones and bad ones, as pip would."""
    site = tmp_path / "site"
    (site / "plugged-1.0.dist-info").mkdir(parents=True)
    (site / "plugged_readers.py").write_text(PLUGIN)
    (site / "plugged-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n"
    )
    lines = "".join(f"{name} = {target}\n" for name, target in ENTRIES.items())
    (site / "plugged-1.0.dist-info" / "entry_points.txt").write_text(f"[{reader_plugins.GROUP}]\n{lines}")
    monkeypatch.syspath_prepend(str(site))
    reader_plugins.plugged_in.cache_clear()
    yield
    reader_plugins.plugged_in.cache_clear()
    sys.modules.pop("plugged_readers", None)


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
    reasons = dict(broken_readers())
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
    found = scan([tmp_path / "w.log", tmp_path / "x.log"], on_broken="list")
    assert len(found.records) == 2 - found.duplicates
    (error,) = found.broken
    assert isinstance(error, UnreadableLogError)
    assert "'weak' broke" in error.message
    assert "g-weak" in error.hint


def test_without_plug_ins_there_are_the_own_readers_alone() -> None:
    reader_plugins.plugged_in.cache_clear()
    assert [reader.name for reader in all_readers()][-2:] == ["chat", "plain-text"]
    assert broken_readers() == ()
