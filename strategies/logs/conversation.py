"""A conversation as steps: calls paired with their results, turns counted, text beside a call made a note."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from strategies.logs.actions import SHELL_TOOLS, SQL_TOOLS, head_of, plain_tool, writes
from strategies.logs.episode import Step
from strategies.logs.json_places import UNREADABLE

if TYPE_CHECKING:
    from strategies.logs.episode import Span

Actor = Literal["agent", "user", "environment"]


class _Arguments(msgspec.Struct, gc=False):
    """The names under which tools take a command or a query."""

    command: str | list[str] | None = None
    cmd: str | list[str] | None = None
    query: str | None = None
    sql: str | None = None


_WITH_COMMAND: Final = SHELL_TOOLS | SQL_TOOLS
_ARGUMENTS: Final = msgspec.json.Decoder(_Arguments)
_time: Final = datetime.fromisoformat


class Conversation:
    """The steps of an episode while it is read. Times are RFC 3339 texts, or None."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.prompt = ""
        self._turn = -1
        self._group: str | None = None
        self._open: dict[str, int] = {}

    @property
    def waiting(self) -> bool:
        """Tell whether a call is still without its result."""
        return bool(self._open)

    def say(self, actor: Actor, text: str, span: Span, *, group: str | None = None, at: str | None = None) -> None:
        """Add a message; the agent's counts as an action unless a call of the same turn goes with it."""
        turn = self._enter(group)
        if actor == "user" and not self.prompt:
            self.prompt = text
        beside_call = any(step.kind == "call" for step in self._of_turn(turn))
        kind: Literal["message", "note"] = "note" if beside_call else "message"
        self._add(Step(index=0, turn=turn, kind=kind, actor=actor, text=text, started_at=at, span=span))

    def mark(self, error_type: str, actor: Actor, span: Span, *, at: str | None = None) -> None:
        """Add a note of something that happened to the agent, such as an interrupt."""
        turn = self._enter(None)
        self._add(
            Step(index=0, turn=turn, kind="note", actor=actor, error_type=error_type, started_at=at, span=span)
        )

    def call(
        self,
        call_id: str,
        tool: str,
        argument: str,
        span: Span,
        *,
        group: str | None = None,
        at: str | None = None,
    ) -> None:
        """Add a call; text of the same turn becomes a note."""
        turn = self._enter(group)
        for step in self._of_turn(turn):
            if step.kind == "message":
                self.steps[step.index] = msgspec.structs.replace(step, kind="note")
        tool = plain_tool(tool)
        head = head_of(tool, command_of(tool, argument))
        self._open[call_id or f"#{len(self.steps)}"] = len(self.steps)
        self._add(
            Step(
                index=0,
                turn=turn,
                kind="call",
                actor="agent",
                tool=tool,
                head=head,
                text=argument,
                writes=writes(tool, head),
                started_at=at,
                span=span,
            )
        )

    def answer(
        self,
        call_id: str,
        result: str,
        span: Span,
        *,
        failed: bool,
        error_type: str = "",
        at: str | None = None,
    ) -> bool:
        """Give a call its result, the longest waiting one where no id says which; False if there is none."""
        if not call_id and self._open:
            call_id = next(iter(self._open))
        place = self._open.pop(call_id, None)
        if place is None:
            return False
        step = self.steps[place]
        self.steps[place] = msgspec.structs.replace(
            step,
            result=result,
            error=failed,
            error_text=result if failed and not error_type else "",
            error_type=error_type,
            error_span=span if failed else None,
            duration_ms=elapsed_ms(step.started_at, at),
        )
        return True

    def _enter(self, group: str | None) -> int:
        if group is None or group != self._group:
            self._turn += 1
            self._group = group
        return self._turn

    def _of_turn(self, turn: int) -> list[Step]:
        found: list[Step] = []
        for step in reversed(self.steps):
            if step.turn != turn:
                break
            found.append(step)
        return found

    def _add(self, step: Step) -> None:
        self.steps.append(msgspec.structs.replace(step, index=len(self.steps)))


def command_of(tool: str, argument: str | bytes) -> str:
    """Give the command or query in the argument of a shell or SQL tool, "" for other tools."""
    if tool.lower() not in _WITH_COMMAND:
        return ""
    try:
        given = _ARGUMENTS.decode(argument)
    except UNREADABLE:
        return argument if isinstance(argument, str) else argument.decode("utf-8", "replace")
    command = given.command or given.cmd or given.query or given.sql or ""
    return command if isinstance(command, str) else command[-1]


def elapsed_ms(start: str | None, end: str | None) -> float | None:
    """Give the time between two RFC 3339 times, None where one of them is no time."""
    if not start or not end:
        return None
    try:
        return (_time(end) - _time(start)).total_seconds() * 1000
    except (ValueError, TypeError):  # not a time, or only one of the two names its zone
        return None
