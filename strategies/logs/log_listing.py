"""Which files a scan looks at: those that were named, and those in folders."""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING

from events.errors import NotFoundError
from strategies.logs.trial_logs import agent_log, log_meant

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator


def log_files(
    paths: Iterable[Path],
    *,
    may_be_gone: bool = False,
    only: Callable[[Path], bool] | None = None,
    on_link: Callable[[Path], None] = lambda _: None,
) -> Iterator[tuple[Path, bool]]:
    """Give every file once, sorted by its resolved path, and whether it was named rather than found in a folder.

    Hidden files and folders inside a folder are passed over, links are not followed, but given to `on_link`; of
    what lies in a folder `only` tells which files count. Raises NotFoundError for a path that does not exist,
    unless it `may_be_gone`.
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
            for file in _inside(path.resolve(), on_link):
                if only is None or only(file):
                    files.setdefault(file, False)
        else:
            files[_resolved(log_meant(path))] = True
    yield from sorted(files.items(), key=lambda file: file[0].parts)


def _inside(folder: Path, on_link: Callable[[Path], None]) -> Iterator[Path]:
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
        for link in sorted(entry.path for entry in inside if entry.is_symlink()):
            on_link(Path(link))
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
