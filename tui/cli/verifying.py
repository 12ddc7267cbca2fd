"""Verification: does the registry hold what it promises?"""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import typer

from events.errors import CheckFailedError, CorruptLogError
from events.log import Head, Integrity, Problem
from events.sqlite_log import SqliteLog
from tui.bootstrap import find_registry
from tui.cli.invocation import invocation
from tui.cli.options import AsJson
from tui.figures import count

if TYPE_CHECKING:
    from pathlib import Path


def verify(ctx: typer.Context, *, as_json: AsJson = False) -> None:
    """Check every event, link and stored content of the registry.

    Ends with exit code 3 where anything does not hold, and names the position.
    """
    call = invocation(ctx)
    path = find_registry(call.registry)
    found = _verified(path)
    sound = not found.problems
    if as_json:
        fields = {
            "ok": sound,
            "events": found.events,
            "head": found.head.hash,
            "problems": [{"position": problem.position, "what": problem.what} for problem in found.problems],
        }
        call.answer("verify", fields)
        if not sound:
            raise typer.Exit(CheckFailedError.exit_code)
        return
    for problem in found.problems:
        where = f"event {problem.position}" if problem.position else "registry"
        call.say(f"{call.paint('✗', 'bad')} {where:<12} {problem.what}")
    if not sound:
        raise CheckFailedError(
            f"{path} does not hold what it promises: {count(len(found.problems), 'problem')}",
            hint="keep this file as it is, and go back to a copy of it that verifies",
        )
    call.say(f"{call.paint('✓', 'good')} {count(found.events, 'event')}, unbroken up to {found.head.hash[:16]}")


def _verified(path: Path) -> Integrity:
    """Verify; a file that cannot even be opened as a registry is one problem."""
    try:
        log = SqliteLog.open(path, read_only=True)
    except CorruptLogError as error:
        return Integrity(0, Head(0, ""), (Problem(error.position, error.message),))
    try:
        return log.verify()
    finally:
        log.close()


COMMANDS: Final = {"verify": verify}
