"""One pass over log files: records without text, what each file held, and which files could not be read.

A file is scanned by itself into drafts (records whose templates are still masked error texts); only then are
the templates fitted, over all files. So the order of files cannot matter, and files may be scanned in parallel.
"""

from __future__ import annotations

import dataclasses
import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypedDict

from msgspec.structs import replace

from registry.evidence.log_paths import kept_path
from registry.evidence.redaction import without_secrets
from strategies.episodes.episode_records import settled
from strategies.episodes.error_templates import templates_of
from strategies.files.project_sessions import ProjectSessions
from strategies.files.read_offsets import PREFIX, ReadOffsets
from strategies.files.stores import changed_with
from strategies.logs.copied_files import without_copies
from strategies.logs.formats.mapped.log_mapping import mapping_for
from strategies.logs.formats_table import broken_readers, reader_named, reader_names
from strategies.logs.log_listing import log_files
from strategies.logs.scan_file import FileScan, ReadTask, same_sessions
from strategies.logs.scan_parallel import scan_files

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from concurrent.futures import Executor

    from events.errors import UnreadableLogError
    from strategies.episodes.episode import EpisodeRecord
    from strategies.episodes.outcome_rules import OutcomeRule
    from strategies.files.log_records import Malformed, ReadTally
    from strategies.files.read_offsets import ReadOffset
    from strategies.logs.formats.mapped.log_mapping import LogMapping
    from strategies.logs.reader_plugins import BrokenReader
    from strategies.logs.scan_parallel import Sharing


_KINDS_SHOWN: Final = 3

LACKING: Final = "lacking"
"""The stored map that lists the files that gave no episode, or not all of their records, when they were read."""


class _Choice(TypedDict):
    log_format: str
    mapping: LogMapping | None


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
    in this scan. `sharper` says of known templates that these logs made more general what they are now. `refused`
    are the errors of files that were named rather than found in a folder, `links` the links in folders, which are
    not followed, `lacking` the unchanged files that gave no episode, or not all of their records, when they were
    read, `lacking_now` all such files that are known by now.
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
    refused: tuple[UnreadableLogError, ...] = ()
    links: tuple[str, ...] = ()
    lacking: tuple[str, ...] = ()
    lacking_now: frozenset[str] = frozenset()

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
    mappings: tuple[LogMapping, ...] = (),
) -> Scan:
    """Read log files, and folders of them, into records.

    `log_format` names the one reader to use instead of choosing by the first bytes. `progress` is called with
    the bytes read from disk so far, and in all. Files are shared among the workers of `executor`, if one is given,
    or of what it gives for the bytes of each file that are to be read. `rules` read outcomes from episodes whose
    log tells none, `mappings` the files that they claim.

    Raises: NotFoundError for a path or a format that does not exist; UnreadableLogError, once everything is
    read, for the first file that is no log although it was named, or that is broken (unless on_broken="list").
    """
    choose, links = _chooser(log_format, mappings), list[Path]()
    tasks = [
        ReadTask(path=path, named=named, rules=rules, **choose(path))
        for path, named in log_files(paths, on_link=links.append)
    ]
    merged = _merged(scan_files(tasks, executor, progress), links=links, unknown_copies=True)
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
    mappings: tuple[LogMapping, ...] = (),
    strict: bool = False,
) -> Scan:
    """Read what was written since the scans whose offsets are `stored`; broken files are listed.

    A file that did not change is not opened; of one that grew only the new lines are read, where its format is
    line-delimited; every other file is read whole. Records are those of files that were read: longer readings of
    known episodes among them. New errors join `known_templates`, asked for only where something was read. With
    `live` a last line without its newline waits, and a path that is not there yet, or no more, is passed over.
    A file that was read by another format than it is now, or by a mapping that changed, is read again; with
    `strict` so is one that lacked something. Raises: NotFoundError, as `scan`.
    """
    choose, links = _chooser(log_format, mappings), list[Path]()
    offsets, lacking = ReadOffsets(stored), _lacking_in(stored)
    within = only if isinstance(only, ProjectSessions) else None
    still_lacking = list[str]()
    tasks, unchanged, moved, carried = list[ReadTask](), list[str](), dict[str, str](), dict[str, bytes]()
    for path, named in log_files(paths, may_be_gone=live, only=only, on_link=links.append):
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
        task = ReadTask(path=path, named=named, keep=True, live=live, rules=rules, within=within, **choose(path))
        lacked = lacking is not None and not lacking.isdisjoint((kept, name))
        if earlier and (not _counts_for(earlier, task) or (strict and (lacked or lacking is None))):
            earlier = None
        if earlier and earlier.unchanged(stat) and same_sessions(path, earlier, within):
            unchanged.append(kept)
            still_lacking += [kept] * lacked
            if name != kept:
                carried[PREFIX + kept] = stored[PREFIX + name]
            continue
        tasks.append(dataclasses.replace(task, earlier=earlier))

    def mistaken(file: FileScan) -> bool:
        """Tell whether a file gave nothing by a format that was insisted on: the next scan chooses again."""
        return bool(log_format) and not file.drafts and not file.read_on

    scans = scan_files(tasks, executor, progress)
    return _merged(
        scans,
        unchanged=tuple(unchanged),
        offsets=carried
        | {PREFIX + file.source: file.offset for file in scans if file.offset and not mistaken(file)},
        moved=moved,
        known_templates=known_templates if scans else tuple,
        links=links,
        lacking=tuple(still_lacking),
        known_lacking=lacking or frozenset(),
    )


def _lacking_in(stored: Mapping[str, bytes]) -> frozenset[str] | None:
    """Read the files that lacked something when they were read; None where nobody noted it."""
    return frozenset(json.loads(stored[LACKING])) if LACKING in stored else None


def _chooser(log_format: str, mappings: tuple[LogMapping, ...]) -> Callable[[Path], _Choice]:
    """Give what says how a file is read: by the format that was named, else by the mapping that claims it.

    Raises: NotFoundError for a format that neither a reader nor a mapping is called after.
    """
    named = next((mapping for mapping in mappings if mapping.name == log_format), None)
    if log_format and not named:
        reader_named(log_format)
        return lambda _: _Choice(log_format=log_format, mapping=None)
    return lambda path: _Choice(log_format="", mapping=named or mapping_for(mappings, path))


def _counts_for(earlier: ReadOffset, task: ReadTask) -> bool:
    """Tell whether an earlier reading was by the format by which a file is read now."""
    return earlier.format == task.read_as if task.read_as else earlier.format in {"", *reader_names()}


def _merged(  # noqa: PLR0913 - what a scan says
    scans: list[FileScan],
    *,
    unchanged: tuple[str, ...] = (),
    offsets: Mapping[str, bytes] | None = None,
    moved: Mapping[str, str] | None = None,
    known_templates: Callable[[], Iterable[str]] = tuple,
    links: Sequence[Path] = (),
    lacking: tuple[str, ...] = (),
    known_lacking: frozenset[str] = frozenset(),
    unknown_copies: bool = False,
) -> Scan:
    """Put together what files held; `unknown_copies` are looked for here, where no registry knows other files."""
    read = [file for file in scans if not file.skipped]
    drafts = {draft.id: draft for file in reversed(read) for draft in reversed(file.drafts)}
    if unknown_copies:
        drafts = {draft.id: draft for draft in reversed(without_copies(list(reversed(drafts.values()))))}
    masked = {step.template for draft in drafts.values() for step in draft.steps if step.template}
    known = set(known_templates()) if masked else set[str]()
    templates = templates_of(masked, known) if masked else {}
    return Scan(
        records=tuple(settled(draft, templates) for draft in reversed(drafts.values())),
        files=tuple(_figures(file) for file in read),
        duplicates=sum(len(file.drafts) for file in read) - len(drafts),
        skipped=tuple(file.source for file in scans if file.skipped),
        broken=tuple(file.broken for file in read if file.broken),
        refused=tuple(file.broken for file in read if file.broken and file.named),
        links=tuple(kept_path(str(link)) for link in links),
        lacking=lacking,
        lacking_now=_lacking_now(read, known_lacking),
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


def _lacking_now(read: list[FileScan], known: frozenset[str]) -> frozenset[str]:
    """Give all files that lack something by now; of one that was read on what it lacked before still counts."""
    lack = {file.source for file in read if file.tally.malformed or _figures(file).why_empty}
    whole = {file.source for file in read if not file.read_on}
    return (known - whole) | lack


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
        why_empty=""
        if any(draft.steps for draft in file.drafts) or file.broken or file.read_on
        else why_empty(file.tally),
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
