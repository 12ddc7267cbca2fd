"""Copying: a registry from one backend to another, with the same hashes."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from contextlib import closing, nullcontext
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock
from events.errors import NotFoundError, UsageError
from events.store.copy import copy_log, lacking
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.cli.output.progress import Counted
from tui.documents.registry_files import CopyDocument
from tui.session.open_registry import fold, open_log, place_of
from tui.session.own_registries import keep_registry
from tui.text.numbers import count

if TYPE_CHECKING:
    from events.store.copy import Lacking
    from events.store.sql_log import EventLog
    from tui.cli.output.invocation import Invocation
    from tui.session.open_registry import Where

_HASH_CHARS: Final = 16


def copy(
    ctx: typer.Context,
    source: Annotated[str, typer.Argument(metavar="SRC", help="A registry: a file, or postgresql://….")],
    target: Annotated[str, typer.Argument(metavar="DST", help="Where to: a file, or postgresql://….")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be copied; copy nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Copy a registry to another place or database, byte for byte.

    The copy has the same hashes, and is verified. Cut off, it goes on where it stopped; run again, it catches up.
    """
    call = invocation(ctx)
    here, there = place_of(source), place_of(target)
    if here == there:
        raise UsageError(f"{here} is both what to copy and where to", hint="germline copy SRC DST")
    with closing(open_log(here, read_only=True)) as log:
        if not log.head().position:
            raise NotFoundError(f"{here} holds no registry yet", hint="germline init")
        if dry_run:
            with _there_already(there) as begun:
                _tell(call, lacking(log, begun), here, there, as_json=as_json, dry_run=True)
            return
        with closing(open_log(there, create=True)) as new, Counted(call, "events", log.head().position) as line:
            lack = copy_log(log, new, advance=lambda done, _: line.advance(done))
    fold(there)  # now, also for those who may only read it
    with closing(open_log(there, read_only=True)) as new:
        keep_registry(there, new, SystemClock().now())
    _tell(call, lack, here, there, as_json=as_json, dry_run=False)


def _there_already(place: Where) -> closing[EventLog] | nullcontext[None]:
    """Open a copy that was begun; None where there is none yet."""
    try:
        return closing(open_log(place, read_only=True))
    except NotFoundError as error:
        if error.hint != "germline init":  # the database itself is not there
            raise
        return nullcontext()


def _tell(call: Invocation, lack: Lacking, here: Where, there: Where, *, as_json: bool, dry_run: bool) -> None:
    if as_json:
        document = CopyDocument(
            dry_run=dry_run,
            source=str(here),
            target=str(there),
            there=lack.there,
            events=lack.events,
            blobs=len(lack.blobs),
            erased=len(lack.erased),
            episodes=lack.episodes,
            checkpoints=lack.maps,
            head=lack.head.hash,
        )
        call.answer(document)
        return
    parts = [count(lack.events, "event"), f"{count(len(lack.blobs), 'text')} or files"]
    parts += [count(lack.episodes, "episode"), count(lack.maps, "map")]
    already = f"; {count(lack.there, 'event')} were there" if lack.there else ""
    done = "; nothing was changed" if dry_run else ", verified"
    say_folded(call, f"{'would copy' if dry_run else 'copied':<10} ", f"{', '.join(parts)}{already}{done}")
    say_folded(call, f"{'to':<10} ", f"{there}")
    call.say(f"{'head':<10} {lack.head.hash[:_HASH_CHARS]}{'' if dry_run else ', the same on both'}")
    from_here, to_there = quote(str(here)), quote(str(there))
    following = f"germline copy {from_here} {to_there}" if dry_run else f"germline --registry {to_there} status"
    call.say(f"{'next':<10} {following}")


COMMANDS: Final = {"copy": copy}
