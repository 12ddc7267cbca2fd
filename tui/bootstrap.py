"""Bootstrap: finds the registry and wires the real dependencies, once; tests wire their own."""

from __future__ import annotations

import os
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.clock import SystemClock
from events.errors import NotFoundError, StorageError, UsageError
from events.sqlite_log import SqliteLog
from registry.library import Library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from registry.registry import Registry

FOLDER: Final = ".germline"
FILE: Final = "registry.db"


def find_registry(named: str = "") -> Path:
    """Find the registry: the one named, else GERMLINE_REGISTRY, else the nearest `.germline/` upwards.

    Raises: NotFoundError where there is none; UsageError for an address of another kind.
    """
    stated = named or os.environ.get("GERMLINE_REGISTRY", "")
    if stated:
        return _at(stated)
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / FOLDER / FILE).is_file():
            return folder / FOLDER / FILE
    raise NotFoundError(f"there is no registry in {here} or above it", hint="germline init")


def _at(stated: str) -> Path:
    if "://" in stated:
        raise UsageError(
            f"{stated.partition('://')[0]}:// is not known: a registry is one file, kept by SQLite",
            hint="germline --registry PATH/registry.db …",
        )
    path = Path(stated).expanduser()
    if path.is_dir():
        inside = path / FOLDER / FILE
        return inside if inside.is_file() else path / FILE
    return path


@contextmanager
def open_library(path: Path) -> Iterator[Library]:
    """Open a registry for reading only; a projection that was thrown away is folded again first."""
    log = SqliteLog.open(path, read_only=True)
    try:
        library = Library(log)
        if not _is_projected(library):
            with open_registry(path, dry_run=True):
                pass  # opening it for writing folds it again
        library.about()
        yield library
    finally:
        log.close()


@contextmanager
def open_registry(path: Path, *, create: bool = False, dry_run: bool = False) -> Iterator[Registry]:
    """Open a registry for writing, as the person who runs this; with `create`, make the file if it is missing.

    Skill folders that a crash left at an earlier version are written first, unless it is a dry run.
    """
    from registry.projection import rebuild  # noqa: PLC0415 - reading commands pay for none of this: 35 ms
    from registry.publish import repair  # noqa: PLC0415 - the same
    from registry.registry import Registry  # noqa: PLC0415 - the same

    log = SqliteLog.open(path, create=create)
    try:
        registry = Registry(log, SystemClock(), f"person:{user()}")
        if not _is_projected(registry):
            rebuild(log)
        if not create:
            registry.about()
        if not dry_run:
            repair(registry)
        yield registry
    finally:
        log.close()


@contextmanager
def reopened(registry: Registry) -> Iterator[Registry]:
    """Open a registry once more, for another thread: a log belongs to the one that opened it."""
    log = SqliteLog.open(Path(registry.log.location))
    try:
        yield type(registry)(log, SystemClock(), registry.actor)
    finally:
        log.close()


def _is_projected(library: Library) -> bool:
    """Tell whether there is a projection to read; it may be thrown away at any time, its table too."""
    try:
        return library.is_projected()
    except StorageError:
        return False


def user() -> str:
    """Name the person who runs this; `unknown` where the machine does not say."""
    try:
        return getuser()
    except (KeyError, OSError):
        return "unknown"
