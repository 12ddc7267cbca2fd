"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the events it would append, and change nothing.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Confirm.")]
EngineName = Annotated[
    Literal["local", "dask"] | None,
    typer.Option("--engine", metavar="E", help="Where work is shared: local or dask; else germline.toml."),
]
Scheduler = Annotated[
    str,
    typer.Option(
        "--scheduler", metavar="ADDRESS", help="Dask's: tcp://HOST:8786; else a cluster is started here."
    ),
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why: it is kept with the event.")]
Skill = Annotated[str, typer.Argument(metavar="SKILL", help="The name of a skill.")]
OneOrAll = Annotated[str, typer.Argument(metavar="[SKILL]", help="The name of a skill; all of them if left out.")]
SignWith = Annotated[
    Path | None, typer.Option("--sign", metavar="KEYFILE", help="Sign it with the secret key in this file.")
]
