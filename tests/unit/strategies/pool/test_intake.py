"""The tailer: whatever happens to files and to the watcher, every line is seen, and seen once."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from events.errors import BusyError
from registry.query.signals import raised_as_counted
from strategies.files.watch import only_watcher
from strategies.logs.scan import scan_on
from strategies.pool.intake import Intake, scan_into, take_in_scan
from strategies.pool.known_episodes import all_episodes, split_groups
from strategies.pool.tail_logs import tail_into
from tests.clocks import TickingClock
from tests.registries import new_registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from registry.registry import Registry

LINES_EACH = 1_500
ROTATED_EACH = 300
EPISODE_LINES = 50

WATCHER = """
import sys
from pathlib import Path
from events.sqlite.log import SqliteLog
from registry.registry import Registry
from strategies.files.watch import stopped_by_signals
from strategies.pool.tail_logs import tail_into
from tests.clocks import TickingClock
registry = Registry(SqliteLog.open(Path(sys.argv[1])), TickingClock(seed=int(sys.argv[3])), "person:test")
def tell(found, taken):
    print(found.text_bytes, len(found.files), flush=True)
with stopped_by_signals() as stop:
    print("watching", flush=True)
    tail_into(registry, [Path(sys.argv[2])], stop, on_batch=tell, every_s=0.2)
print("left cleanly")
"""


def moment(writer: int, number: int) -> str:
    return f"2026-01-01T{writer:02}:00:00.{number:06}Z"


def line(writer: int, number: int) -> bytes:
    record = {
        "type": "step",
        "episode": f"{writer}-{number // EPISODE_LINES}",
        "tool": "sql",
        "text": f"SELECT {number}",
        "started_at": moment(writer, number),
    }
    return json.dumps(record).encode() + b"\n"


def bursts(writer: int, again: threading.Event) -> Iterator[tuple[int, list[bytes]]]:
    """Write on from the middle only once the watcher was started again: it must have something left to read."""
    for start in range(0, LINES_EACH, 25):
        if start >= LINES_EACH // 2:
            again.wait()
        yield start, [line(writer, number) for number in range(start, start + 25)]
        time.sleep(0.02)


def append(path: Path, lines: list[bytes]) -> None:
    """Write a burst in two flushes, the first of which ends in the middle of a line."""
    body = b"".join(lines)
    with path.open("ab", buffering=0) as file:
        file.write(body[: len(body) // 2 + 7])
        time.sleep(0.002)
        file.write(body[len(body) // 2 + 7 :])


def rotating_by_rename(folder: Path, writer: int, again: threading.Event) -> None:
    path = folder / "renamed.jsonl"
    for start, lines in bursts(writer, again):
        if start and start % ROTATED_EACH == 0:
            path.rename(folder / f"renamed.{start}.jsonl")
        append(path, lines)


def rotating_by_copy(folder: Path, writer: int, again: threading.Event) -> None:
    path = folder / "copied.jsonl"
    for start, lines in bursts(writer, again):
        if start and start % ROTATED_EACH == 0:
            shutil.copy(path, folder / f"copied.{start}.jsonl")
            os.truncate(path, 0)
        append(path, lines)


def replacing(folder: Path, writer: int, again: threading.Event) -> None:
    path, written = folder / "replaced.jsonl", b""
    for _, lines in bursts(writer, again):
        written += b"".join(lines)
        (folder / ".next").write_bytes(written)
        (folder / ".next").replace(path)


def resuming(folder: Path, writer: int, again: threading.Event) -> None:
    """Write to three files in turn, so that each lies still for a while and is then taken up again."""
    for start, lines in bursts(writer, again):
        append(folder / f"resumed.{start // 180 % 3}.jsonl", lines)


WRITERS = (rotating_by_rename, rotating_by_copy, replacing, resuming)


def seen(registry: Registry) -> list[str]:
    return sorted(step.started_at or "" for record in all_episodes(registry) for step in record.steps)


def until(met: Callable[[], bool], timeout_s: float) -> bool:
    ends = time.monotonic() + timeout_s
    while not met():
        if time.monotonic() > ends:
            return False
        time.sleep(0.1)
    return True


def started(registry: Registry, folder: Path, seed: int) -> subprocess.Popen[str]:
    asked = [sys.executable, "-c", WATCHER, registry.log.location, str(folder), str(seed)]
    watcher = subprocess.Popen(asked, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert watcher.stdout is not None
    assert watcher.stdout.readline() == "watching\n"
    return watcher


def test_every_line_is_seen_once_through_rotations_and_a_killed_watcher(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    registry = new_registry(tmp_path, TickingClock())
    places = [(writer, number) for writer in range(4) for number in range(LINES_EACH)]
    size_bytes = {moment(*place): len(line(*place)) for place in places}
    expected = sorted(size_bytes)
    assert len(expected) >= 6_000
    watcher = started(registry, folder, 2)
    again = threading.Event()
    threads = [threading.Thread(target=write, args=(folder, at, again)) for at, write in enumerate(WRITERS)]
    for thread in threads:
        thread.start()
    assert until(lambda: len(seen(registry)) > len(expected) // 3, 60), watcher.poll()
    watcher.kill()
    watcher.communicate()
    known = sum(size_bytes[at] for at in seen(registry))
    watcher = started(registry, folder, 3)
    again.set()
    for thread in threads:
        thread.join()
    until(lambda: len(seen(registry)) >= len(expected), 60)
    watcher.send_signal(signal.SIGTERM)
    output, _ = watcher.communicate(timeout=30)
    *batches, last = output.splitlines()
    assert last == "left cleanly"
    assert seen(registry) == expected
    read, readings = (sum(column) for column in zip(*(map(int, batch.split()) for batch in batches), strict=True))
    # Read twice: half a line at the end of each reading, and copies that were met before their log was emptied.
    twice = readings * max(size_bytes.values()) + sum(len(line(1, number)) for number in range(LINES_EACH))
    assert read <= sum(size_bytes.values()) - known + twice


def test_a_watcher_that_starts_again_reads_only_what_is_new(tmp_path: Path) -> None:
    registry, logs = new_registry(tmp_path, TickingClock()), tmp_path / "logs"
    path, other = logs / "a.jsonl", logs / "b.jsonl"
    path.parent.mkdir()
    path.write_bytes(line(0, 0) + line(0, 1))
    other.write_bytes(line(1, 0))

    def bytes_read() -> list[int]:
        stop, read = threading.Event(), list[int]()
        tail_into(
            registry,
            [path.parent],
            stop,
            on_batch=lambda logs_scan, _: read.append(logs_scan.text_bytes),
            after_look=stop.set,
        )
        return read

    assert bytes_read() == [path.stat().st_size + other.stat().st_size]
    assert bytes_read() == []
    with path.open("ab") as file:
        file.write(line(0, 2))
    assert bytes_read() == [len(line(0, 2))]
    assert len(seen(registry)) == 4


def test_a_copy_that_comes_into_sight_after_its_log_was_emptied_goes_on_with_what_was_read(tmp_path: Path) -> None:
    registry, folder = new_registry(tmp_path, TickingClock()), tmp_path / "logs"
    log, copy = folder / "copied.jsonl", folder / "copied.500.jsonl"
    folder.mkdir()
    whole = [line(1, number) for number in range(EPISODE_LINES)]
    log.write_bytes(b"".join(whole[:20]))
    scan_into(registry, [folder], live=True)
    log.write_bytes(line(1, EPISODE_LINES))
    scan_into(registry, [folder], live=True)
    copy.write_bytes(b"".join(whole))
    _, taken = scan_into(registry, [folder], live=True)
    assert taken.longer == 1
    assert seen(registry) == [moment(1, number) for number in range(EPISODE_LINES + 1)]


WRITES = ("put_map", "put_episodes", "put_blob", "append", "drop_episodes")


@pytest.mark.parametrize("write", WRITES)
def test_a_checkpoint_changes_together_with_all_that_was_read_up_to_it_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: str
) -> None:
    registry, path = new_registry(tmp_path, TickingClock()), tmp_path / "a.jsonl"
    path.write_bytes(failing(0, 0))
    scan_into(registry, [path], live=True)
    path.write_bytes(b"".join(failing(*place) for place in ((0, 0), (0, 1), (0, 2), (1, 0), (2, 0))))
    before, done = kept_of(registry), getattr(registry.log, write)

    def then_the_power_goes(*given: object, **named: object) -> None:
        done(*given, **named)
        raise RuntimeError("the power is gone")

    with monkeypatch.context() as broken:
        broken.setattr(registry.log, write, then_the_power_goes)
        with pytest.raises(RuntimeError):
            scan_into(registry, [path], live=True)
    assert kept_of(registry) == before
    _, taken = scan_into(registry, [path], live=True)
    assert (taken.new_episodes, taken.longer, len(taken.signals) > 0) == (2, 1, True)
    assert [old != new for old, new in zip(before, kept_of(registry), strict=True)] == [True] * 4


def failing(episode: int, number: int) -> bytes:
    """Write a step that fails; three of them in two episodes are a signal."""
    step = {"type": "step", "episode": str(episode), "tool": "sql", "text": f"SELECT {number}", "error": True}
    return (
        json.dumps({**step, "error_text": "no such table: x", "started_at": moment(episode, number)}).encode()
        + b"\n"
    )


def kept_of(registry: Registry) -> tuple[object, ...]:
    """Give all that one batch may change: checkpoints, episodes, evidence, events."""
    log = registry.log
    return dict(log.maps()), list(log.episodes()), log.blob_kinds(), log.head()


def test_signals_of_many_episodes_wait_until_enough_came_in_unless_they_are_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("strategies.pool.intake._MANY", 100)
    registry, path = new_registry(tmp_path, TickingClock()), tmp_path / "a.jsonl"

    def grown_to(count: int, *, may_wait: bool = True) -> Intake:
        path.write_bytes(b"".join(failing(number, number % 2) for number in range(count)))
        return take_in_scan(registry, scan_on([path], registry.log.maps()), may_wait=may_wait)

    def counted() -> int:
        return max(raised.event.episodes for raised in raised_as_counted(registry))

    assert (grown_to(200).uncounted, counted()) == (0, 200)
    assert (grown_to(201).uncounted, counted()) == (1, 200)
    assert (grown_to(202).uncounted, counted()) == (2, 200)
    assert {record.task for record in all_episodes(registry)} == split_groups(registry).keys()
    assert (grown_to(202).uncounted, counted()) == (2, 200)
    assert (grown_to(203).uncounted, counted()) == (0, 203)
    assert (grown_to(204).uncounted, counted()) == (1, 203)
    assert (grown_to(204, may_wait=False).uncounted, counted()) == (0, 204)


def test_second_watcher_of_a_registry_is_refused(tmp_path: Path) -> None:
    registry = new_registry(tmp_path, TickingClock())
    with only_watcher(Path(f"{registry.log.location}.watch")), pytest.raises(BusyError, match=str(os.getpid())):
        tail_into(registry, [tmp_path], threading.Event(), on_batch=lambda *_: None)


def test_half_a_line_waits_until_it_is_whole(tmp_path: Path) -> None:
    registry, stop, path = new_registry(tmp_path, TickingClock()), threading.Event(), tmp_path / "logs" / "a.jsonl"
    path.parent.mkdir()
    first, second = line(0, 0), line(0, 1)
    path.write_bytes(first + second[:30])
    batches: list[tuple[int, int]] = []
    malformed = 0

    def on_batch(logs_scan: object, taken: object) -> None:
        nonlocal malformed
        malformed += len(logs_scan.malformed)  # type: ignore[attr-defined]
        batches.append((len(seen(registry)), taken.new_episodes))  # type: ignore[attr-defined]
        if len(batches) == 1:
            with path.open("ab") as file:
                file.write(second[30:])
        else:
            stop.set()

    tail_into(registry, [path.parent], stop, on_batch=on_batch, every_s=0.2)
    assert batches == [(1, 1), (2, 0)]
    assert malformed == 0
