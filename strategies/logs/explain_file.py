"""Why a file is read as it is: which readers look at it, which take it for their own, and what each finds."""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from events.errors import UnreadableLogError
from registry.evidence.log_paths import kept_path
from registry.evidence.redaction import without_secrets
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally
from strategies.logs.formats.mapped.log_mapping import mapping_for
from strategies.logs.formats.mapped.mapped_reader import MappedReader
from strategies.logs.formats_table import NO_LOGS, all_readers, reader_for, takers
from strategies.logs.scan import why_empty
from strategies.logs.scan_file import ReadTask, scan_file

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.logs.formats.mapped.log_mapping import LogMapping
    from strategies.logs.formats_table import LogReader


class ReaderView(NamedTuple):
    """What one reader makes of a file.

    `takes` tells that it holds the file for its own, `chosen` that it is asked: the first of those is.
    The figures are those of a reading by it; `matches` lists what the paths of a mapping led to. `problem` says
    what keeps it from reading on, "" for nothing.
    """

    format: str
    takes: bool = False
    chosen: bool = False
    episodes: int = 0
    steps: int = 0
    failing: int = 0
    problem: str = ""
    matches: tuple[str, ...] = ()


def reader_views(path: Path, mappings: tuple[LogMapping, ...] = ()) -> list[ReaderView]:
    """Ask every reader about a file, in the order in which they are asked; nothing is kept.

    A mapping that claims the file comes first, and is asked. A file that cannot be read is its first reader's
    problem.
    """
    log, mapping = LogFile(path), mapping_for(mappings, path)
    first = [_mapped_view(path, mapping)] if mapping else []
    try:
        chosen, taking = reader_for(log), list(takers(log, all_readers()))
    except (UnreadableLogError, OSError) as error:
        return [*first, ReaderView("", takes=True, problem=_reason(error, path))]
    return first + [
        _view(path, reader, chosen=reader is chosen and not mapping)
        if reader in taking
        else ReaderView(reader.name)
        for reader in all_readers()
    ]


def _mapped_view(path: Path, mapping: LogMapping) -> ReaderView:
    """Say what a mapping finds, and at which of its paths there was something."""
    view = _read_view(mapping.name, ReadTask(path=path, mapping=mapping), chosen=True)
    if mapping.format:
        return view._replace(matches=(f"format = {mapping.format}",))
    reader, tally = MappedReader(mapping), ReadTally()
    with suppress(UnreadableLogError, OSError):
        deque(reader.read(LogFile(path), tally), maxlen=0)
    counts = (f"{key} = {getattr(mapping, key)!r}: found {number:,}×" for key, number in reader.counts.items())
    return view._replace(matches=(f"records: {tally.records:,}", *counts))


def passed_over_by_name(path: Path) -> bool:
    """Tell whether germline's own readers are not asked, because the name is that of a source or a text."""
    return LogFile(path).suffix.lower() in NO_LOGS


def _view(path: Path, reader: LogReader, *, chosen: bool) -> ReaderView:
    return _read_view(reader.name, ReadTask(path=path, log_format=reader.name), chosen=chosen)


def _reason(error: Exception, path: Path) -> str:
    """Give what is wrong with a file without its path, which is shown above."""
    return without_secrets(str(error).removeprefix(f"{path}: ").removeprefix(f"{kept_path(str(path))}: "))


def _read_view(name: str, task: ReadTask, *, chosen: bool) -> ReaderView:
    scanned = scan_file(task)
    steps = [step for draft in scanned.drafts for step in draft.steps]
    problem = (
        _reason(scanned.broken, task.path)
        if scanned.broken
        else ""
        if scanned.drafts
        else why_empty(scanned.tally)
    )
    return ReaderView(
        format=name,
        takes=True,
        chosen=chosen,
        episodes=len(scanned.drafts),
        steps=len(steps),
        failing=sum(step.error for step in steps),
        problem=problem,
    )
