"""Files shared among workers: any `concurrent.futures.Executor`, or none."""

from __future__ import annotations

from concurrent.futures import as_completed
from typing import TYPE_CHECKING

from strategies.logs.file_scan import FileScan, Task, scan_file, scan_packed, unpacked

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from pathlib import Path


def scan_files(
    tasks: Sequence[Task], executor: Executor | None, progress: Callable[[int, int], None] | None
) -> list[FileScan]:
    """Read every file, and give what they held in the order of the tasks, whoever was done first.

    `progress` is called with the bytes read so far and in all: as they are read, or by whole files where workers
    read them. The largest files are given out first, so that no worker ends long after the others.
    """
    sizes = [_left_bytes(task) for task in tasks]
    advance = _advance(progress, sum(sizes)) if progress else None
    if executor is None:
        return [scan_file(task, advance) for task in tasks]
    order = sorted(range(len(tasks)), key=lambda number: -sizes[number])
    running = {executor.submit(scan_packed, tasks[number]): number for number in order}
    found: dict[int, FileScan] = {}
    for done in as_completed(running):
        number = running.pop(done)
        found[number] = unpacked(*done.result())
        if advance:
            advance(sizes[number])
    return [found[number] for number in range(len(tasks))]


def _left_bytes(task: Task) -> int:
    begun = task.earlier.offset if task.earlier else 0
    return max(0, _size_bytes(task.path) - begun)


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # scan_file meets the same error, and reports it


def _advance(progress: Callable[[int, int], None], total: int) -> Callable[[int], None]:
    done = 0

    def advance(size: int) -> None:
        nonlocal done
        done += size
        progress(done, total)

    return advance
