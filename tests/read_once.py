"""Recorded logs that no test changes, read once for all tests of a worker."""

from __future__ import annotations

from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING
from unittest.mock import patch

from registry.evidence.log_paths import kept_path
from strategies.logs import scan_parallel
from strategies.logs.formats_table import reader_names
from strategies.logs.scan_file import scan_file
from tests.recorded import recorded_folder
from tui.demo import demo_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from strategies.logs.scan_file import FileScan, ReadTask

_READ: dict[Hashable, FileScan] = {}


@contextmanager
def recordings_read_once() -> Iterator[None]:
    """Scan a recorded log that was scanned before in no time; every other file is read."""
    with patch.object(scan_parallel, "scan_file", _scan_file):
        yield


def _scan_file(task: ReadTask, advance: Callable[[int], None] | None = None) -> FileScan:
    if not _is_recorded(task):
        return scan_file(task, advance)
    stat = task.path.stat()
    key = (task, kept_path(str(task.path)), reader_names(), stat.st_ino, stat.st_size, stat.st_mtime_ns)
    if key not in _READ:
        _READ[key] = scan_file(task, advance)
    elif advance:
        advance(stat.st_size)
    return replace(_READ[key], tally=deepcopy(_READ[key].tally))


def _is_recorded(task: ReadTask) -> bool:
    """Tell whether a whole file is asked for that is no test's own."""
    plain = task.path.is_file() and not (task.earlier or task.mapping or task.within or task.live)
    return plain and any(task.path.is_relative_to(folder) for folder in (demo_folder(), recorded_folder()))
