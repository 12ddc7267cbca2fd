"""Reading logs for a command: which ones, by how many processes, with progress, and what was passed over."""

from __future__ import annotations

import multiprocessing
import os
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.errors import UsageError
from registry.redaction import without_secrets
from strategies.intake import all_episodes
from strategies.logs.scan import log_files, scan, scan_on
from tui.cli.discovery import discover
from tui.cli.paint import one_line
from tui.cli.progress import Progress
from tui.figures import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from concurrent.futures import Executor

    from registry.library import Library
    from strategies.logs.reader_plugins import Broken
    from strategies.logs.scan import Scan
    from tui.cli.config import Config
    from tui.cli.invocation import Invocation

SHOWN: Final = 5
"""Positions of malformed records that are told unasked."""

_WORTH_BYTES: Final = 64_000_000
"""Less is read by one process before others have started (a worker imports for about 0.3 s)."""


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
    """Read logs from their beginnings, with progress on a terminal; the first broken file is an error."""
    with Progress(call, "reading logs") as progress, workers(logs, config) as executor:
        found = scan(logs, on_broken="list", progress=progress.advance, executor=executor, rules=config.rules)
    tell_broken_readers(call, found.broken_readers)
    if found.broken:
        raise found.broken[0]
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
    """Read what was written since the last time; the first broken file is an error unless they are skipped."""
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
    if found.broken and not skip_broken:
        raise found.broken[0]
    tell_passed_over(call, found)
    return found


@contextmanager
def workers(logs: Sequence[Path], config: Config) -> Iterator[Executor | None]:
    """Start processes to share files among, where there are enough files and bytes to be worth it; else None."""
    wanted = config.workers or os.cpu_count() or 1
    sizes = [path.stat().st_size for path, _ in log_files(logs) if path.exists()] if wanted > 1 else []
    if len(sizes) < 2 or sum(sizes) < _WORTH_BYTES:  # noqa: PLR2004 - one file is read by one process
        yield None
        return
    # Not forked: a child must never hold the parent's connection to the registry.
    context = multiprocessing.get_context("forkserver")
    with ProcessPoolExecutor(min(wanted, len(sizes)), context) as executor:
        yield executor


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
        call.note(f"warning    passed over: {broken.message}")
    for bad in found.malformed[:SHOWN]:
        call.note(f"warning    {bad.source}, line {bad.line}, byte {bad.byte_start:,}: {one_line(bad.reason)}")
    if len(found.malformed) > SHOWN:
        call.note(f"warning    {count(len(found.malformed) - SHOWN, 'more malformed record')}: --json lists them")
