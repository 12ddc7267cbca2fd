"""A file that cannot be read stops no other: it is told, and the next look goes on."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from events.errors import FailedLogError
from strategies.files.watch import watch
from strategies.logs.formats import germline_steps
from strategies.logs.scan import Scan, scan, scan_on
from tests.sample_logs import STEPS
from tests.terminal import Terminal

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally

UNREADABLE = Path("/proc/self/mem")
"""It can be opened, and each read of its beginning is an I/O error."""


def both_ways(paths: list[Path]) -> list[Scan]:
    return [scan(paths, on_broken="list"), scan_on(paths, {}, live=True)]


def the_others_are_read(logs_scan: Scan, reason: str) -> None:
    assert len(logs_scan.records) == 2
    (broken,) = logs_scan.broken
    assert isinstance(broken, FailedLogError)
    assert reason in broken.message


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    (folder / "good.jsonl").write_bytes(STEPS)
    return folder


def test_an_input_error_is_told_and_the_others_are_read(logs: Path) -> None:
    for logs_scan in both_ways([UNREADABLE, logs]):
        the_others_are_read(logs_scan, "Input/output error")


def test_a_link_that_leads_to_itself_is_told_and_the_others_are_read(logs: Path, tmp_path: Path) -> None:
    loop = tmp_path / "loop.jsonl"
    loop.symlink_to(loop)
    for logs_scan in both_ways([loop, logs]):
        the_others_are_read(logs_scan, "loop.jsonl: Too many levels of symbolic links")


def test_a_folder_that_cannot_be_listed_is_told_and_the_others_are_read(
    logs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    closed, listed = logs / "closed", os.scandir
    closed.mkdir()

    def scandir(folder: str) -> Iterator[os.DirEntry[str]]:
        if Path(folder) == closed:
            raise PermissionError(13, "Permission denied", folder)
        return listed(folder)

    monkeypatch.setattr(os, "scandir", scandir)
    for logs_scan in both_ways([logs]):
        the_others_are_read(logs_scan, "closed: ")


def test_a_file_that_goes_away_while_it_is_looked_at_is_told(logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    going, is_file = logs / "going.jsonl", Path.lstat

    def lstat(path: Path) -> os.stat_result:
        seen = is_file(path)
        going.unlink(missing_ok=True)
        return seen

    going.write_bytes(STEPS)
    monkeypatch.setattr(Path, "lstat", lstat)
    logs_scan = scan_on([logs], {}, live=True)
    assert len(logs_scan.records) == 2
    assert [type(broken) for broken in logs_scan.broken] in ([FailedLogError], [])


@pytest.mark.parametrize("fault", [KeyError("x"), RecursionError(), MemoryError(), OverflowError("x")])
def test_a_reader_that_raises_anything_breaks_one_file(
    logs: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    (logs / "bad.jsonl").write_bytes(STEPS + b"\n")
    learn = germline_steps.StepsEpisodes.learn

    def failing(self: germline_steps.StepsEpisodes, log: LogFile, tally: ReadTally) -> None:
        if "bad" in self.source:
            raise fault
        learn(self, log, tally)

    monkeypatch.setattr(germline_steps.StepsEpisodes, "learn", failing)
    for logs_scan in both_ways([logs]):
        the_others_are_read(logs_scan, f"the reader 'steps' broke: {type(fault).__name__}")
        assert not any("bad" in name for name in logs_scan.offsets)


def test_scan_keeps_what_the_others_hold_and_fails_only_where_none_is_left(tmp_path: Path) -> None:
    germline = Terminal(tmp_path).with_skill()
    germline.write("logs/own.jsonl", STEPS)
    answer = germline.does("scan", str(UNREADABLE), "logs", "--json")
    assert answer.json["new_episodes"] == 2
    assert "mem: Input/output error" in answer.err
    alone = germline("scan", str(UNREADABLE))
    assert alone.code == 2
    assert "Input/output error" in alone.err


def test_a_folder_that_gives_no_hints_is_looked_at_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("watchdog.observers.api.BaseObserver.schedule", refuse)
    stop = threading.Event()
    watch([tmp_path], stop.set, stop, every_s=0.1)
    assert stop.is_set()
