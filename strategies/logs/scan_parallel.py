"""Files shared among workers: any `concurrent.futures.Executor`, or none."""

from __future__ import annotations

import os
import platform
from concurrent.futures import as_completed
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

from events.errors import OutOfSightError
from strategies.files.read_offsets import seen_as
from strategies.logs.scan_file import FileScan, ReadTask, scan_file, scan_packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from pathlib import Path

    Sharing = Callable[[Sequence[int]], AbstractContextManager[Executor | None]]
    """Starts workers for files of these sizes, None where they are best read here. Units: bytes to be read."""


def scan_files(
    tasks: Sequence[ReadTask],
    executor: Executor | Sharing | None,
    progress: Callable[[int, int], None] | None,
) -> list[FileScan]:
    """Read every file, and give what they held in the order of the tasks.

    `progress` is called with the bytes read so far and in all: as they are read, or by whole files where workers
    read them. The largest files are given out first, so that no worker ends long after the others.
    Raises: OutOfSightError where a worker, on another machine, does not see a file as it lies here.
    """
    seen = [_stat(task) for task in tasks]
    sizes = [_left_bytes(task, stat) for task, stat in zip(tasks, seen, strict=True)]
    advance = _advance(progress, sum(sizes)) if progress else None
    with executor(sizes) if callable(executor) else nullcontext(executor) as workers:
        if workers is None:
            return [scan_file(task, advance) for task in tasks]
        return _shared(tasks, seen, sizes, workers, advance)


def _shared(
    tasks: Sequence[ReadTask],
    seen: Sequence[os.stat_result | None],
    sizes: Sequence[int],
    executor: Executor,
    advance: Callable[[int], None] | None,
) -> list[FileScan]:
    order = sorted(range(len(tasks)), key=lambda number: -sizes[number])
    running = {executor.submit(scan_in_sight, tasks[number], _size(seen[number])): number for number in order}
    scans: dict[int, FileScan] = {}
    for done in as_completed(running):
        number = running.pop(done)
        try:
            scans[number] = _as_seen(unpacked(*done.result()), seen[number])
        except OutOfSightError:
            if _open_bytes(tasks[number].path) >= _size(seen[number]):
                raise
            scans[number] = scan_file(tasks[number])  # here neither: cut off by a rotation, or not to be read
        if advance:
            advance(sizes[number])
    return [scans[number] for number in range(len(tasks))]


def scan_in_sight(task: ReadTask, size_bytes: int) -> tuple[FileScan, list[bytes]]:
    """Read one file in another process, where it is at least as large as seen by the process that gave it out.

    Raises: OutOfSightError.
    """
    there = _open_bytes(task.path) if size_bytes else 0
    if there < size_bytes:
        host = platform.node()
        sight = "cannot be opened there" if there < 0 else f"holds {there:,} bytes there, and {size_bytes:,} here"
        raise OutOfSightError(
            f"a worker on {host} does not see {task.path} as it lies here: it {sight}",
            hint="mount the folder of the logs at the same path on every worker, or: --engine local",
        )
    return scan_packed(task)


def _as_seen(scanned: FileScan, stat: os.stat_result | None) -> FileScan:
    """Let an offset name the file as this machine does: elsewhere the same file lies on another device."""
    if not scanned.offset or stat is None:
        return scanned
    return replace(scanned, offset=seen_as(scanned.offset, stat))


def _stat(task: ReadTask) -> os.stat_result | None:
    """Look at a file; None where it cannot be seen here either: scan_file meets the same error, and reports it."""
    try:
        return task.path.stat()
    except OSError:
        return None


def _size(stat: os.stat_result | None) -> int:
    return 0 if stat is None else stat.st_size


def _open_bytes(path: Path) -> int:
    """Tell a size by opening the file, which asks the server of a network file system; -1 where it cannot be."""
    try:
        with path.open("rb", buffering=0) as file:
            return os.fstat(file.fileno()).st_size
    except OSError:
        return -1


def _left_bytes(task: ReadTask, stat: os.stat_result | None) -> int:
    begun = task.earlier.offset if task.earlier else 0
    return max(0, _size(stat) - begun)


def _advance(progress: Callable[[int, int], None], total: int) -> Callable[[int], None]:
    done = 0

    def advance(size: int) -> None:
        nonlocal done
        done += size
        progress(done, total)

    return advance
