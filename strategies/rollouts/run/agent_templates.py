"""Agents as command templates: what is run, and what it needs beside its arguments."""

import json
import re
import shlex
from typing import TYPE_CHECKING, Annotated, Final, Literal, NamedTuple

from pydantic import Field

from events.errors import UsageError
from events.types.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

MESSAGES: Final = "messages"
"""What a model as agent is called in settings."""

SkillMode = Literal["injected", "must-follow", "choice"]
"""How the model gets the skill: in its instructions, with the word that it must follow it, or by a tool."""
PLACEHOLDERS: Final = ("skill_dir", "prompt_file", "workspace", "round")
_NAMED: Final = re.compile(r"\{([a-z_]+)\}")
_MOST_USD: Final = 1e6


class Agent(Frozen):
    """How to run an agent: a command template as an argument list, and what it needs beside it.

    `argv` may hold {skill_dir}, {prompt_file}, {workspace} and {round}; the prompt is on its standard input as
    well, and it starts in the workspace. `environment` names variables that are let through, `network` tells
    whether it may use the network, `skill_at` where in the workspace the skill is put for agents that look for it
    there (`{skill}` is its name), `output` how its standard output is read.
    """

    name: str
    argv: Annotated[tuple[str, ...], Field(min_length=1)]
    environment: tuple[str, ...] = ()
    network: bool = False
    skill_at: str = ""
    output: Literal["text", "claude-json"] = "text"


PRESETS: "Final[Mapping[str, Agent]]" = {
    # Source: the command line reference of Claude Code: the prompt is read from standard input. Not tried here.
    "claude": Agent(
        name="claude",
        argv=(
            *("claude", "-p", "--output-format", "json"),
            *("--permission-mode", "acceptEdits", "--allowedTools", "Bash"),
        ),
        environment=("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "CLAUDE_CODE_OAUTH_TOKEN"),
        network=True,
        skill_at=".claude/skills/{skill}",
        output="claude-json",
    ),
    # Source: the manual of Codex on its non-interactive mode: `-` reads the prompt. Not tried here.
    "codex": Agent(
        name="codex",
        argv=("codex", "exec", "--skip-git-repo-check", "--sandbox", "workspace-write", "-"),
        environment=("CODEX_API_KEY", "OPENAI_API_KEY"),
        network=True,
        skill_at=".agents/skills/{skill}",
    ),
}


def agent_of(command: str, *, network: bool = False, environment: tuple[str, ...] = ()) -> Agent:
    """Give the preset of this name, or split a command template once, by the rules of a POSIX shell.

    Raises: UsageError for an empty template, a placeholder there is not, or quotes that do not close.
    """
    if command in PRESETS:
        preset = PRESETS[command]
        return preset.model_copy(update={"environment": (*preset.environment, *environment)})
    try:
        argv = tuple(shlex.split(command))
    except ValueError as error:
        raise UsageError(
            f"the agent's command cannot be split: {error}: {command}", hint="close the quote"
        ) from error
    if not argv:
        presets = ", ".join(PRESETS)
        raise UsageError("the agent's command is empty", hint=f"give a command, or one of {presets}")
    unknown = [name for word in argv for name in _NAMED.findall(word) if name not in PLACEHOLDERS]
    if unknown:
        known = " ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise UsageError(
            f"the agent's command names {{{unknown[0]}}}, which is nothing", hint=f"it may name {known}"
        )
    return Agent(name=argv[0].rpartition("/")[2], argv=argv, network=network, environment=environment)


def with_files(words: "Sequence[str]", folder: "Path") -> tuple[str, ...]:
    """Write the files that a command names below a folder as whole paths: it may run elsewhere.

    A program without a slash is one on PATH, as in a shell: a folder cannot put another in its place.
    """
    places = [(folder / word).resolve() for word in words]
    argv = [str(at) if at.is_file() else word for word, at in zip(words, places, strict=True)]
    if words and "/" not in words[0]:
        argv[0] = words[0]
    return tuple(argv)


class AgentAnswer(NamedTuple):
    """What an agent's output tells: its answer, what it cost (None if it does not say), and whether it failed."""

    answer: str
    cost_usd: float | None = None
    failed: bool = False


def told_by(agent: Agent, stdout: str) -> AgentAnswer:
    """Read an agent's standard output; what is not in the expected form is the answer as it is."""
    if agent.output == "text":
        return AgentAnswer(stdout)
    try:
        report = json.loads(stdout)
    except (ValueError, RecursionError):
        return AgentAnswer(stdout)
    if not isinstance(report, dict):
        return AgentAnswer(stdout)
    answer = report.get("result")
    return AgentAnswer(
        answer if isinstance(answer, str) else "",
        cost_of(report.get("total_cost_usd")),
        failed=report.get("is_error") is True,
    )


def cost_of(value: object) -> float | None:
    """Take a number of dollars that somebody wrote; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    return float(value) if 0 <= value <= _MOST_USD else None
