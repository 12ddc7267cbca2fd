"""Why a file is read as it is: which readers look at it, which take it for their own, and what each finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from strategies.files.log_file import LogFile
from strategies.logs.formats_table import NO_LOGS, all_readers, reader_for
from strategies.logs.scan import why_empty
from strategies.logs.scan_file import ReadTask, scan_file

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.logs.formats_table import LogReader


class ReaderView(NamedTuple):
    """What one reader makes of a file.

    `takes` tells that it holds the file for its own, `chosen` that it is asked: the first of those is.
    The figures are those of a reading by it. `problem` says what keeps it from reading on, "" for nothing.
    """

    format: str
    takes: bool = False
    chosen: bool = False
    episodes: int = 0
    steps: int = 0
    failing: int = 0
    problem: str = ""


def reader_views(path: Path) -> list[ReaderView]:
    """Ask every reader about a file, in the order in which they are asked; nothing is kept.

    Raises: DamagedLogError for an archive of which too little can be unpacked to tell.
    """
    log = LogFile(path)
    chosen, head = reader_for(log), log.head()
    taking = [reader for reader in all_readers() if reader.sniff(head, log.source)]
    return [
        _view(path, reader, chosen=reader is chosen) if reader in taking else ReaderView(reader.name)
        for reader in all_readers()
    ]


def passed_over_by_name(path: Path) -> bool:
    """Tell whether germline's own readers are not asked, because the name is that of a source or a text."""
    return LogFile(path).suffix.lower() in NO_LOGS


def _view(path: Path, reader: LogReader, *, chosen: bool) -> ReaderView:
    scanned = scan_file(ReadTask(path=path, log_format=reader.name))
    steps = [step for draft in scanned.drafts for step in draft.steps]
    problem = scanned.broken.message if scanned.broken else "" if scanned.drafts else why_empty(scanned.tally)
    return ReaderView(
        format=reader.name,
        takes=True,
        chosen=chosen,
        episodes=len(scanned.drafts),
        steps=len(steps),
        failing=sum(step.error for step in steps),
        problem=problem,
    )
