"""Questions: the commands that tell history, a skill and the origin of a line, as typer declares them.

What answers them knows nothing of typer: plain forms of these commands are read without it (quick.py).
"""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from typing import Annotated, Final

import typer

from tui.cli.explaining import tell_line
from tui.cli.history import tell_history
from tui.cli.invocation import invocation
from tui.cli.options import AsJson
from tui.cli.reading import tell_skill


def log(  # noqa: PLR0913 - the options of the command are its contract
    ctx: typer.Context,
    skill: Annotated[str, typer.Argument(metavar="[SKILL]", help="A skill; all history if left out.")] = "",
    *,
    types: Annotated[
        list[str] | None, typer.Option("--type", metavar="TYPE", help="Only events of this type; may be repeated.")
    ] = None,
    since: Annotated[
        str, typer.Option(metavar="TIME", help="Only events since 2026-11-01, or 2026-11-01T12:00Z, or 7d ago.")
    ] = "",
    limit: Annotated[int, typer.Option(min=1, metavar="N", help="At most this many events.")] = 2**31,
    follow: Annotated[
        bool, typer.Option("--follow", help="Wait for events, and print each as it comes; oldest first.")
    ] = False,
    after: Annotated[
        int, typer.Option(min=-1, metavar="POSITION", help="With --follow: begin behind this event.")
    ] = -1,
    as_json: AsJson = False,
) -> None:
    """Show the history, of all or of one skill, newest first.

    With --follow, oldest first what happens from now on, or behind the event that --after names.
    With --json one event a line; `version` is that of its stream, `skill_version` that of the skill where the
    event makes one.
    """
    tell_history(
        invocation(ctx),
        skill,
        types=types,
        since=since,
        limit=limit,
        follow=follow,
        after=after,
        as_json=as_json,
    )


def show(
    ctx: typer.Context,
    skill: Annotated[
        str, typer.Argument(metavar="SKILL[@VERSION]", help="As in x, x@12, x@production, x@2026-11-01.")
    ],
    *,
    with_blame: Annotated[bool, typer.Option("--blame", help="Put the origin of each line beside it.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print a skill at any version; with --blame, line by line."""
    tell_skill(invocation(ctx), skill, with_blame=with_blame, as_json=as_json)


def why(
    ctx: typer.Context,
    place: Annotated[
        str, typer.Argument(metavar="LINE", help="As in sql-analyst:7, sql-analyst@3:7, path/SKILL.md:7.")
    ],
    *,
    every: Annotated[bool, typer.Option("--all", help="Show all evidence, and all it said before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Explain one line: who, when, on what evidence, did it help?

    Each piece of evidence is looked up again in its log: `still there` means the same bytes at the same place.
    """
    tell_line(invocation(ctx), place, every=every, as_json=as_json)


COMMANDS: Final = {"log": log, "show": show, "why": why}
