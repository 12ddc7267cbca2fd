"""Find and open the registry, and wire the real dependencies, once; tests wire their own."""

from __future__ import annotations

import os
import sys
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, TypeAlias

from events.clock import SystemClock
from events.errors import GermlineError, NotFoundError, RefusedError, StorageError, UsageError
from events.extras import install_hint
from events.integrity.sidecar import contradiction, require_last_seen, sidecar_of
from events.sqlite.log import SqliteLog
from events.sqlite.open_database import require_none_aside
from registry.query.library import Library
from registry.skill_md.write_places import ANYWHERE, REGISTRY_FOLDER, project_of
from strategies.files.git_index import worktree_of
from tui.session.own_registries import is_ignored_by_git, keep_registry, trust_in
from tui.session.ownership import NOTED, require_inside, require_own

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.postgres.address import PostgresAddress
    from events.store.sql_log import EventLog
    from registry.registry import Registry
    from tui.session.own_registries import RegistryTrust

FILE: Final = "registry.db"

_FOLDED_A_SECOND: Final = 25_000
"""Events that are folded again in a second (a million in 41 s, measured 2026-11-22)."""

Where: TypeAlias = "Path | PostgresAddress"
"""Where a registry is: a file, or a schema in a database. Written out, it shows no password."""


def find_registry(named: str = "") -> Where:
    """Find the registry: the one named, else GERMLINE_REGISTRY, else the nearest `.germline/` upwards.

    Raises: NotFoundError where there is none, only what a restore put aside, or only that of the checkout which
    this worktree of git belongs to; UsageError for an address of another kind; UntrustedError for one of another
    user, or outside of its folder, that was not named.
    """
    stated = named or os.environ.get("GERMLINE_REGISTRY", "")
    if stated:
        return place_of(stated)
    here = Path.cwd()
    for folder in (here, *here.parents):
        file = folder / REGISTRY_FOLDER / FILE
        if not file.exists() and file.parent.is_dir():
            require_none_aside(file)
        if file.is_file():
            if worktree := worktree_of(folder, here):
                raise NotFoundError(
                    f"the worktree {worktree} has no registry, and that of {folder} writes to the files there",
                    hint=f"germline init {quote(str(worktree))}    {_naming(file)}",
                )
            require_own(file, hint=partial(_naming, file, "if you trust them: "))
            require_inside(file, folder, hint=partial(_naming, file, "if you mean that one: "))
            return file
    raise NotFoundError(f"there is no registry in {here} or above it", hint="germline init")


def _naming(file: Path, why: str = "") -> str:
    """Write how a command names this registry, from any folder."""
    return f"{why}germline --registry {quote(str(file.resolve()))} …"


def project_folder(named: str = "") -> Path:
    """Give the folder of the project: the one that the registry lies in, else the current one.

    Raises: as `find_registry`, but for a registry that is not there.
    """
    try:
        return project_of(find_registry(named)) or Path.cwd()
    except NotFoundError:
        return Path.cwd()


def place_of(stated: str) -> Where:
    """Read where a registry is: a file, the folder that holds it, or an address of PostgreSQL."""
    scheme, address, _ = stated.partition("://")
    if address:
        from events.postgres.address import SCHEMES, PostgresAddress  # noqa: PLC0415 - where one is stated

        if scheme in SCHEMES:
            return PostgresAddress.parse(stated)
        raise UsageError(
            f"{scheme}:// is not known: a registry is a file, or lies on PostgreSQL",
            hint="germline --registry PATH/registry.db …    germline --registry postgresql://HOST/DATABASE …",
        )
    path = Path(stated).expanduser()
    if path.is_dir():
        inside = path / REGISTRY_FOLDER / FILE
        return inside if inside.is_file() else path / FILE
    return path


def file_of(where: Where, command: str) -> Path:
    """Return the file of a registry that is one; raises UsageError for a command that needs a file."""
    if isinstance(where, Path):
        return where
    raise UsageError(
        f"{command} works on a file, and {where} is on PostgreSQL",
        hint="pg_dump --schema NAME …, or: germline copy ADDRESS FILE",
    )


def is_fixed(where: Where) -> bool:
    """Tell whether a registry is a file that this user may only read, or lies in a folder that is fixed."""
    return isinstance(where, Path) and not all(os.access(place, os.W_OK) for place in (where, where.parent))


def open_log(where: Where, *, create: bool = False, read_only: bool = False) -> EventLog:
    """Open the log of a registry, whichever database keeps it."""
    if isinstance(where, Path):
        return SqliteLog.open(where, create=create, read_only=read_only)
    try:
        from events.postgres.log import PostgresLog  # noqa: PLC0415 - the driver takes 0.13 s to load
    except ImportError as error:
        raise UsageError(
            f"{where} needs the driver of PostgreSQL: {error}", hint=install_hint("postgres")
        ) from error
    return PostgresLog.open(where, beside_of(where), create=create, read_only=read_only)


def beside_of(where: Where) -> Path:
    """Give the path that the names of files beside a registry begin with; in our own state for one on a server."""
    if isinstance(where, Path):
        return where.absolute()
    from platformdirs import user_state_path  # noqa: PLC0415 - for registries on a server

    return user_state_path("germline") / where.slug / FILE


@contextmanager
def open_library(path: Where) -> Iterator[Library]:
    """Open a registry for reading only; a projection that was thrown away is folded again first.

    One that lacks what this machine saw of it is read, with a warning: only who writes would fork its history.
    Raises: StorageError where it must be folded again and nobody may write to it.
    """
    log = open_log(path, read_only=True)
    try:
        library = Library(log)
        if not _is_projected(library):
            if is_fixed(path):
                what = f"{path} must be brought up to date once, and you may not write to it or its folder"
                raise StorageError(f"the registry {what}", hint="once, as who may: germline status")
            fold(path)
        library.about()
        if not (trust := trust_in(path, log)).is_writable and not _is_taken_up(trust):
            NOTED.get()(f"read-only  {trust.summary}: {trust_command(path)}")
        if problem := contradiction(log):
            NOTED.get()(f"warning    {problem.what}: germline verify")
        yield library
    finally:
        log.close()


@contextmanager
def open_registry(
    path: Where, *, create: bool = False, dry_run: bool = False, is_own: bool = False
) -> Iterator[Registry]:
    """Open a registry for writing, as the person who runs this; with `create`, make one.

    Skill folders that a crash left at an earlier version are written first, and a checkpoint is kept in the
    sidecar at the end, unless it is a dry run. Raises: UntrustedError for a registry that is not the person's, and
    not `is_own`: a file that the caller made itself; RefusedError where one is to be made and is there.
    """
    from registry.registry import Registry  # noqa: PLC0415 - reading commands pay for none of this: 35 ms

    if isinstance(path, Path) and not is_own:
        _require_contained(path)
    log = open_log(path, create=create)
    try:
        trust = trust_in(path, log)
        if trust.created and create:
            raise RefusedError(f"there is a registry at {path} already", hint="germline status")
        if trust.created and not is_own:
            _require_trusted(path, log, trust, dry_run=dry_run)
        places = ANYWHERE if is_own else replace(trust.places, ask=partial(trust_command, path))
        require_last_seen(log)
        sidecar = None if dry_run else sidecar_of(log.beside)
        registry = Registry(log, SystemClock(), f"person:{user()}", sidecar=sidecar, places=places)
        if not _is_projected(registry):
            _fold(log)
        if not create:
            registry.about()
        if not dry_run:
            _repair(registry)
        try:
            yield registry
        except BaseException:
            with suppress(GermlineError):  # what went wrong first is what is told
                registry.witness()
            raise
        registry.witness()
    finally:
        log.close()


def _require_contained(path: Path) -> None:
    """Raise UntrustedError where a file beside a project's registry is a link out: it would be written through."""
    folder = path.resolve().parent
    if project_of(path) is None or not folder.is_dir():
        return
    for beside in folder.iterdir():
        if beside.is_symlink():
            require_inside(beside, folder, hint=lambda: "remove that link, or: germline --trust-project …")


def _require_trusted(path: Where, log: EventLog, trust: RegistryTrust, *, dry_run: bool) -> None:
    """Raise UntrustedError for a registry that is not the person's; an earlier version kept no list of those."""
    if _is_taken_up(trust):
        if not dry_run:
            why = "counts as yours: git does not track it, so no clone brought it"
            if origin := trust.origin:
                why = f"{origin}: it learns by itself, and writes to the files beside it"
            keep_registry(path, log, SystemClock().now())
            NOTED.get()(f"note       {path} {why}")
        return
    trust.require(hint=f"{trust_command(path)}    germline --trust-project …")


def _is_taken_up(trust: RegistryTrust) -> bool:
    return trust.state == "untrusted" and isinstance(trust.where, Path) and is_ignored_by_git(trust.where)


def trust_command(path: Where) -> str:
    """Say how to trust a registry from here."""
    with suppress(GermlineError):
        if find_registry() == path:
            return "germline trust"
    return f"germline --registry {quote(str(path))} trust"


def _repair(registry: Registry) -> None:
    """Write the folders that a crash left at an earlier version, and say so: it was not asked for."""
    from registry.actions.repair_folders import repair  # noqa: PLC0415 - reading commands have no use for it

    for done in repair(registry):
        if done.refused:
            NOTED.get()(f"warning    not written again: {done.refused}")
        elif done.written:
            NOTED.get()(
                f"repaired   {done.skill}, left at an earlier version: {', '.join(done.written)}, in {done.folder}"
            )


def fold(path: Where) -> None:
    """Fold the projection of a registry, whosever it is: readers have no use for it without one."""
    with closing(open_log(path)) as log:
        _fold(log)


@contextmanager
def reopened(registry: Registry) -> Iterator[Registry]:
    """Open a registry once more, for another thread: a log belongs to the one that opened it."""
    log = registry.log.another()
    try:
        yield type(registry)(log, SystemClock(), registry.actor, sidecar=registry.sidecar, places=registry.places)
    finally:
        log.close()


def _fold(log: EventLog) -> None:
    """Fold what is not folded yet; a person who waits at a terminal learns why, as after an upgrade."""
    from registry.projection.projector import bring_up_to_date  # noqa: PLC0415 - for those who write

    tell_wait(log, "the events are folded again, once")
    bring_up_to_date(log)


def tell_wait(log: EventLog, why: str) -> None:
    """Say to a person at a terminal why they wait, and how long, where all events are folded."""
    seconds = log.head().position // _FOLDED_A_SECOND
    if seconds and sys.stderr.isatty():
        sys.stderr.write(f"note       {why}: about {seconds:,} s\n")


def _is_projected(library: Library) -> bool:
    """Tell whether there is a projection to read; it may be thrown away at any time, its table too."""
    try:
        return library.is_projected()
    except StorageError:
        return False


def user() -> str:
    """Name the person who runs this; `unknown` where the machine does not say."""
    from getpass import getuser  # noqa: PLC0415 - for those who write

    try:
        return getuser()
    except (KeyError, OSError):
        return "unknown"
