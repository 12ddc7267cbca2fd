"""The tools of an agent that a model drives: each call is one command in the sandbox, on the task's workspace."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, ClassVar, Final

from pydantic import Field, ValidationError

from events.errors import NotFoundError
from events.types.frozen import Frozen
from strategies.models.protocol import ModelTool
from strategies.rollouts.run.leftovers import OVERRUNS
from strategies.rollouts.run.trial_folders import hidden_from
from strategies.sandbox.confined_run import ConfinedCommand, installed, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pydantic import JsonValue

    from strategies.rollouts.run.task_container import Container
    from strategies.rollouts.run.trial_folders import Layout
    from strategies.rollouts.tasks.task import RolloutTask
    from strategies.sandbox.confined_run import Ended, Ran, SandboxPolicy

MAX_RESULT_CHARS: Final = 16_000
"""How much of what a call gives back the model is shown (a guess: some 4,000 tokens)."""
MAX_CALL_S: Final = 120.0
"""How long one call may take, within the limit of the task (a guess)."""

_READ: Final = """
import sys
try:
    with open(sys.argv[1], "rb") as file:
        sys.stdout.buffer.write(file.read(1_000_000))
except OSError as error:
    sys.exit(f"{error.strerror}: {sys.argv[1]}")
"""
_WRITE: Final = """
import os, sys
try:
    folder = os.path.dirname(sys.argv[1]) or "."
    if not os.path.isdir(folder):
        os.makedirs(folder)
    with open(sys.argv[1], "wb") as file:
        file.write(sys.stdin.buffer.read())
except OSError as error:
    sys.exit(f"{error.strerror}: {sys.argv[1]}")
"""
_Path = Annotated[str, Field(min_length=1, max_length=4_096, pattern=r"^[^\x00]*$")]
_Text = Annotated[str, Field(max_length=1_000_000)]
_Word = Annotated[str, Field(max_length=100_000, pattern=r"^[^\x00]*$")]


class _Arguments(Frozen):
    """What a tool takes; `tool` says what it does, to the model."""

    tool: ClassVar[str]


class RunCommand(_Arguments):
    """Run a command."""

    tool = (
        "Run a command in the working folder, and get its exit code and what it prints. `argv` is the program and "
        'its arguments; no shell reads them. For pipes and the like: ["sh", "-c", "…"].'
    )
    argv: Annotated[tuple[_Word, ...], Field(min_length=1, max_length=1_000)]
    stdin: _Text = ""


class ReadFile(_Arguments):
    """Read a file."""

    tool = "Read a text file, by its path from the working folder."
    path: _Path


class WriteFile(_Arguments):
    """Write a file."""

    tool = "Write a text file in the working folder; what stood there is replaced."
    path: _Path
    text: _Text


class LoadSkill(_Arguments):
    """Load the skill."""

    tool = "Load a skill, and get what it says."
    name: _Path


class Finish(_Arguments):
    """End the task."""

    tool = "End the task, with your answer to it; the answer is empty where the task asks for none."
    answer: _Text = ""


Deed = RunCommand | ReadFile | WriteFile
"""A call that is a command in the sandbox."""
Call = Deed | LoadSkill | Finish

_KINDS: Final[Mapping[str, type[Call]]] = {
    "run_command": RunCommand,
    "read_file": ReadFile,
    "write_file": WriteFile,
    "finish": Finish,
    "load_skill": LoadSkill,
}


def offered(skill: str) -> tuple[ModelTool, ...]:
    """List the tools as a model is offered them; `skill` says which one may be loaded, "" where none may."""
    return tuple(
        ModelTool(name, f"{kind.tool} {skill}" if kind is LoadSkill else kind.tool, _schema(kind))
        for name, kind in _KINDS.items()
        if skill or kind is not LoadSkill
    )


def _schema(kind: type[_Arguments]) -> dict[str, JsonValue]:
    """Write what a tool takes as JSON schema, without what only speaks to people here."""
    return {key: value for key, value in kind.model_json_schema().items() if key not in {"title", "description"}}


def call_of(name: str, arguments: Mapping[str, object]) -> Call | str:
    """Read a call as the tool that it names, or say what is wrong with it."""
    kind = _KINDS.get(name)
    if kind is None:
        return f"there is no tool {name!r}"
    try:
        values = {key: tuple(value) if isinstance(value, list) else value for key, value in arguments.items()}
        return kind.model_validate(values, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


@dataclass(frozen=True, slots=True)
class Done:
    """What a call gave back; `ended` as `Ran.ended`: void or lost where the sandbox itself failed."""

    text: str
    failed: bool = False
    ended: Ended = "exited"


@dataclass
class Toolbox:
    """Makes the calls of one trial, one at a time, and keeps what they tried and were not let do.

    They are commands in the sandbox, or in the task's own `container`.

    Places below the trial's folder are written relative to the workspace: what a model reads does not depend
    on where that is.
    """

    task: RolloutTask
    layout: Layout
    policy: SandboxPolicy
    container: Container | None = None
    attempts: list[str] = field(default_factory=list)

    def use(self, call: Deed, *, within_s: float) -> Done:
        """Make a call, within the seconds that are left; raises what `sandbox.run` raises."""
        try:
            argv, stdin = self._command(call)
        except NotFoundError as error:
            return Done(error.message, failed=True)
        given = self.layout.root / "stdin"
        given.write_text(stdin, encoding="utf-8", errors="replace", newline="")
        limit_s = min(within_s, MAX_CALL_S)
        if self.container:
            ran = self.container.run(argv, limit_s=limit_s, stdin=given, most_bytes=self.policy.output_bytes)
        else:
            ran = run(self._confined(argv, given, limit_s), self.policy)
        self.attempts += [attempt for attempt in ran.attempts if attempt not in self.attempts]
        return self._told(call, ran, limit_s)

    def _confined(self, argv: tuple[str, ...], stdin: Path, limit_s: float) -> ConfinedCommand:
        return ConfinedCommand(
            argv=argv,
            cwd=self.layout.workspace,
            root=self.layout.root,
            writable=(self.layout.workspace, self.layout.home, self.layout.temporary),
            limit_s=limit_s,
            environment={"HOME": str(self.layout.home), "TMPDIR": str(self.layout.temporary)},
            stdin=stdin,
            hidden=hidden_from(self.task, (sys.executable,), self.layout.root),
        )

    def _command(self, call: Deed) -> tuple[tuple[str, ...], str]:
        if self.container:
            return _in_container(call)
        python = (sys.executable, "-I", "-S", "-c")
        if isinstance(call, ReadFile):
            return (*python, _READ, call.path), ""
        if isinstance(call, WriteFile):
            return (*python, _WRITE, call.path), call.text
        name, *words = call.argv
        at = str(self.layout.workspace / name) if "/" in name else installed(name)
        return (at, *words), call.stdin

    def _told(self, call: Deed, ran: Ran, limit_s: float) -> Done:
        stopped = "".join(f"\nrefused: {self._placed(attempt)}" for attempt in ran.attempts)
        if ran.ended in {"void", "lost"}:
            return Done(ran.error, failed=True, ended=ran.ended)
        if ran.ended == "limit":
            return Done(f"stopped after {limit_s:.0f} s{stopped}", failed=True)
        if ran.ended in OVERRUNS:
            return Done(f"stopped: it {OVERRUNS[ran.ended]}{stopped}", failed=True)
        if ran.ended == "unstarted":
            return Done(f"it could not be started: {self._placed(ran.error)}{stopped}", failed=True)
        if isinstance(call, RunCommand):
            parts = (f"exit code {ran.code}", self._placed(ran.stdout), self._placed(ran.stderr))
            return Done("\n".join(part for part in parts if part) + stopped, failed=not ran.succeeded)
        text = ran.stdout if isinstance(call, ReadFile) else f"wrote {call.path}"
        output = text if ran.succeeded else ran.stderr.strip() or f"exit code {ran.code}"
        return Done(clipped(output) + stopped, failed=not ran.succeeded)

    def _placed(self, text: str) -> str:
        """Cut a text to what a model is shown, its places relative to the workspace."""
        return clipped(text.replace(str(self.layout.workspace), ".").replace(str(self.layout.root), ".."))


def _in_container(call: Deed) -> tuple[tuple[str, ...], str]:
    """Write a call as a command of any container: who knows which Python it has."""
    if isinstance(call, ReadFile):
        return ("sh", "-c", 'head -c 1000000 -- "$1"', "sh", call.path), ""
    if isinstance(call, WriteFile):
        script = 'mkdir -p -- "$(dirname -- "$1")" && cat > "$1"'
        return ("sh", "-c", script, "sh", call.path), call.text
    return call.argv, call.stdin


def clipped(text: str) -> str:
    """Leave out the middle of a long text."""
    if len(text) <= MAX_RESULT_CHARS:
        return text
    half = MAX_RESULT_CHARS // 2
    return f"{text[:half]}\n… {len(text) - 2 * half:,} characters left out …\n{text[-half:]}"
