"""Codex CLI rollouts: JSONL, one session a file; every line is a time, a type and a payload of that type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.logs.codex_output import Output, told
from strategies.logs.conversation import Conversation
from strategies.logs.episode import EndedBy, Episode, Malformed
from strategies.logs.json_places import UNREADABLE
from strategies.logs.jsonl import count_unknown, typed_lines
from strategies.logs.marks import CONTEXT_OVERFLOW, PERMISSION_DENIED, USER_INTERRUPT
from strategies.logs.skill_use import ran_under, skills_injected, skills_used

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.logs.episode import Span, Tally
    from strategies.logs.skill_use import SkillUse
    from strategies.logs.stream import LogFile

ROLLED_BACK: Final = "thread_rolled_back"
"""The user took back turns of the agent."""

_INJECTED: Final = (
    *("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<skill>"),
    *("<turn_aborted>", "<user_shell_command>", "<permissions instructions>", "<subagent_notification>"),
)
"""How text opens that Codex puts into the user's mouth."""

_SILENT: Final = frozenset(
    [
        *("reasoning", "ghost_snapshot", "other", "compaction"),
        # Events that repeat what a response item says, or say nothing of an action.
        *("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "token_count"),
        *("agent_reasoning_section_break", "task_started", "turn_started", "turn_diff", "context_compacted"),
        *("item_started", "item_completed", "exec_command_begin", "exec_command_end", "patch_apply_begin"),
        *("patch_apply_end", "mcp_tool_call_begin", "mcp_tool_call_end", "web_search_begin", "web_search_end"),
        *("entered_review_mode", "exited_review_mode", "view_image_tool_call", "plan_update", "background_event"),
        *("stream_error", "warning", "thread_name_updated", "deprecation_notice", "session_configured"),
    ]
)
"""Payload types that are known and hold no step."""

_SHELLS: Final = frozenset(["exec_command", "shell_command", "local_shell", "container.exec"])
"""The shell under the names of other versions: one action class, so that a claim outlives an update."""

_ENDED: Final = frozenset(["task_complete", "turn_complete"])
_DENIED: Final = ("rejected by user", "user rejected")


class _Line(msgspec.Struct):
    type: str
    payload: msgspec.Raw
    timestamp: str | None = None


class _Kind(msgspec.Struct):
    type: str = ""


class _Git(msgspec.Struct):
    branch: str | None = None


class _Meta(msgspec.Struct):
    id: str = ""
    cli_version: str | None = None
    git: _Git | None = None


class _Turn(msgspec.Struct):
    model: str | None = None


class _Text(msgspec.Struct):
    text: str | None = None


class _Message(msgspec.Struct):
    role: str
    content: list[_Text] = []


class _Call(msgspec.Struct):
    name: str = ""
    call_id: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"")
    input: str = ""
    action: msgspec.Raw = msgspec.Raw(b"")


class _Answer(msgspec.Struct):
    call_id: str = ""
    output: msgspec.Raw = msgspec.Raw(b'""')


class _Event(msgspec.Struct):
    reason: str | None = None
    message: str | None = None
    codex_error_info: str | dict[str, msgspec.Raw] | None = None


_STRING: Final = msgspec.json.Decoder(str)
_LINE: Final = msgspec.json.Decoder(_Line)
_KIND: Final = msgspec.json.Decoder(_Kind)
_META: Final = msgspec.json.Decoder(_Meta)
_TURN: Final = msgspec.json.Decoder(_Turn)
_MESSAGE: Final = msgspec.json.Decoder(_Message)
_CALL: Final = msgspec.json.Decoder(_Call)
_ANSWER: Final = msgspec.json.Decoder(_Answer)
_EVENT: Final = msgspec.json.Decoder(_Event)
_TYPES: Final = frozenset(["session_meta", "turn_context", "response_item", "event_msg", "compacted"])


class CodexReader:
    """Reads Codex rollouts."""

    name = "codex"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether a line has a payload of a type that Codex writes."""
        del source
        compact = head.replace(b" ", b"")
        return b'"payload":{' in compact and any(f'"type":"{kind}"'.encode() in compact for kind in _TYPES)

    def read(self, log: LogFile, tally: Tally) -> Iterator[Episode]:
        """Yield the session, once the file is read."""
        session = _Session()
        for line, span in typed_lines(log, _LINE, tally):
            if line.type not in _TYPES:
                count_unknown(tally, line.type)
                continue
            try:
                session.learn(line, span, tally)
            except UNREADABLE as error:
                tally.malformed.append(Malformed(log.source, span.line, span.byte_start, str(error)))
        if session.talk.steps:
            yield session.finished(log)


class _Session:
    """One session while its lines come."""

    def __init__(self) -> None:
        self.talk = Conversation()
        self._meta = _Meta()
        self._model = ""
        self._started_at: str | None = None
        self._ended_by: EndedBy = "unknown"
        self._group = 0
        self._skills: list[SkillUse] = []

    def learn(self, line: _Line, span: Span, tally: Tally) -> None:
        self._started_at = self._started_at or line.timestamp
        if line.type == "session_meta":
            # A session that goes on from another one repeats the meta line of that: the first is its own.
            self._meta = self._meta if self._meta.id else _META.decode(line.payload)
        elif line.type == "turn_context":
            self._model = self._model or _TURN.decode(line.payload).model or ""
        elif line.type == "compacted":
            self.talk.mark(CONTEXT_OVERFLOW, "environment", span, at=line.timestamp)
        else:
            kind = _KIND.decode(line.payload).type
            if line.type == "response_item":
                known = self._item(kind, line, span, tally)
            else:
                known = self._event(kind, line, span)
            if not known and kind not in _SILENT:
                count_unknown(tally, f"{line.type} {kind}")

    def _item(self, kind: str, line: _Line, span: Span, tally: Tally) -> bool:
        if kind == "message":
            self._said(_MESSAGE.decode(line.payload), span, line.timestamp)
        elif kind.endswith("_output"):
            self._answered(_ANSWER.decode(line.payload), line, span, tally)
        elif kind.endswith("_call"):
            self._called(kind, _CALL.decode(line.payload), span, line.timestamp)
        else:
            return False
        return True

    def _said(self, message: _Message, span: Span, at: str | None) -> None:
        text = "\n".join(part.text for part in message.content if part.text)
        if message.role == "assistant" and text:
            self.talk.say("agent", text, span, group=str(self._group), at=at)
            self._ended_by = "unknown" if self.talk.waiting else "agent"
        elif text.startswith(_INJECTED):
            self._skills.extend(skills_injected(text))
        elif message.role == "user" and text:
            self.talk.say("user", text, span, at=at)
            self._group += 1
            self._ended_by = "unknown"

    def _called(self, kind: str, call: _Call, span: Span, at: str | None) -> None:
        """Add a call: of a function, a custom tool, or one that the model's side offers (`web_search_call`)."""
        argument = _argument(call.arguments) or call.input or _argument(call.action)
        name = call.name or kind.removesuffix("_call")
        name = "shell" if name in _SHELLS else name
        call_id = call.call_id or f"line {span.line}"
        self.talk.call(call_id, name, argument, span, group=str(self._group), at=at)
        self._ended_by = "unknown"
        if not call.call_id:  # its answer goes to the model alone
            self.talk.answer(call_id, "", span, failed=False)

    def _answered(self, answer: _Answer, line: _Line, span: Span, tally: Tally) -> None:
        output: Output = told(answer.output)
        denied = output.failed and any(words in output.text for words in _DENIED)
        known = self.talk.answer(
            answer.call_id,
            output.text,
            span,
            failed=output.failed,
            error_type=PERMISSION_DENIED if denied else "",
            at=line.timestamp,
        )
        if not known:
            count_unknown(tally, "result without a call")
        self._group += 1
        self._ended_by = "unknown"

    def _event(self, kind: str, line: _Line, span: Span) -> bool:
        if kind in _ENDED:
            self._ended_by = "agent"
        elif kind == "turn_aborted":
            reason = _EVENT.decode(line.payload).reason
            self.talk.mark(USER_INTERRUPT if reason == "interrupted" else kind, "user", span, at=line.timestamp)
            self._ended_by = "environment"
        elif kind == ROLLED_BACK:
            self.talk.mark(ROLLED_BACK, "user", span, at=line.timestamp)
        elif kind == "error":
            self._failed(_EVENT.decode(line.payload), span, line.timestamp)
        else:
            return False
        return True

    def _failed(self, event: _Event, span: Span, at: str | None) -> None:
        """Note an error of the session itself; its type is a name, or an object of one key."""
        info = event.codex_error_info
        named = info if isinstance(info, str) else next(iter(info), "") if info else ""
        overflow = named == "context_window_exceeded"
        self.talk.mark(CONTEXT_OVERFLOW if overflow else named or "error", "environment", span, at=at)
        last = self.talk.steps[-1]
        self.talk.steps[-1] = msgspec.structs.replace(last, error=True, error_text=event.message or "")
        self._ended_by = "limit" if overflow else "environment"

    def finished(self, log: LogFile) -> Episode:
        labels = {
            "version": self._meta.cli_version or "",
            "branch": (self._meta.git and self._meta.git.branch) or "",
        }
        return Episode(
            id=self._meta.id or log.stem,
            source=log.source,
            format=CodexReader.name,
            run=self._model,
            labels={name: value for name, value in labels.items() if value},
            prompt=self.talk.prompt,
            started_at=self._started_at,
            ended_by=self._ended_by,
            skills=ran_under((), [*self._skills, *skills_used(self.talk.steps)]),
            steps=tuple(self.talk.steps),
        )


def _argument(raw: msgspec.Raw) -> str:
    written = bytes(raw)
    return _STRING.decode(written) if written.startswith(b'"') else written.decode(errors="replace")
