"""Options and arguments that several commands share."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from events.clock import SystemClock, rfc3339
from events.errors import UsageError

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON for scripts.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Print the events it would append, and change nothing.")]
Rehearse = Annotated[bool, typer.Option("--dry-run", help="Say what would be written, and write nothing.")]
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
UNDECIDED: Final = "a decision needs a reason: it is kept with the event"
"""Why a decision without a reason is refused."""
Skill = Annotated[str, typer.Argument(metavar="SKILL", help="The name of a skill.")]
OneOrAll = Annotated[str, typer.Argument(metavar="[SKILL]", help="The name of a skill; all of them if left out.")]
TaskFile = Annotated[str, typer.Option(metavar="FILE", help="The task set; else that of germline.toml.")]
AgentCommand = Annotated[
    str,
    typer.Option(
        metavar="CMD", help="A command with {skill_dir} {prompt_file} {workspace}, a preset, or messages."
    ),
]
SkillModeName = Annotated[
    str,
    typer.Option(metavar="MODE", help="How messages gets the skill: injected, must-follow or choice."),
]
Bar = Annotated[str, typer.Option(metavar="P", help="Whose bar it must reach; else the one in force.")]
RunsAtOnce = Annotated[int | None, typer.Option(metavar="N", min=1, help="Runs at once; else one for each core.")]
SignWith = Annotated[
    Path | None, typer.Option("--sign", metavar="KEYFILE", help="Sign it with the secret key in this file.")
]


def require_reason(reason: str, refusal: str, hint: str) -> None:
    """Refuse, in these words, a change that nobody gave a reason for; raises UsageError."""
    if not reason.strip():
        raise UsageError(refusal, hint=hint)


def moment_since(text: str) -> str:
    """Read a time as people write it, UTC where no zone is named, or an age: 7d, 24h; "" stays ""."""
    if not text:
        return ""
    if text[-1] in "smhd" and text[0].isdecimal():
        from tui.text.durations import seconds_of  # noqa: PLC0415 - for who names an age

        return rfc3339(
            datetime.fromisoformat(SystemClock().now()) - timedelta(seconds=seconds_of(text, "--since"))
        )
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError(
            f"{text!r} is no time", hint="write it as 2026-11-01, 2026-11-01T12:00:00Z or 7d"
        ) from error
    return rfc3339(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
