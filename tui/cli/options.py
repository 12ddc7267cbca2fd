"""Options and arguments that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the events it would append, and change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Confirm.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why: it is kept with the event.")]
Skill = Annotated[str, typer.Argument(metavar="SKILL", help="The name of a skill.")]
OneOrAll = Annotated[str, typer.Argument(metavar="[SKILL]", help="The name of a skill; all of them if left out.")]
