"""Backups: the whole registry in one file, taken while it is in use, and put back in its place."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from contextlib import closing
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import typer

from events.clock import SystemClock
from events.errors import CorruptLogError, GermlineError, NotFoundError, RefusedError, UsageError
from events.sqlite.backup import Lack, back_up, back_up_log, lacking, restore
from events.sqlite.verify import verify_file
from registry.actions.hold_edits import held_edits
from registry.actions.publish import standing
from registry.projection.document_check import require_documents
from registry.skill_md.write_places import REGISTRY_FOLDER
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, Yes
from tui.cli.output.progress import Counted, ReadProgress
from tui.documents.registry_files import BackupDocument, RestoreDocument, RestoreLoss
from tui.session.open_registry import FILE, file_of, find_registry, open_library, open_log, place_of
from tui.session.own_registries import keep_registry
from tui.text.numbers import count

if TYPE_CHECKING:
    from events.store.protocol import Integrity
    from tui.cli.output.invocation import Invocation
    from tui.session.open_registry import Where

_HASH_CHARS: Final = 16


class RestoreTarget(NamedTuple):
    """What is where a backup is to go: what it would lose, or why that is unknown."""

    lack: Lack | None
    unreadable: str

    @property
    def lost(self) -> str:
        """Say what would no longer be there; "" where all of it is in the backup."""
        if self.lack is None:
            return self.unreadable
        lack, parts = self.lack, []
        if lack.events:
            parts.append(positions(lack.common + 1, lack.head.position))
        if lack.episodes:
            parts.append(count(lack.episodes, "episode"))
        if lack.blobs:
            parts.append(f"{count(lack.blobs, 'text')} or files")
        return ", ".join(parts)


class Restored(NamedTuple):
    """A backup that was put in its place, or would be; `kept` is where what stood there went."""

    path: Path
    source: Path
    integrity: Integrity
    standing: RestoreTarget | None
    kept: Path | None
    dry_run: bool


def backup(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to write.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Replace a file that is there.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be written; write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Copy the registry into one file, verified, while in use.

    The file is there whole or not at all, and only you may read it. Edits of skill files that nobody adopted are
    not in it, and are named.
    """
    call = invocation(ctx)
    where, target = find_registry(call.registry), _file(file)
    target = target / FILE if target.is_dir() else target
    if not target.parent.is_dir():
        raise NotFoundError(f"there is no folder {target.parent}", hint=f"mkdir -p {target.parent}")
    there = target.exists()
    if there and isinstance(where, Path) and where.exists() and target.samefile(where):
        raise UsageError(f"{target} is the registry itself", hint="name another file, best on another disk")
    if there and not yes:
        raise RefusedError(f"there is a file {target} already", hint=f"germline backup {quote(str(file))} --yes")
    integrity = _backed_up(call, where, target, dry_run=dry_run)
    size_bytes = None if dry_run else target.stat().st_size
    left_out = _left_out(where)
    if as_json:
        document = BackupDocument(
            dry_run=dry_run,
            registry=str(where),
            file=str(target),
            events=integrity.events,
            head=integrity.head.hash,
            bytes=size_bytes,
            replaced=there,
            left_out=left_out,
        )
        call.answer(document)
        return
    verb = "would be" if size_bytes is None else "backup"
    done = "" if size_bytes is None else f", {size_bytes:,} bytes, verified"
    say_folded(call, f"{verb:<10} ", f"{target}, {count(integrity.events, 'event')}{done}")
    call.say(f"{'head':<10} {integrity.head.hash[:_HASH_CHARS]}")
    for what in left_out:
        say_folded(call, f"{'without':<10} ", what, tone="warn")
    call.say(f"{'next':<10} germline restore {quote(str(file))}{'' if dry_run else ' --dry-run'}")


def _left_out(where: Where) -> tuple[str, ...]:
    """Name the edits of skill files that the registry does not hold yet: they are files alone."""
    with open_library(where) as library:
        edited = [name for name in library.live_names() if standing(library, name) == "edited"]
        held = {name: held_edits(library, name) for name in library.live_names()}
    return (
        *(f"the edit of {name} on disk: germline adopt {name}" for name in edited),
        *(
            f"{count(len(edits), 'edit')} of {name} held back, in {edits[-1].parent}: copy the folder yourself"
            for name, edits in held.items()
            if edits
        ),
    )


def _backed_up(call: Invocation, where: Where, target: Path, *, dry_run: bool) -> Integrity:
    """Copy a registry to the file, or only verify it."""
    if isinstance(where, Path):
        if dry_run:
            return _sound(where, hint="germline doctor --repair --dry-run")
        with ReadProgress(call, "copying") as shown:
            return back_up(where, target, advance=shown.advance, check=partial(require_documents, of=str(where)))
    with closing(open_log(where, read_only=True)) as log:
        if dry_run:
            return log.verify()  # what lies beside the events is not copied
        with Counted(call, "events", log.head().position) as line:
            return back_up_log(log, target, advance=lambda done, _: line.advance(done))


def restore_backup(
    ctx: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A backup.")],
    *,
    to: Annotated[str, typer.Option(metavar="PATH", help="Put it here instead of where the registry is.")] = "",
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change; change nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put a backup in the place of the registry, kept aside.

    What the registry holds and the backup does not is shown first, and goes only with --yes.
    """
    call = invocation(ctx)
    source, path = _file(file), _destination(call, to)
    if not source.is_file():
        raise NotFoundError(f"there is no backup {source}", hint="germline backup FILE")
    if path.exists() and source.samefile(path):
        raise UsageError(f"{source} is the registry itself", hint="germline verify")
    integrity = _sound(source, hint="restore from another backup")
    standing = _standing(path, source)
    if standing and standing.lost and not (yes or dry_run):
        raise RefusedError(
            f"{path} holds what {source} lacks: {standing.lost}"
            if standing.lack
            else f"what {source} lacks of {path} cannot be told: {standing.lost}",
            hint=f"germline backup OTHER   or   germline restore {quote(str(file))} --yes (keeps it aside)",
        )
    aside = path.parent / f"replaced-{stamp()}"
    if not dry_run:
        over = standing.lack.head if standing and standing.lack else None
        with ReadProgress(call, "copying") as shown:
            integrity = restore(source, path, aside=aside, over=over, advance=shown.advance)
        with closing(open_log(path, read_only=True)) as log:
            keep_registry(path, log, SystemClock().now())
    kept = aside if standing or aside.exists() else None
    done = Restored(path, source, integrity, standing, kept, dry_run)
    if as_json:
        call.answer(_document(done))
    else:
        _print(call, done)


def stamp() -> str:
    """Write the time so that it can stand in the name of a folder: `20261122T093000.123456Z`."""
    return SystemClock().now().replace("-", "").replace(":", "")


def positions(first: int, last: int) -> str:
    """Name events by their positions: `event 12`, `events 12 to 40`."""
    return f"event {first:,}" if first == last else f"events {first:,} to {last:,}"


def _file(named: str) -> Path:
    """Read the name of a file; raises UsageError for an address, shown without its password."""
    place = place_of(named)
    if isinstance(place, Path):
        return Path(named).expanduser()
    raise UsageError(
        f"{place} is no file: a backup is one, and goes to a server by copying",
        hint=f"germline copy FILE '{place}'",
    )


def _destination(call: Invocation, to: str) -> Path:
    """Find where the registry is, or is to be."""
    if to:
        path = _file(to)
        if path.suffix == ".db" or path.is_file():
            return path
        return path / FILE if path.name == REGISTRY_FOLDER else path / REGISTRY_FOLDER / FILE
    try:
        return file_of(find_registry(call.registry), "restore")
    except NotFoundError:
        return Path.cwd() / REGISTRY_FOLDER / FILE


def _sound(path: Path, *, hint: str) -> Integrity:
    """Verify a registry's file; raises CorruptLogError where it does not hold."""
    integrity = verify_file(str(path))
    if integrity.problems:
        first = integrity.problems[0]
        more = f", and {len(integrity.problems) - 1:,} more" if len(integrity.problems) > 1 else ""
        raise CorruptLogError(f"{path} does not hold: {first.what}{more}", position=first.position, hint=hint)
    with closing(open_log(path, read_only=True)) as log:
        require_documents(log, of=str(path))
    return integrity


def _standing(path: Path, source: Path) -> RestoreTarget | None:
    if not path.exists():
        return None
    try:
        return RestoreTarget(lacking(path, source), "")
    except GermlineError as error:
        return RestoreTarget(None, error.message)


def _document(done: Restored) -> RestoreDocument:
    lack = done.standing.lack if done.standing else None
    return RestoreDocument(
        dry_run=done.dry_run,
        registry=str(done.path),
        file=str(done.source),
        events=done.integrity.events,
        head=done.integrity.head.hash,
        aside=str(done.kept) if done.kept else None,
        lost=RestoreLoss.of(lack) if lack else None,
        unreadable=done.standing.unreadable if done.standing else "",
    )


def _print(call: Invocation, done: Restored) -> None:
    verb = "would be" if done.dry_run else "restored"
    say_folded(
        call, f"{verb:<10} ", f"{done.path} from {done.source}, {count(done.integrity.events, 'event')}, verified"
    )
    standing = done.standing
    if standing and standing.lost:
        call.say(f"{'lost':<10} {standing.lost if standing.lack else f'cannot be told: {standing.lost}'}")
    if standing and standing.lack and standing.lack.erasures:
        erased = count(standing.lack.erasures, "text")
        call.say(f"{'erased':<10} {erased} since the backup was taken, which it has still: erase them again")
    if done.kept:
        say_folded(
            call, f"{'aside':<10} ", f"{done.kept}: what stood there{' would go there' if done.dry_run else ''}"
        )
    again = f"germline restore {quote(str(done.source))} --yes"
    call.say(f"{'next':<10} {again if done.dry_run else 'germline status'}")


COMMANDS: Final = {"backup": backup, "restore": restore_backup}
