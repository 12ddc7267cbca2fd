"""The doctor: what is set up, what is missing, and the command that mends it."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from textwrap import wrap
from typing import Annotated, Final

import typer

from events.errors import CheckFailedError, UsageError
from tui.cli.commands.registry.doctor_checks import checks
from tui.cli.output.color import width
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson, Yes
from tui.documents.registry_files import CheckRow, DoctorDocument
from tui.text.numbers import count
from tui.text.terminal_text import one_line

_MARKS: Final = {"ok": ("✓", "good"), "missing": ("·", "dim"), "broken": ("✗", "bad")}
_NAME: Final = 10
"""Columns of the names: "isolation"."""


def doctor(
    ctx: typer.Context,
    *,
    repair: Annotated[
        bool, typer.Option("--repair", help="Recover what a damaged registry still proves; needs --yes.")
    ] = False,
    yes: Yes = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --repair: say what would be recovered; change nothing.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what is set up, what is missing, what mends it.

    What is not set up is no fault; the exit code is 3 where something that was set up does not hold.
    """
    call = invocation(ctx)
    if repair:
        from tui.cli.commands.registry.repair import repair as repaired  # noqa: PLC0415 - for the one in a thousand that is damaged

        repaired(call, yes=yes, dry_run=dry_run, as_json=as_json)
        return
    if yes or dry_run:
        raise UsageError("only --repair changes anything", hint="germline doctor --repair --dry-run")
    results = list(checks(call))
    broken = sum(check.state == "broken" for check in results)
    if as_json:
        call.answer(DoctorDocument(ok=not broken, checks=tuple(map(CheckRow.model_validate, results))))
    else:
        for at, check in enumerate(results):
            mark, tone = _MARKS[check.state]
            name = check.name if at == 0 or results[at - 1].name != check.name else ""
            lines = wrap(one_line(check.summary), max(width() - _NAME - 3, 30), break_on_hyphens=False) or [""]
            call.say(f"{call.paint(mark, tone)} {name:<{_NAME}} {lines[0]}")
            for rest in lines[1:]:
                call.say(f"  {'':<{_NAME}} {rest}")
            if check.mend:
                call.say(f"  {'':<{_NAME}} {call.paint(one_line(check.mend), 'accent')}")
        call.say(f"\n{count(broken, 'fault')}" if broken else "\nall that is set up holds")
    if broken:
        raise typer.Exit(CheckFailedError.exit_code)


COMMANDS: Final = {"doctor": doctor}
