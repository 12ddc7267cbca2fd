"""One file read into drafts: from its start, or from where an earlier reading ended."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from events.errors import UnreadableLogError
from strategies.logs.checkpoint import FINGERPRINT_BYTES, Checkpoint, checkpoint_of, head_of
from strategies.logs.episode import Episode, EpisodeRecord, Tally
from strategies.logs.following import Following
from strategies.logs.outcome_rules import with_outcome
from strategies.logs.readers import reader_for, reader_named, reader_names
from strategies.logs.records import decode, encode, record_of
from strategies.logs.stream import START, LogFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from io import FileIO
    from pathlib import Path

    from strategies.logs.outcome_rules import OutcomeRule
    from strategies.logs.readers import Reader


@dataclass(frozen=True, kw_only=True)
class FileScan:
    """What one file held: its drafts, its tally, and the error that ended it early, if one did.

    `checkpoint` is where the next reading can go on, b"" where none was asked for. `skipped` tells a file that is
    no log and was not named. Units: size_bytes on disk, text_bytes of the decompressed stream that were read.
    """

    source: str
    format: str
    size_bytes: int
    text_bytes: int
    tally: Tally
    drafts: tuple[EpisodeRecord, ...] = ()
    broken: UnreadableLogError | None = None
    checkpoint: bytes = b""
    skipped: bool = False


@dataclass(frozen=True, kw_only=True)
class Task:
    """One file to read: plain values, so that another process can be given it.

    `log_format` "" leaves the choice of the reader to the first bytes. `named` tells a file that the user named
    from one that was found in a folder. `earlier` is the checkpoint to go on from. With `keep` a checkpoint is
    made; `live` tells that the file is still being written, so that half a line waits. `rules` read outcomes
    from episodes whose log tells none.
    """

    path: Path
    named: bool = True
    log_format: str = ""
    earlier: Checkpoint | None = None
    keep: bool = False
    live: bool = False
    rules: tuple[OutcomeRule, ...] = ()


def scan_file(task: Task, advance: Callable[[int], None] | None = None) -> FileScan:
    """Read one file into drafts; an empty file is a log of nothing, a file without a reader is broken."""
    path, tally = task.path, Tally()
    log = LogFile(path, advance)
    reader: Reader | None = None
    size_bytes, drafts, checkpoint, broken = 0, list[EpisodeRecord](), b"", None
    try:
        with path.open("rb", buffering=0) as file:
            stat = os.fstat(file.fileno())
            size_bytes = stat.st_size
            reader = _chosen(task, log)
            if reader is None and size_bytes and not task.named:
                return FileScan(source=str(path), format="", size_bytes=0, text_bytes=0, tally=tally, skipped=True)
            if reader is None:
                broken = _unknown_format(path) if size_bytes else None
            elif isinstance(reader, Following) and task.keep and not log.packed:
                drafts, checkpoint, log = _read_on(task, reader, file, tally, advance)
            else:
                drafts.extend(_reduced(found, task.rules) for found in reader.read(log, tally))
                if task.keep and not log.broken:
                    checkpoint = checkpoint_of(file, stat, reader.name, START, b"")
    except UnreadableLogError as error:
        broken = error
    except OSError as error:
        broken = UnreadableLogError(f"{path}: {error.strerror}", hint="check that the file can be read")
    return FileScan(
        source=str(path),
        format=reader.name if reader else "",
        size_bytes=size_bytes,
        text_bytes=log.text_bytes,
        tally=tally,
        drafts=tuple(drafts),
        broken=broken or log.broken,
        checkpoint=checkpoint,
    )


def scan_packed(task: Task) -> tuple[FileScan, list[bytes]]:
    """Read one file in another process: the drafts come back as bytes, which is ten times cheaper than pickles."""
    scanned = scan_file(task)
    return replace(scanned, drafts=()), [encode(draft) for draft in scanned.drafts]


def unpacked(scanned: FileScan, drafts: list[bytes]) -> FileScan:
    """Put together again what `scan_packed` took apart."""
    return replace(scanned, drafts=tuple(map(decode, drafts)))


def _read_on(
    task: Task, reader: Following, file: FileIO, tally: Tally, advance: Callable[[int], None] | None
) -> tuple[list[EpisodeRecord], bytes, LogFile]:
    """Read whole lines up to the checkpoint that is made, and then what may stand behind the last newline.

    That rest counts now, and is read again next time; in a file that is still written, half a record waits. A file
    that was replaced or cut off while it was read gives nothing: the next reading finds it as it is then.
    """
    path, earlier, stat = task.path, task.earlier, os.fstat(file.fileno())
    start, state = (earlier.place, earlier.state) if earlier else (START, b"")
    log = LogFile(path, advance, start, whole_lines=True, descriptor=file.fileno())
    if earlier and not earlier.goes_on(file):
        return [], b"", log
    sniffed = min(FINGERPRINT_BYTES, stat.st_size)
    head = head_of(file, sniffed)
    follower = reader.follow(str(path), state, start)
    follower.learn(log, tally)
    place = follower.place
    checkpoint = checkpoint_of(file, stat, _name(reader), place, follower.state())
    if os.fstat(file.fileno()).st_size < place.offset or head_of(file, sniffed) != head:
        return [], b"", log
    if not task.live and place.offset < stat.st_size:
        follower.learn(LogFile(path, None, place, descriptor=file.fileno()), tally)
    return list(follower.records()), checkpoint, log


def _name(reader: object) -> str:
    return str(getattr(reader, "name", ""))


def _reduced(found: Episode | EpisodeRecord, rules: Sequence[OutcomeRule]) -> EpisodeRecord:
    return record_of(with_outcome(found, rules)) if isinstance(found, Episode) else found


def _chosen(task: Task, log: LogFile) -> Reader | None:
    if task.log_format:
        return reader_named(task.log_format)
    return reader_named(task.earlier.format) if task.earlier else reader_for(log)


def _unknown_format(path: Path) -> UnreadableLogError:
    known = ", ".join(reader_names())
    return UnreadableLogError(f"{path}: not a log of a known format", hint=f"known formats: {known}")
