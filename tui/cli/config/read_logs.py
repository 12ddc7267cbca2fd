"""Reading logs for a command: which ones, by how many processes, with progress, and what was passed over."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import DamagedLogError, FailedLogError, UnreadableLogError, UsageError
from registry.evidence.log_paths import kept_path
from registry.evidence.redaction import without_secrets
from strategies.engines.engine import engine_of
from strategies.files.default_locations import usual_logs
from strategies.files.project_sessions import ProjectSessions
from strategies.logs.formats_table import NO_LOGS
from strategies.logs.log_listing import log_files
from strategies.logs.scan import scan, scan_on
from strategies.pool.known_episodes import known_templates
from tui.cli.output.progress import ReadProgress
from tui.session.open_registry import project_folder
from tui.text.numbers import count
from tui.text.terminal_text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from registry.query.library import Library
    from strategies.logs.reader_plugins import BrokenReader
    from strategies.logs.scan import Scan
    from tui.cli.config.config import Config
    from tui.cli.output.invocation import Invocation

SHOWN: Final = 5
"""Positions of malformed records that are told unasked."""


class ChosenLogs(NamedTuple):
    """Logs and folders of them to read, and which files of a folder count; None for all."""

    paths: list[Path]
    only: ProjectSessions | None = None


def chosen_logs(
    call: Invocation, paths: Sequence[str] | None, config: Config, *, everything: bool = False, waits: bool = False
) -> ChosenLogs:
    """Return the logs that were named, else those of germline.toml, else what agents wrote in this project.

    With `everything` what they wrote anywhere; with `waits` it may come later. Raises: UsageError where there are
    none; UntrustedError where the project names some that nobody trusted.
    """
    if not paths:
        config.require("scan.paths")
    logs = [Path(path).expanduser() for path in paths or ()] or list(config.paths)
    if logs:
        return ChosenLogs(logs)
    only = None if everything else ProjectSessions(project_folder(call.registry))
    places = discover(only)
    for at, place in enumerate([place for place in places if place.files] or places):
        size = f"{count(place.files, 'file')}, {place.size_bytes:,} bytes"
        call.note(f"{'found' if at == 0 else '':<10} {place.tool}: {size}, in {place.path}")
    if not places:
        raise UsageError(
            "no log was named, and none lies where known agents keep theirs",
            hint="germline scan PATH, or set paths under [scan] in germline.toml",
        )
    if only:
        others = sum(place.others for place in places)
        if not waits and not any(place.files for place in places):
            raise UsageError(
                f"no session ran in {only.folder}; left out: {count(others, 'file')} of other projects",
                hint="germline scan --all, or germline scan PATH",
            )
        if others:
            call.note(f"{'':<10} {count(others, 'file')} of other projects left out: --all reads them")
    return ChosenLogs([place.path for place in places], only)


def read_logs(call: Invocation, logs: Sequence[Path], config: Config) -> Scan:
    """Read logs from their beginnings, with progress on a terminal; the first broken file is an error.

    What follows a whole archive is passed over.
    """
    config.require("logs")
    with ReadProgress(call, "reading logs") as progress:
        logs_scan = scan(
            logs,
            on_broken="list",
            progress=progress.advance,
            executor=workers(config),
            rules=config.rules,
            mappings=config.mappings,
        )
    tell_broken_readers(call, logs_scan.broken_readers)
    _require_readable(logs_scan)
    tell_passed_over(call, logs_scan)
    return logs_scan


def read_on(
    call: Invocation,
    library: Library,
    logs: ChosenLogs,
    config: Config,
    *,
    log_format: str = "",
    skip_broken: bool = False,
    strict: bool = False,
) -> Scan:
    """Read what was written since the last time; the first broken file is an error unless they are skipped.

    Of a damaged archive then counts what could be unpacked. What follows a whole one is passed over anyway.
    """
    config.require("logs")
    with ReadProgress(call, "reading logs") as progress:
        logs_scan = scan_on(
            logs.paths,
            library.log.maps(),
            only=logs.only,
            known_templates=lambda: known_templates(library),
            log_format=log_format,
            progress=progress.advance,
            executor=workers(config),
            rules=config.rules,
            mappings=config.mappings,
            strict=strict,
        )
    tell_broken_readers(call, logs_scan.broken_readers)
    if not skip_broken:
        _require_readable(logs_scan)
    tell_passed_over(call, logs_scan)
    return logs_scan


def _require_readable(logs_scan: Scan) -> None:
    """Raise for the first file that is broken, and say what could be read of a damaged archive.

    One that was found in a folder, or failed, stops no other: it is an error only where none could be read.
    """
    stops = len(logs_scan.broken) == len(logs_scan.files) + len(logs_scan.unchanged)
    for broken in logs_scan.broken if stops else logs_scan.refused:
        if isinstance(broken, FailedLogError) and not stops:
            continue
        if not isinstance(broken, DamagedLogError):
            raise broken
        if not broken.whole:
            read = _episodes_of(broken, logs_scan)
            kept = f"; --skip-broken of `germline scan` keeps {count(read, 'episode')} of it" if read else ""
            raise DamagedLogError(broken.message, source=broken.source, hint=f"{broken.hint}{kept}")


def _episodes_of(broken: UnreadableLogError, logs_scan: Scan) -> int:
    """Count what was read of a damaged archive."""
    if not isinstance(broken, DamagedLogError):
        return 0
    return sum(file.episodes for file in logs_scan.files if file.source == kept_path(broken.source))


def workers(config: Config) -> Callable[[Sequence[int]], AbstractContextManager[Executor | None]]:
    """Give what finds workers to share files among, where the engine that is set finds it worth while.

    Raises: UntrustedError.
    """
    config.require("engine")
    return engine_of(config.engine, processes=config.workers).files


def tell_broken_readers(call: Invocation, broken: Sequence[BrokenReader]) -> None:
    """Say which plug-ins could not read logs although they are installed, why, and what mends it."""
    for reader in broken:
        name = f"{reader.entry} of {reader.package}" if reader.package else reader.entry
        call.note(f"warning    the log reader {name} does not work: {one_line(without_secrets(reader.reason))}")
    packages = sorted({reader.package for reader in broken if reader.package})
    for package in packages:
        call.note(f"next       pip install --upgrade {package}    pip uninstall {package}")


def tell_passed_over(call: Invocation, logs_scan: Scan) -> None:
    """Say which files, links and records were passed over."""
    for broken in logs_scan.broken:
        read = _episodes_of(broken, logs_scan)
        kept = f"; {count(read, 'episode')} read, the rest is passed over" if read else ""
        call.note(f"warning    {'' if read else 'passed over: '}{broken.message}{kept}")
    logs = [name for name in logs_scan.skipped if Path(name).suffix.lower() not in NO_LOGS]
    for what, names, why in (
        ("link", logs_scan.links, "links are not followed: name what they lead to"),
        ("file", logs, "no reader takes it for its own: germline scan FILE --explain"),
    ):
        if names:
            shown = ", ".join(one_line(name.rpartition("/")[2]) for name in names[:SHOWN])
            more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
            call.note(f"note       {count(len(names), what)} passed over ({why}): {shown}{more}")
    if logs_scan.unknown:
        kinds = sorted(logs_scan.unknown.items(), key=lambda kind: (-kind[1], kind[0]))
        shown = ", ".join(f"{one_line(kind)} ({number:,})" for kind, number in kinds[:SHOWN])
        more = f" and {len(kinds) - SHOWN:,} more kinds" if len(kinds) > SHOWN else ""
        call.note(f"note       not known, and passed over: {shown}{more}")
    for bad in logs_scan.malformed[:SHOWN]:
        call.note(f"warning    {bad.source}, line {bad.line}, byte {bad.byte_start:,}: {one_line(bad.reason)}")
    if len(logs_scan.malformed) > SHOWN:
        call.note(
            f"warning    {count(len(logs_scan.malformed) - SHOWN, 'more malformed record')}: --json lists them"
        )


@dataclass(frozen=True, slots=True)
class FoundLogs:
    """The logs of one tool, and how many others there are of its. Units: size_bytes on disk."""

    tool: str
    path: Path
    files: int
    size_bytes: int
    others: int = 0


def discover(only: ProjectSessions | None = None) -> list[FoundLogs]:
    """Look into the usual places, and tell how much lies there; empty ones are left out."""
    places = []
    for tool, path in usual_logs():
        files = [file for file, _ in log_files([path])]
        sizes = [_size_bytes(file) for file in files if only is None or only(file)]
        if files:
            places.append(FoundLogs(tool, path, len(sizes), sum(sizes), len(files) - len(sizes)))
    return places


def _size_bytes(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # gone since it was listed
