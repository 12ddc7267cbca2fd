"""The steps of a conversation: calls paired with their results, turns counted, text beside a call made a note.

Every format that tells a conversation builds its steps here: `Conversation` keeps them whole, with their texts,
`IncrementalConversation` as drafts without text, so that a log can be read on, and `ClaudeSession` (logs/formats)
as drafts of calls and results that it does not decode.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final, Generic, Literal, TypeVar

import msgspec

from strategies.episodes.action_class import command_of, head_of, plain_tool, writes
from strategies.episodes.episode import Kind, Step
from strategies.episodes.step_records import StepDraft

if TYPE_CHECKING:
    from strategies.files.log_records import Span

Actor = Literal["agent", "user", "environment"]
StepT = TypeVar("StepT", Step, StepDraft)
KeyT = TypeVar("KeyT", str, bytes)


class TurnBuilder(msgspec.Struct, Generic[StepT, KeyT], dict=True, kw_only=True):
    """Count the turns of an episode and pair its calls with their results, perhaps over many readings.

    Steps that name the same `group` are one turn. `waiting` says which step each call is that has no result yet,
    by the key of its id. A subclass says how steps are kept. Times are RFC 3339 texts, or None.
    """

    turn: int = -1
    group: KeyT | None = None
    steps: list[StepT] = msgspec.field(default_factory=list, name="drafts")
    waiting: dict[KeyT, int] = {}

    def enter_turn(self, group: KeyT | None) -> bool:
        """Go on to the next turn, or stay in that of the group; tells whether it stayed."""
        if group and group == self.group:
            return True
        self.turn += 1
        self.group = group
        return False

    def say(self, actor: Actor, text: str, span: Span, *, group: str | None = None, at: str | None = None) -> None:
        """Add a message; the agent's counts as an action unless a call of the same turn goes with it."""
        stays = self.enter_turn(self._key(group))
        kind: Kind = "note" if stays and self._in_turn("call") else "message"
        self._add(
            Step(
                index=len(self.steps),
                turn=self.turn,
                kind=kind,
                actor=actor,
                text=text,
                started_at=at,
                span=span,
            )
        )

    def mark(
        self,
        error_type: str,
        actor: Actor,
        span: Span,
        *,
        at: str | None = None,
        failed: bool = False,
        error_text: str = "",
    ) -> None:
        """Add a note of something that happened to the agent, such as an interrupt, or a failure of its own."""
        self.enter_turn(None)
        self._add(
            Step(
                index=len(self.steps),
                turn=self.turn,
                kind="note",
                actor=actor,
                error=failed,
                error_text=error_text,
                error_type=error_type,
                started_at=at,
                span=span,
            )
        )

    def open_call(self, group: KeyT | None, key: KeyT) -> None:
        """Enter the turn of a call that waits for its result; messages of the same turn become notes."""
        if self.enter_turn(group):
            for index in self._in_turn("message"):
                self.steps[index] = _as_note(self.steps[index])
        self.waiting[key] = len(self.steps)

    def close_call(self, key: KeyT) -> tuple[KeyT, int] | None:
        """Give the key and the step of the call that a result answers, of the longest waiting one for no key.

        None where no call waits for it.
        """
        key = key or next(iter(self.waiting), key)
        index = self.waiting.pop(key, None)
        return None if index is None else (key, index)

    def _key(self, name: str | None) -> KeyT:
        """Give the key of a group or of a call's id, an empty one for none."""
        raise NotImplementedError

    def _add(self, step: Step) -> None:
        """Keep a message or a note."""
        raise NotImplementedError

    def _in_turn(self, kind: Kind) -> list[int]:
        """Give the steps of one kind in the turn that is the last so far."""
        indexes = []
        for index in range(len(self.steps) - 1, -1, -1):
            step = self.steps[index]
            if step.turn != self.turn:
                break
            if step.kind == kind:
                indexes.append(index)
        return indexes


def _as_note(message: StepT) -> StepT:
    if isinstance(message, StepDraft):
        message.kind, message.action = "note", ""
        return message
    return msgspec.structs.replace(message, kind="note")


class StepBuilder(TurnBuilder[StepT, KeyT]):
    """Build the steps of calls and their results from their texts."""

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
        key = self._key(call_id or f"#{len(self.steps)}")
        self.open_call(self._key(group), key)
        tool = plain_tool(tool)
        head = head_of(tool, command_of(tool, argument))
        self._add_call(
            key,
            Step(
                index=len(self.steps),
                turn=self.turn,
                kind="call",
                actor="agent",
                tool=tool,
                head=head,
                text=argument,
                writes=writes(tool, head),
                started_at=at,
                span=span,
            ),
        )

    def answer(
        self,
        call_id: str,
        result: str,
        span: Span,
        *,
        failed: bool,
        error_type: str = "",
        error_text: str = "",
        at: str | None = None,
    ) -> bool:
        """Give a call its result, the longest waiting one where no id says which; False if there is none.

        The result is the text of a failure that has neither a type nor a text of its own.
        """
        closed = self.close_call(self._key(call_id))
        if closed is None:
            return False
        call = self._waiting_call(*closed)
        self._finish(
            msgspec.structs.replace(
                call,
                result=result,
                error=failed,
                error_text=error_text or (result if failed and not error_type else ""),
                error_type=error_type,
                error_span=span if failed else None,
                duration_ms=elapsed_ms(call.started_at, at),
            )
        )
        return True

    def _add_call(self, key: KeyT, call: Step) -> None:
        """Keep a call that waits for its result."""
        raise NotImplementedError

    def _waiting_call(self, key: KeyT, index: int) -> Step:
        """Give a call that was waiting, as it was added."""
        raise NotImplementedError

    def _finish(self, call: Step) -> None:
        """Put a call with its result in the place of the one that was waiting."""
        raise NotImplementedError


class Conversation(StepBuilder[Step, str]):
    """Keep the steps whole, with their texts, and the first prompt."""

    prompt: str = ""

    def _key(self, name: str | None) -> str:
        return name or ""

    def _add(self, step: Step) -> None:
        if step.actor == "user":
            self.prompt = self.prompt or step.text
        self.steps.append(step)

    def _add_call(self, key: str, call: Step) -> None:
        del key
        self.steps.append(call)

    def _waiting_call(self, key: str, index: int) -> Step:
        del key
        return self.steps[index]

    def _finish(self, call: Step) -> None:
        self.steps[call.index] = call


_time: Final = datetime.fromisoformat


def elapsed_ms(start: str | None, end: str | None) -> float | None:
    """Give the time between two RFC 3339 times, None where one of them is no time."""
    if not start or not end:
        return None
    try:
        return (_time(end) - _time(start)).total_seconds() * 1000
    except (ValueError, TypeError):  # not a time, or only one of the two names its zone
        return None
