"""Reading logs for a command: which ones, by how many processes, with progress, and what was passed over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.errors import DamagedLogError, UnreadableLogError, UsageError
from registry.log_paths import kept_path
from registry.redaction import without_secrets
from strategies.engines import engine_of
from strategies.intake import all_episodes
from strategies.logs.scan import log_files, scan, scan_on
from tui.cli.discovery import discover
from tui.cli.paint import one_line
from tui.cli.progress import Progress
from tui.figures import count

if TYPE_CHECKING:
    from collections.abc import Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from registry.library import Library
    from strategies.logs.reader_plugins import Broken
    from strategies.logs.scan import Scan
    from tui.cli.config import Config
    from tui.cli.invocation import Invocation

SHOWN: Final = 5
"""Positions of malformed records that are told unasked."""


def chosen_logs(call: Invocation, paths: Sequence[str] | None, config: Config) -> list[Path]:
    """Return the logs that were named, else those of germline.toml, else what lies in the usual places.

    Raises: UsageError where there are none.
    """
    logs = [Path(path).expanduser() for path in paths or ()] or list(config.paths)
    if logs:
        return logs
    found = discover()
    for at, one in enumerate(found):
        size = f"{count(one.files, 'file')}, {one.size_bytes:,} bytes"
        call.note(f"{'found' if at == 0 else '':<10} {one.tool}: {size}, in {one.path}")
    if not found:
        raise UsageError(
            "no log was named, and none lies where Claude Code or Codex keep theirs",
            hint="germline scan PATH, or set paths under [scan] in germline.toml",
        )
    return [one.path for one in found]


def read_logs(call: Invocation, logs: Sequence[Path], config: Config) -> Scan:
    """Read logs from their beginnings, with progress on a terminal; the first broken file is an error.

    What follows a whole archive is passed over.
    """
    with Progress(call, "reading logs") as progress, workers(logs, config) as executor:
        found = scan(logs, on_broken="list", progress=progress.advance, executor=executor, rules=config.rules)
    tell_broken_readers(call, found.broken_readers)
    _require_readable(found)
    tell_passed_over(call, found)
    return found


def read_on(
    call: Invocation,
    library: Library,
    logs: Sequence[Path],
    config: Config,
    *,
    log_format: str = "",
    skip_broken: bool = False,
) -> Scan:
    """Read what was written since the last time; the first broken file is an error unless they are skipped.

    Of a damaged archive then counts what could be unpacked. What follows a whole one is passed over anyway.
    """
    with Progress(call, "reading logs") as progress, workers(logs, config) as executor:
        found = scan_on(
            logs,
            library.log.checkpoints(),
            known_templates=lambda: {step.template for one in all_episodes(library) for step in one.steps},
            log_format=log_format,
            progress=progress.advance,
            executor=executor,
            rules=config.rules,
        )
    tell_broken_readers(call, found.broken_readers)
    if not skip_broken:
        _require_readable(found)
    tell_passed_over(call, found)
    return found


def _require_readable(found: Scan) -> None:
    """Raise for the first file that is broken, and say what could be read of a damaged archive."""
    for broken in found.broken:
        if not isinstance(broken, DamagedLogError):
            raise broken
        if not broken.whole:
            read = _episodes_of(broken, found)
            kept = f"; --skip-broken of `germline scan` keeps {count(read, 'episode')} of it" if read else ""
            raise DamagedLogError(broken.message, source=broken.source, hint=f"{broken.hint}{kept}")


def _episodes_of(broken: UnreadableLogError, found: Scan) -> int:
    """Count what was read of a damaged archive."""
    if not isinstance(broken, DamagedLogError):
        return 0
    return sum(file.episodes for file in found.files if file.source == kept_path(broken.source))


def workers(logs: Sequence[Path], config: Config) -> AbstractContextManager[Executor | None]:
    """Find workers to share files among, where the engine that is set finds it worth while; else None."""
    sizes = [path.stat().st_size for path, _ in log_files(logs) if path.exists()]
    return engine_of(config.engine, processes=config.workers).files(sizes)


def tell_broken_readers(call: Invocation, broken: Sequence[Broken]) -> None:
    """Say which plug-ins could not read logs although they are installed, why, and what mends it."""
    for one in broken:
        name = f"{one.entry} of {one.package}" if one.package else one.entry
        call.note(f"warning    the log reader {name} does not work: {one_line(without_secrets(one.reason))}")
    packages = sorted({one.package for one in broken if one.package})
    for package in packages:
        call.note(f"next       pip install --upgrade {package}    pip uninstall {package}")


def tell_passed_over(call: Invocation, found: Scan) -> None:
    """Say which files and records were passed over."""
    for broken in found.broken:
        read = _episodes_of(broken, found)
        kept = f"; {count(read, 'episode')} read, the rest is passed over" if read else ""
        call.note(f"warning    {'' if read else 'passed over: '}{broken.message}{kept}")
    for bad in found.malformed[:SHOWN]:
        call.note(f"warning    {bad.source}, line {bad.line}, byte {bad.byte_start:,}: {one_line(bad.reason)}")
    if len(found.malformed) > SHOWN:
        call.note(f"warning    {count(len(found.malformed) - SHOWN, 'more malformed record')}: --json lists them")
