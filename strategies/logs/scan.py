"""One pass over log files: records without text, what each file held, and which files could not be read.

A file is scanned by itself into drafts (records whose templates are still masked error texts); only then are
the templates fitted, over all files. So the order of files cannot matter, and files may be scanned in parallel.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING, Final, Literal

from msgspec.structs import replace

from events.errors import NotFoundError, UnreadableLogError
from registry.evidence.redaction import without_secrets
from strategies.episodes.episode_records import settled
from strategies.episodes.error_templates import templates_of
from strategies.files.project_sessions import ProjectSessions
from strategies.files.read_offsets import PREFIX, ReadOffsets
from strategies.files.stores import changed_with
from strategies.logs.formats_table import broken_readers, reader_named
from strategies.logs.scan_file import FileScan, ReadTask, same_sessions
from strategies.logs.scan_parallel import scan_files
from strategies.logs.trial_logs import agent_log, log_meant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from concurrent.futures import Executor

    from strategies.episodes.episode import EpisodeRecord
    from strategies.episodes.outcome_rules import OutcomeRule
    from strategies.files.log_records import Malformed, ReadTally
    from strategies.logs.reader_plugins import BrokenReader
    from strategies.logs.scan_parallel import Sharing


_KINDS_SHOWN: Final = 3


@dataclass(frozen=True, kw_only=True)
class FileTally:
    """The figures of one file. Units: size_bytes on disk, text_bytes of the decompressed stream that were read.

    `why_empty` says why a file that its reader took for its own gave no episode, "" for one that did.
    """

    source: str
    format: str
    size_bytes: int
    text_bytes: int
    episodes: int
    steps: int
    errors: int
    unknown: dict[str, int]
    malformed: tuple[Malformed, ...]
    why_empty: str = ""


@dataclass(frozen=True, kw_only=True)
class Scan:
    """What all files held: each episode once, by content hash, in the order of the sorted paths.

    `duplicates` counts episodes that were met again. `skipped` are files of a scanned folder that are no logs,
    `broken` the errors of files that could not be read, or not to their end. Of a scan that goes on from an
    earlier one, `unchanged` are the files that were not opened, `offsets` what to keep for the next, by
    name, and `moved` the files that were read under another name before, with that name, "" for a new file under
    an old name. Paths are kept paths (log_paths.py). `broken_readers` are plug-ins that cannot be used, or broke
    in this scan. `sharper` says of known templates that these logs made more general what they are now.
    """

    records: tuple[EpisodeRecord, ...]
    files: tuple[FileTally, ...]
    duplicates: int
    skipped: tuple[str, ...]
    broken: tuple[UnreadableLogError, ...]
    unchanged: tuple[str, ...] = ()
    offsets: Mapping[str, bytes] = field(default_factory=dict)
    moved: Mapping[str, str] = field(default_factory=dict)
    broken_readers: tuple[BrokenReader, ...] = ()
    sharper: Mapping[str, str] = field(default_factory=dict)

    @property
    def size_bytes(self) -> int:
        """Bytes on disk over all files that were read."""
        return sum(file.size_bytes for file in self.files)

    @property
    def text_bytes(self) -> int:
        """Bytes of the decompressed streams that were read, over all files."""
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
    def empty(self) -> tuple[FileTally, ...]:
        """Files that a reader took for its own, and that gave no episode."""
        return tuple(file for file in self.files if file.why_empty)

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
    executor: Executor | Sharing | None = None,
    rules: tuple[OutcomeRule, ...] = (),
) -> Scan:
    """Read log files, and folders of them, into records.

    `log_format` names the one reader to use instead of choosing by the first bytes. `progress` is called with
    the bytes read from disk so far, and in all. Files are shared among the workers of `executor`, if one is given,
    or of what it gives for the bytes of each file that are to be read.
    `rules` read outcomes from episodes whose log tells none.

    Raises: NotFoundError for a path or a format that does not exist; UnreadableLogError, once everything is
    read, for the first file that is no log although it was named, or that is broken (unless on_broken="list").
    """
    if log_format:
        reader_named(log_format)
    tasks = [
        ReadTask(path=path, named=named, log_format=log_format, rules=rules) for path, named in log_files(paths)
    ]
    merged = _merged(scan_files(tasks, executor, progress))
    if merged.broken and on_broken == "raise":
        raise merged.broken[0]
    return merged


def scan_on(  # noqa: PLR0913 - all that goes on from one scan to the next
    paths: Iterable[Path],
    stored: Mapping[str, bytes],
    *,
    live: bool = False,
    only: Callable[[Path], bool] | None = None,
    known_templates: Callable[[], Iterable[str]] = tuple,
    log_format: str = "",
    progress: Callable[[int, int], None] | None = None,
    executor: Executor | Sharing | None = None,
    rules: tuple[OutcomeRule, ...] = (),
) -> Scan:
    """Read what was written since the scans whose offsets are `stored`; broken files are listed.

    A file that did not change is not opened; of one that grew only the new lines are read, where its format is
    line-delimited; every other file is read whole. Records are those of files that were read: longer readings of
    known episodes among them. New errors join `known_templates`, asked for only where something was read. With
    `live` a last line without its newline waits, and a path that is not there yet, or no more, is passed over.
    Raises: NotFoundError, as `scan`.
    """
    if log_format:
        reader_named(log_format)
    offsets = ReadOffsets(stored)
    within = only if isinstance(only, ProjectSessions) else None
    tasks, unchanged, moved, carried = list[ReadTask](), list[str](), dict[str, str](), dict[str, bytes]()
    for path, named in log_files(paths, may_be_gone=live, only=only):
        kept = offsets.kept(path)
        try:
            stat = changed_with(path, path.stat())
            name, earlier = offsets.of(path, stat) or ("", None)
        except FileNotFoundError:
            if not named:
                continue  # gone since it was listed
            name, earlier = kept, None  # scan_file says so
        except OSError:
            name, earlier = kept, None  # locked: scan_file says so
        if name != kept and (name or offsets.followed(kept)):
            moved[kept] = name
        if earlier and earlier.unchanged(stat) and same_sessions(path, earlier, within):
            unchanged.append(kept)
            if name != kept:
                carried[PREFIX + kept] = stored[PREFIX + name]
            continue
        tasks.append(
            ReadTask(
                path=path,
                named=named,
                log_format=log_format,
                earlier=earlier,
                keep=True,
                live=live,
                rules=rules,
                within=within,
            )
        )
    scans = scan_files(tasks, executor, progress)
    return _merged(
        scans,
        unchanged=tuple(unchanged),
        offsets=carried | {PREFIX + file.source: file.offset for file in scans if file.offset},
        moved=moved,
        known_templates=known_templates if scans else tuple,
    )


def log_files(
    paths: Iterable[Path], *, may_be_gone: bool = False, only: Callable[[Path], bool] | None = None
) -> Iterator[tuple[Path, bool]]:
    """Give every file once, sorted by its resolved path, and whether it was named rather than found in a folder.

    Hidden files and folders inside a folder are passed over, links are not followed; of what lies in a folder
    `only` tells which files count. Raises NotFoundError for a path that does not exist, unless it `may_be_gone`.
    """
    files: dict[Path, bool] = {}
    for path in paths:
        try:
            is_folder = S_ISDIR(path.stat().st_mode)
        except (FileNotFoundError, NotADirectoryError) as error:
            if may_be_gone:
                continue
            hint = "name a log file, or a folder of them"
            raise NotFoundError(f"{path}: no such file or folder", hint=hint) from error
        except OSError:
            is_folder = False  # closed to us: opening it meets the same error, and that is told
        if is_folder:
            for file in _inside(path.resolve()):
                if only is None or only(file):
                    files.setdefault(file, False)
        else:
            files[_resolved(log_meant(path))] = True
    yield from sorted(files.items(), key=lambda file: file[0].parts)


def _merged(
    scans: list[FileScan],
    *,
    unchanged: tuple[str, ...] = (),
    offsets: Mapping[str, bytes] | None = None,
    moved: Mapping[str, str] | None = None,
    known_templates: Callable[[], Iterable[str]] = tuple,
) -> Scan:
    read = [file for file in scans if not file.skipped]
    drafts = {draft.id: draft for file in reversed(read) for draft in reversed(file.drafts)}
    masked = {step.template for draft in drafts.values() for step in draft.steps if step.template}
    known = set(known_templates()) if masked else set[str]()
    templates = templates_of(masked, known) if masked else {}
    return Scan(
        records=tuple(settled(draft, templates) for draft in reversed(drafts.values())),
        files=tuple(_figures(file) for file in read),
        duplicates=sum(len(file.drafts) for file in read) - len(drafts),
        skipped=tuple(file.source for file in scans if file.skipped),
        broken=tuple(file.broken for file in read if file.broken),
        unchanged=unchanged,
        offsets=offsets or {},
        moved=moved or {},
        broken_readers=tuple(
            dict.fromkeys((*broken_readers(), *(bad for file in scans for bad in file.broken_readers)))
        ),
        sharper={
            template: templates[template] for template in known if template and templates[template] != template
        },
    )


def _figures(file: FileScan) -> FileTally:
    return FileTally(
        source=file.source,
        format=file.format,
        size_bytes=file.size_bytes,
        text_bytes=file.text_bytes,
        episodes=len(file.drafts),
        steps=sum(len(draft.steps) for draft in file.drafts),
        errors=sum(step.error for draft in file.drafts for step in draft.steps),
        unknown={without_secrets(kind): number for kind, number in file.tally.unknown.items()},
        malformed=tuple(
            replace(bad, source=file.source, reason=without_secrets(bad.reason)) for bad in file.tally.malformed
        ),
        why_empty="" if file.drafts or file.broken or file.read_on else why_empty(file.tally),
    )


def why_empty(tally: ReadTally) -> str:
    """Say why a file gave no episode, by the first of its records that did not fit; "" for a file without any."""
    if tally.malformed:
        first = tally.malformed[0]
        return f"line {first.line} does not fit: {without_secrets(first.reason)}"
    if tally.unknown:
        kinds = ", ".join(sorted(map(without_secrets, tally.unknown))[:_KINDS_SHOWN])
        return f"its records are of kinds that are not known: {kinds}"
    return f"it holds no step of an agent (records: {tally.records:,})" if tally.records else ""


def _inside(folder: Path) -> Iterator[Path]:
    """Give the files below a folder, and each folder that cannot be listed: opening it tells why."""
    folders, closed = [str(folder)], list[str]()
    while folders:
        base = folders.pop()
        try:
            with os.scandir(base) as entries:
                inside = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError:
            closed.append(base)
            continue
        below = [entry.name for entry in inside if _is(entry.is_dir)]
        files = [entry.name for entry in inside if _is(entry.is_file)]
        log = agent_log(Path(base), below, files)
        if log:
            yield from [log] if log.is_file() else _results(Path(base))
            continue
        folders += [f"{base}/{name}" for name in below if not _of_results(Path(base), name)]
        yield from (Path(base, name) for name in files)
    yield from map(Path, closed)


def _of_results(session: Path, name: str) -> bool:
    """Tell a folder in which Claude Code keeps what calls gave back, whose session tells of them."""
    return name == "tool-results" and session.with_name(f"{session.name}.jsonl").is_file()


def _results(trial: Path) -> list[Path]:
    """Give the result of a trial without a log, which tells why there is none."""
    return [file for name in ("result.json", "results.json") if (file := trial / name).is_file()]


def _resolved(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError):  # links that lead in a circle, or through a closed folder
        return path.absolute()


def _is(kind: Callable[..., bool]) -> bool:
    """Tell what an entry of a folder is, links not followed; one that cannot be looked at may be anything."""
    try:
        return kind(follow_symlinks=False)
    except OSError:
        return True
