"""Recorded logs that no test changes, read once for all tests of a worker."""

from __future__ import annotations

from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from unittest.mock import patch

from registry.evidence.log_paths import kept_path, paths_of
from strategies.logs import scan_parallel, transcripts
from strategies.logs.formats_table import reader_names
from strategies.logs.scan_file import scan_file
from tests.recorded import recorded_folder
from tui.demo import demo_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
    from pathlib import Path

    from strategies.episodes.episode import EpisodeRecord
    from strategies.episodes.whole_episode import WholeEpisode
    from strategies.logs.scan_file import FileScan, ReadTask

_READ: dict[Hashable, FileScan] = {}
_WHOLE: dict[Hashable, dict[str, list[WholeEpisode]]] = {}
_episodes: Final = transcripts._episodes


@contextmanager
def recordings_read_once() -> Iterator[None]:
    """Scan a recorded log that was scanned before in no time, and read its texts so; every other file is read."""
    with (
        patch.object(scan_parallel, "scan_file", _scan_file),
        patch.object(transcripts, "_episodes", _whole_episodes),
    ):
        yield


def _scan_file(task: ReadTask, advance: Callable[[int], None] | None = None) -> FileScan:
    if not _is_recorded(task):
        return scan_file(task, advance)
    stat = task.path.stat()
    asked = replace(task, keep=task.keep or task.path.suffix == ".gz")  # from its beginning, and with its offset
    key = (asked, kept_path(str(task.path)), reader_names(), stat.st_ino, stat.st_size, stat.st_mtime_ns)
    if key not in _READ:
        _READ[key] = scan_file(asked, advance)
    elif advance:
        advance(stat.st_size)
    read = _READ[key]
    return replace(read, tally=deepcopy(read.tally), offset=read.offset if task.keep else b"")


def _whole_episodes(source: str, log_format: str, records: Sequence[EpisodeRecord]) -> Iterable[WholeEpisode]:
    paths = paths_of(source)
    if len(paths) != 1 or not _is_a_recording(paths[0]):
        return _episodes(source, log_format, records)
    stat = paths[0].stat()
    known = _WHOLE.setdefault(
        (source, log_format, reader_names(), stat.st_ino, stat.st_size, stat.st_mtime_ns), {}
    )
    new = [record for record in records if record.name not in known]
    by_name: dict[str, list[WholeEpisode]] = {record.name: [] for record in new}
    for whole in _episodes(source, log_format, new) if new else ():
        by_name.get(whole.name, []).append(whole)
    known |= by_name
    return [whole for name in dict.fromkeys(record.name for record in records) for whole in known[name]]


def _is_recorded(task: ReadTask) -> bool:
    """Tell whether a whole file is asked for that is no test's own."""
    plain = not (task.earlier or task.mapping or task.within or task.live)
    return plain and _is_a_recording(task.path)


def _is_a_recording(path: Path) -> bool:
    is_there = any(path.is_relative_to(folder) for folder in (demo_folder(), recorded_folder()))
    return is_there and path.is_file()
