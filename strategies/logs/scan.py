"""One pass over log files: records without text, what each file held, and which files could not be read.

A file is scanned by itself into drafts (records whose templates are still masked error texts); only then are
the templates fitted, over all files. So the order of files cannot matter, and files may be scanned in parallel.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from events.errors import NotFoundError, UnreadableLogError
from strategies.logs.episode import EpisodeRecord, Malformed, Tally
from strategies.logs.readers import reader_for, reader_named, reader_names
from strategies.logs.records import record_of, settled
from strategies.logs.stream import LogFile
from strategies.signals.drain import templates_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from strategies.logs.readers import Reader


@dataclass(frozen=True, kw_only=True)
class FileScan:
    """What one file held: its drafts, its tally, and the error that ended it early, if one did.

    Units: size_bytes on disk, text_bytes of the decompressed stream.
    """

    source: str
    format: str
    size_bytes: int
    text_bytes: int
    tally: Tally
    drafts: tuple[EpisodeRecord, ...] = ()
    broken: UnreadableLogError | None = None


@dataclass(frozen=True, kw_only=True)
class FileTally:
    """The figures of one file. Units: size_bytes on disk, text_bytes of the decompressed stream."""

    source: str
    format: str
    size_bytes: int
    text_bytes: int
    episodes: int
    steps: int
    errors: int
    unknown: dict[str, int]
    malformed: tuple[Malformed, ...]


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What all files held: each episode once, by content hash, in the order of the sorted paths.

    `duplicates` counts episodes that were met again. `skipped` are files of a scanned folder that are no logs,
    `broken` the errors of files that could not be read, or not to their end.
    """

    records: tuple[EpisodeRecord, ...]
    files: tuple[FileTally, ...]
    duplicates: int
    skipped: tuple[str, ...]
    broken: tuple[UnreadableLogError, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes on disk over all files."""
        return sum(file.size_bytes for file in self.files)

    @property
    def text_bytes(self) -> int:
        """Bytes of the decompressed streams over all files."""
        return sum(file.text_bytes for file in self.files)

    @property
    def steps(self) -> int:
        """Steps over all files."""
        return sum(file.steps for file in self.files)

    @property
    def errors(self) -> int:
        """Failing steps over all files."""
        return sum(file.errors for file in self.files)

    @property
    def malformed(self) -> tuple[Malformed, ...]:
        """Every record that was passed over, with its place."""
        return tuple(bad for file in self.files for bad in file.malformed)

    @property
    def unknown(self) -> dict[str, int]:
        """Record types that no reader knows, counted over all files."""
        return dict(sum((Counter(file.unknown) for file in self.files), Counter[str]()))


def scan(
    paths: Iterable[Path],
    *,
    log_format: str = "",
    on_broken: Literal["raise", "list"] = "raise",
    progress: Callable[[int, int], None] | None = None,
) -> Scan:
    """Read log files, and folders of them, into records.

    `log_format` names the one reader to use instead of choosing by the first bytes. `progress` is called with
    the bytes read from disk so far, and in all.

    Raises: NotFoundError for a path or a format that does not exist; UnreadableLogError, once everything is
    read, for the first file that is no log although it was named, or that is broken (unless on_broken="list").
    """
    reader = reader_named(log_format) if log_format else None
    found = list(log_files(paths))
    advance = _advance(progress, sum(path.stat().st_size for path, _ in found)) if progress else None
    scans, skipped = [], []
    for path, named in found:
        chosen = reader or _sniffed(path)
        if chosen is None and not named and path.stat().st_size:
            skipped.append(str(path))
        else:
            scans.append(scan_file(path, chosen, advance))
    merged = _merged(scans, tuple(skipped))
    if merged.broken and on_broken == "raise":
        raise merged.broken[0]
    return merged


def log_files(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Give every file once, sorted by its resolved path, and whether it was named rather than found in a folder.

    Hidden files and folders inside a folder are passed over, links are not followed. Raises NotFoundError.
    """
    found: dict[Path, bool] = {}
    for path in paths:
        if not path.exists():
            raise NotFoundError(f"{path}: no such file or folder", hint="name a log file, or a folder of them")
        if path.is_dir():
            for file in _inside(path.resolve()):
                found.setdefault(file, False)
        else:
            found[path.resolve()] = True
    yield from sorted(found.items())


def scan_file(path: Path, reader: Reader | None, advance: Callable[[int], None] | None = None) -> FileScan:
    """Read one file into drafts; an empty file is a log of nothing, a file without a reader is broken."""
    log, tally = LogFile(path, advance), Tally()
    drafts: list[EpisodeRecord] = []
    size_bytes = path.stat().st_size
    broken = None if reader or not size_bytes else _unknown_format(path)
    try:
        if reader is not None:
            drafts.extend(record_of(episode) for episode in reader.read(log, tally))
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
    )


def _unknown_format(path: Path) -> UnreadableLogError:
    known = ", ".join(reader_names())
    return UnreadableLogError(f"{path}: not a log of a known format", hint=f"known formats: {known}")


def _merged(scans: list[FileScan], skipped: tuple[str, ...]) -> Scan:
    drafts = {draft.id: draft for file in reversed(scans) for draft in reversed(file.drafts)}
    templates = templates_of(step.template for draft in drafts.values() for step in draft.steps if step.template)
    return Scan(
        records=tuple(settled(draft, templates) for draft in reversed(drafts.values())),
        files=tuple(_figures(file) for file in scans),
        duplicates=sum(len(file.drafts) for file in scans) - len(drafts),
        skipped=skipped,
        broken=tuple(file.broken for file in scans if file.broken),
    )


def _figures(file: FileScan) -> FileTally:
    steps = [step for draft in file.drafts for step in draft.steps]
    return FileTally(
        source=file.source,
        format=file.format,
        size_bytes=file.size_bytes,
        text_bytes=file.text_bytes,
        episodes=len(file.drafts),
        steps=len(steps),
        errors=sum(step.error for step in steps),
        unknown=file.tally.unknown,
        malformed=tuple(file.tally.malformed),
    )


def _inside(folder: Path) -> Iterator[Path]:
    for base, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            file = Path(base, name)
            if not name.startswith(".") and file.is_file() and not file.is_symlink():
                yield file


def _sniffed(path: Path) -> Reader | None:
    try:
        return reader_for(LogFile(path))
    except OSError:
        return None  # scan_file meets the same error, and reports it


def _advance(progress: Callable[[int, int], None], total: int) -> Callable[[int], None]:
    done = 0

    def advance(size: int) -> None:
        nonlocal done
        done += size
        progress(done, total)

    return advance
