"""Checkpoints: what the log holds now, to be kept elsewhere; and the keys that sign them."""
# ruff: noqa: TC001, TC003 - typer reads annotations when it builds a command

from __future__ import annotations

from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.clock import SystemClock, new_key_seed
from events.errors import CheckFailedError, UsageError
from events.integrity.checkpoint import check_against, take_checkpoint
from events.integrity.checkpoint_file import read_kept
from events.integrity.proofs import Proof, prove_growth
from tui.cli.output.color import width
from tui.cli.output.facts import folded, say_folded
from tui.cli.output.files import write_new
from tui.cli.output.invocation import invocation, json_text
from tui.cli.output.options import AsJson, SignWith
from tui.documents.checkpoints import CheckpointKeyDocument
from tui.session.open_registry import find_registry, open_library
from tui.text.numbers import count

if TYPE_CHECKING:
    from events.integrity.checkpoint import Checkpoint
    from events.store.sql_log import EventLog
    from tui.cli.output.invocation import Invocation

_SHOWN: Final = 16
_LABEL: Final = 11
"""Columns of a label with its blank: "note", "next" …"""


def checkpoint(
    ctx: typer.Context,
    *,
    output: Annotated[Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write it there.")] = None,
    sign: SignWith = None,
    since: Annotated[
        Path | None,
        typer.Option("--since", metavar="FILE", help="Prove that the log grew out of this checkpoint."),
    ] = None,
    new_key: Annotated[
        Path | None,
        typer.Option("--new-key", metavar="FILE", help="Make a key there, and FILE.pub; nothing else."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Say what the log holds now, to be kept elsewhere.

    Without -o it is printed as one JSON line, to be pasted anywhere. With --since it is a proof.
    """
    call = invocation(ctx)
    if new_key is not None:
        if output or sign or since:
            raise UsageError("--new-key makes a key and nothing else", hint="germline checkpoint --new-key FILE")
        _make_key(call, new_key.expanduser(), as_json=as_json)
        return
    with open_library(find_registry(call.registry)) as library:
        taken = take_checkpoint(library.log, at=SystemClock().now())
        if sign is not None:
            from events.integrity.signatures import read_secret_key  # noqa: PLC0415 - for those who sign

            taken = taken.signed_with(read_secret_key(sign.expanduser()))
        fields = _grown(library.log, taken, since) if since else taken.fields()
    if output is not None:
        write_new(output.expanduser(), f"{json_text(fields, indent=2)}\n")
    if as_json:
        call.say(json_text(fields, indent=2))
    elif output is None:
        call.say(json_text(fields))
    else:
        _tell(call, taken, output, proves=since is not None)


def _grown(log: EventLog, taken: Checkpoint, since: Path) -> dict[str, object]:
    """Prove growth out of the newest checkpoint of a file."""
    kept = read_kept(since.expanduser()).checkpoints
    earlier = max(kept, key=lambda older: older.size)
    if problems := check_against(log, [earlier]):
        raise CheckFailedError(
            f"the log did not grow out of {since}: {problems[0].what}", hint=f"germline verify --against {since}"
        )
    return Proof(taken, growth=prove_growth(log, earlier, taken)).fields()


def _tell(call: Invocation, taken: Checkpoint, output: Path, *, proves: bool) -> None:
    signed = f"signed by key {taken.signature.key}" if taken.signature else "not signed"
    say_folded(
        call, "checkpoint ", f"{count(taken.size, 'event')}, root {taken.root[:_SHOWN]}, {signed}, in {output}"
    )
    kept = "kept on this machine alone, whoever can change the log can change it too"
    for at, line in enumerate(folded(kept, width() - _LABEL)):
        call.note(f"{'' if at else 'note':<{_LABEL}}{line}")
    option = "--proof" if proves else "--against"
    call.say(f"next       germline verify {option} {quote(str(output))}")


def _make_key(call: Invocation, path: Path, *, as_json: bool) -> None:
    from events.integrity.signatures import write_new_key  # noqa: PLC0415 - for those who sign

    public = write_new_key(path, new_key_seed())
    if as_json:
        document = CheckpointKeyDocument(
            file=str(path), public_file=f"{path}.pub", public=str(public), key=public.id
        )
        call.answer(document)
        return
    call.say(f"secret     {path}, for its owner alone; nobody can bring it back")
    call.say(f"public     {public}")
    call.say(f"           key {public.id}, in {path}.pub too: give it to those who check")
    call.say(f"next       germline checkpoint --sign {quote(str(path))} -o FILE")


COMMANDS: Final = {"checkpoint": checkpoint}
