"""One file read into drafts: from its start, or from where an earlier reading ended."""

from __future__ import annotations

import codecs
import os
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from zlib import crc32

import msgspec

from events.errors import DamagedLogError, FailedLogError, UnreadableLogError
from registry.evidence.log_paths import kept_path
from registry.evidence.redaction import may_hold_secret, without_secrets
from strategies.episodes.benchmark_trial import of_trial
from strategies.episodes.episode import EpisodeRecord
from strategies.episodes.episode_records import decode, encode
from strategies.files.log_file import START, LogFile, LogPosition
from strategies.files.log_records import Malformed, ReadTally
from strategies.files.project_sessions import FIRST_BYTES, folder_of
from strategies.files.read_offsets import FINGERPRINT_BYTES, ReadOffset, head_of, read_offset_of
from strategies.files.stores import changed_with, may_be_store
from strategies.logs.formats_table import broken_readers, mapped_reader, reader_for, reader_named
from strategies.logs.outcomes_by_rule import add_records
from strategies.logs.resume import LINES, EachLine, Following, LineFollower
from strategies.logs.trial_logs import trial_of, why_no_log

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from io import FileIO
    from pathlib import Path

    from strategies.episodes.outcome_rules import OutcomeRule
    from strategies.files.project_sessions import ProjectSessions
    from strategies.logs.formats.mapped.log_mapping import LogMapping
    from strategies.logs.formats_table import LogReader
    from strategies.logs.reader_plugins import BrokenReader
    from strategies.logs.resume import Follower


@dataclass(frozen=True, kw_only=True)
class FileScan:
    """What one file held: its drafts, its tally, and the error that ended it early, if one did.

    `source` is the file's kept path, as in the drafts. `offset` is where the next reading can go on, b"" where
    none was asked for. `named` tells a file that the user named, `skipped` one that is no log and was not.
    `broken_readers` are plug-ins that broke in another process. `read_on` tells that an earlier reading came
    before. Units: size_bytes on disk, text_bytes of the decompressed stream that were read.
    """

    source: str
    format: str
    size_bytes: int
    text_bytes: int
    tally: ReadTally
    named: bool = False
    drafts: tuple[EpisodeRecord, ...] = ()
    broken: UnreadableLogError | None = None
    offset: bytes = b""
    skipped: bool = False
    read_on: bool = False
    broken_readers: tuple[BrokenReader, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReadTask:
    """One file to read: plain values, so that another process can be given it.

    `log_format` "" leaves the choice of the reader to the first bytes. `named` tells a file that the user named
    from one that was found in a folder. `earlier` is the offset to go on from. With `keep` an offset is
    made; `live` tells that the file is still being written, so that half a line waits. `rules` read outcomes
    from episodes whose log tells none. `mapping` says how to read a file that it claims. Of a store the sessions
    are read that ran `within` a project, None for all.
    """

    path: Path
    named: bool = True
    log_format: str = ""
    earlier: ReadOffset | None = None
    keep: bool = False
    live: bool = False
    rules: tuple[OutcomeRule, ...] = ()
    mapping: LogMapping | None = None
    within: ProjectSessions | None = None

    @property
    def read_as(self) -> str:
        """How the file is to be read, as its offset says: another format or mapping reads it again; "" for any."""
        if self.log_format or self.mapping is None:
            return self.log_format
        return self.mapping.format or f"{self.mapping.name}@{self.mapping.digest}"


def same_sessions(path: Path, earlier: ReadOffset, within: ProjectSessions | None) -> bool:
    """Tell whether an earlier reading took the sessions that are asked for: of a store perhaps not all."""
    return not may_be_store(path) or earlier.line == _of_project(within)


def _of_project(within: ProjectSessions | None) -> int:
    """Give the number that the offset of a store keeps in the place of a line, which it has none of."""
    return crc32(str(within.folder).encode(errors="surrogateescape")) + 1 if within else 0


def scan_file(task: ReadTask, advance: Callable[[int], None] | None = None) -> FileScan:
    """Read one file into drafts; an empty file is a log of nothing, a file without a reader is broken."""
    path, tally, source = task.path, ReadTally(), kept_path(str(task.path))
    log = LogFile(path, advance, whole_lines=task.live, within=task.within.holds if task.within else None)
    reader: LogReader | None = None
    size_bytes, drafts, offset, broken, folder = 0, list[EpisodeRecord](), b"", None, ""
    folders: Mapping[str, str] = {}
    try:
        with path.open("rb", buffering=0) as file:
            stat = changed_with(path, os.fstat(file.fileno()))
            size_bytes = stat.st_size
            reader, trial = _chosen(task, log), trial_of(path)
            no_log = why_no_log(path) if reader is None else ""
            if no_log:
                tally.records += 1
                tally.malformed.append(Malformed(source, 1, 0, no_log))
                return FileScan(source=source, format="trial", size_bytes=size_bytes, text_bytes=0, tally=tally)
            if reader is None and size_bytes and not task.named:
                return FileScan(source=source, format="", size_bytes=0, text_bytes=0, tally=tally, skipped=True)
            if reader is None:
                broken = _unknown_format(log) if size_bytes else None
            elif task.keep and not (log.packed or trial) and _follows(reader, log):
                drafts, offset, log = _read_on(task, source, reader, file, tally, advance)
            else:
                episodes = reader.read(log, tally)
                if trial:
                    episodes = (of_trial(episode, trial, tally) for episode in episodes)
                add_records(episodes, drafts, reader, log, task.rules)
                if task.keep and (task.live or not log.broken):  # a watcher does not say the same at every look
                    place = LogPosition(0, _of_project(task.within)) if log.store else START
                    offset = read_offset_of(file, stat, task.read_as or reader.name, place, b"")
            folders = log.store.folders() if log.store and drafts else {}
            folder = folder_of(path, log.head(FIRST_BYTES)) if drafts and not log.store else ""
    except UnreadableLogError as error:
        broken = error
    except OSError as error:
        broken = FailedLogError(f"{path}: {error.strerror or error}", hint="check that the file can be read")
    except Exception as error:  # noqa: BLE001 - a fault of a reader is one file's: the others are read
        name = reader.name if reader else "none"
        broken = FailedLogError(f"{path}: the reader {name!r} broke: {error!r}", hint="please report it")
    return FileScan(
        source=source,
        named=task.named,
        format=reader.name if reader else "",
        size_bytes=size_bytes,
        text_bytes=log.text_bytes,
        tally=tally,
        drafts=tuple(
            msgspec.structs.replace(draft, source=source, folder=kept_path(folders.get(draft.name, folder)))
            for draft in drafts
        ),
        broken=_shown(broken or log.broken, path, source),
        offset=offset,
        read_on=bool(task.earlier and task.earlier.state),
    )


def scan_packed(task: ReadTask) -> tuple[FileScan, list[bytes]]:
    """Read one file in another process: the drafts come back as bytes, which is ten times cheaper than pickles."""
    scanned = scan_file(task)
    packed = replace(scanned, drafts=(), broken_readers=broken_readers())
    return packed, [encode(draft) for draft in scanned.drafts]


def unpacked(scanned: FileScan, drafts: list[bytes]) -> FileScan:
    """Put together again what `scan_packed` took apart."""
    return replace(scanned, drafts=tuple(map(decode, drafts)))


def _read_on(
    task: ReadTask,
    source: str,
    reader: LogReader,
    file: FileIO,
    tally: ReadTally,
    advance: Callable[[int], None] | None,
) -> tuple[list[EpisodeRecord], bytes, LogFile]:
    """Read whole lines up to the offset that is made, and then what may follow the last newline.

    That rest counts now, and is read again next time; in a file that is still written, half a record waits. A file
    that was replaced or cut off while it was read gives nothing: the next reading finds it as it is then.
    """
    path, earlier, stat = task.path, task.earlier, os.fstat(file.fileno())
    if earlier and not earlier.goes_on(file):
        return [], b"", LogFile(path)
    sniffed = min(FINGERPRINT_BYTES, stat.st_size)
    head = head_of(file, sniffed)
    follower = _follower(task, source, reader)
    log = LogFile(path, advance, follower.place, whole_lines=True, descriptor=file.fileno())
    follower.learn(log, tally)
    place = follower.place
    offset = read_offset_of(file, stat, task.read_as or reader.name, place, follower.state())
    if os.fstat(file.fileno()).st_size < place.offset or head_of(file, sniffed) != head:
        return [], b"", log
    if not task.live and place.offset < stat.st_size:
        follower.learn(LogFile(path, None, place, descriptor=file.fileno()), tally)
    drafts = list[EpisodeRecord]()
    add_records(follower.records(), drafts, reader, log, task.rules)
    return drafts, offset, log


def _follows(reader: LogReader, log: LogFile) -> bool:
    """Tell whether a file can be read on by this reader."""
    if log.holds_values:
        return False
    return isinstance(reader, Following) or (isinstance(reader, EachLine) and reader.each_line(log))


def _follower(task: ReadTask, source: str, reader: LogReader) -> Follower:
    """Go on where an earlier reading ended, or begin where that was of another format, or of another version."""
    earlier = task.earlier if task.earlier and task.earlier.format == (task.read_as or reader.name) else None
    if not isinstance(reader, Following):
        return LineFollower(reader, earlier.place if earlier and earlier.state == LINES else START, task.rules)
    if earlier:
        with suppress(msgspec.DecodeError):
            return reader.follow(source, earlier.state, earlier.place)
    return reader.follow(source)


def _shown(broken: UnreadableLogError | None, path: Path, source: str) -> UnreadableLogError | None:
    """Give an error as it may be shown: it holds the path, and what foreign parsers say of a log."""
    if broken is None or not may_hold_secret(f"{broken.message}{broken.hint}"):
        return broken
    message = source.join(map(without_secrets, broken.message.split(str(path))))
    hint = without_secrets(broken.hint)
    if isinstance(broken, DamagedLogError):
        return DamagedLogError(message, source=source, whole=broken.whole, hint=hint)
    return type(broken)(message, hint=hint)


def _chosen(task: ReadTask, log: LogFile) -> LogReader | None:
    if task.log_format:
        return reader_named(task.log_format)
    if task.mapping:
        return mapped_reader(task.mapping)
    return reader_named(task.earlier.format) if task.earlier else reader_for(log)


def _unknown_format(log: LogFile) -> UnreadableLogError:
    hint = "germline scan FILE --explain    or name it with --format, or map it: docs/mapping.md"
    if log.head(2) in {codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE}:
        hint = "it is UTF-16: iconv -f UTF-16 -t UTF-8 FILE"
    return UnreadableLogError(f"{log.source}: not a log of a known format", hint=hint)
