"""Claude Code session files: JSONL, one or more sessions a file, sub-agents as episodes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.logs.conversation import Conversation
from strategies.logs.episode import EndedBy, Episode
from strategies.logs.json_places import UNREADABLE
from strategies.logs.jsonl import count_unknown, typed_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.logs.episode import Span, Tally
    from strategies.logs.stream import LogFile

USER_INTERRUPT: Final = "user_interrupt"
PERMISSION_DENIED: Final = "permission_denied"
CONTEXT_OVERFLOW: Final = "context_overflow"
"""The types of what happens to an agent from outside, as templates of the steps that show it."""

_INTERRUPTED: Final = "[Request interrupted by user"
_DENIED: Final = "The user doesn't want to proceed with this tool use"
_TOOL_ERROR: Final = "<tool_use_error>"
_LOCAL_COMMAND: Final = ("<command-", "<local-command-", "Caveat: The messages below")
_SILENT: Final = frozenset(
    ["summary", "file-history-snapshot", "queue-operation", "attachment", "progress", "custom-title"]
)
"""Record types that are known and hold no step."""
_NOTHING: Final = msgspec.Raw(b"null")


class _Block(msgspec.Struct):
    type: str
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = _NOTHING
    tool_use_id: str | None = None
    content: str | list[_Block] | None = None
    is_error: bool | None = None


class _Message(msgspec.Struct):
    content: str | list[_Block] = ""
    id: str | None = None
    model: str | None = None
    stop_reason: str | None = None


class _Record(msgspec.Struct, rename="camel"):
    type: str
    session_id: str = ""
    uuid: str | None = None
    parent_uuid: str | None = None
    agent_id: str | None = None
    timestamp: str | None = None
    subtype: str | None = None
    version: str | None = None
    git_branch: str | None = None
    is_sidechain: bool | None = None
    is_meta: bool | None = None
    message: _Message | None = None
    tool_use_result: msgspec.Raw = _NOTHING


class _ToolUseResult(msgspec.Struct):
    interrupted: msgspec.Raw = _NOTHING


_RECORD: Final = msgspec.json.Decoder(_Record)
_TOOL_USE_RESULT: Final = msgspec.json.Decoder(_ToolUseResult)


class ClaudeCodeReader:
    """Reads Claude Code sessions; a sidechain is an episode named after the session and its first record."""

    name = "claude-code"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether records name a session; inside a string the quotes would be escaped."""
        del source
        return b'"type"' in head and (b'"sessionId"' in head or b'"leafUuid"' in head)

    def read(self, log: LogFile, tally: Tally) -> Iterator[Episode]:
        """Yield the sessions in the order of their first record, once the file is read."""
        sessions: dict[str, _Session] = {}
        chains: dict[str, str] = {}
        for record, span in typed_lines(log, _RECORD, tally):
            if record.type not in {"user", "assistant", "system"}:
                if record.type not in _SILENT:
                    count_unknown(tally, record.type)
                continue
            name = _episode_name(record, chains)
            if name not in sessions:
                sessions[name] = _Session(name, log.source, record)
            sessions[name].learn(record, span, tally)
        for session in sessions.values():
            if session.talk.steps:
                yield session.finished()


def _episode_name(record: _Record, chains: dict[str, str]) -> str:
    """Give the session, and for a sidechain the sub-agent: its id, else the first record of its chain."""
    if not record.is_sidechain:
        return record.session_id
    root = record.agent_id or chains.get(record.parent_uuid or "") or record.uuid or ""
    if record.uuid:
        chains[record.uuid] = root
    return f"{record.session_id}/{root}"


class _Session:
    """One session while its records come."""

    def __init__(self, name: str, source: str, first: _Record) -> None:
        self.name = name
        self.source = source
        self.started_at = first.timestamp
        self.labels = {"version": first.version or "", "branch": first.git_branch or ""}
        self.model = ""
        self.ended_by: EndedBy = "unknown"
        self.talk = Conversation()

    def learn(self, record: _Record, span: Span, tally: Tally) -> None:
        if record.type == "system":
            if record.subtype == "compact_boundary":
                self.talk.mark(CONTEXT_OVERFLOW, "environment", span, at=record.timestamp)
        elif record.message is None:
            count_unknown(tally, f"{record.type} without a message")
        elif record.type == "assistant":
            self._assistant(record, record.message, span)
        else:
            self._user(record, record.message, span, tally)

    def _assistant(self, record: _Record, message: _Message, span: Span) -> None:
        if message.model and not message.model.startswith("<"):
            self.model = self.model or message.model
        group = message.id or record.uuid
        calls = False
        for block in _blocks(message):
            if block.type == "text" and block.text:
                self.talk.say("agent", block.text, span, group=group, at=record.timestamp)
            elif block.type == "tool_use":
                argument = bytes(block.input).decode(errors="replace")
                self.talk.call(block.id or "", block.name or "", argument, span, group=group, at=record.timestamp)
                calls = True
        limited = message.stop_reason in {"max_tokens", "model_context_window_exceeded"}
        self.ended_by = "limit" if limited else "unknown" if calls or self.talk.waiting else "agent"

    def _user(self, record: _Record, message: _Message, span: Span, tally: Tally) -> None:
        for block in _blocks(message):
            if block.type == "tool_result":
                self._answer(record, block, span, tally)
            elif block.type == "text" and block.text:
                self._said(record, block.text, span)

    def _said(self, record: _Record, text: str, span: Span) -> None:
        if text.startswith(_INTERRUPTED):
            self.talk.mark(USER_INTERRUPT, "user", span, at=record.timestamp)
            self.ended_by = "environment"
        elif not record.is_meta and not text.startswith(_LOCAL_COMMAND):
            self.talk.say("user", text, span, at=record.timestamp)
            self.ended_by = "unknown"

    def _answer(self, record: _Record, block: _Block, span: Span, tally: Tally) -> None:
        text = _text(block.content)
        error_type = ""
        if text.startswith(_DENIED):
            error_type = PERMISSION_DENIED
        elif text.startswith(_INTERRUPTED) or _interrupted(record.tool_use_result):
            error_type = USER_INTERRUPT
        failed = bool(block.is_error) or text.startswith(_TOOL_ERROR) or bool(error_type)
        known = self.talk.answer(
            block.tool_use_id or "", text, span, failed=failed, error_type=error_type, at=record.timestamp
        )
        if not known:
            count_unknown(tally, "result without a call")
        self.ended_by = "unknown"

    def finished(self) -> Episode:
        return Episode(
            id=self.name,
            source=self.source,
            format=ClaudeCodeReader.name,
            run=self.model,
            labels={name: value for name, value in self.labels.items() if value},
            prompt=self.talk.prompt,
            started_at=self.started_at,
            ended_by=self.ended_by,
            steps=tuple(self.talk.steps),
        )


def _blocks(message: _Message) -> list[_Block]:
    content = message.content
    return [_Block(type="text", text=content)] if isinstance(content, str) else content


def _text(content: str | list[_Block] | None) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content or () if block.text)


def _interrupted(result: msgspec.Raw) -> bool:
    if not bytes(result).startswith(b"{"):
        return False
    try:
        return bytes(_TOOL_USE_RESULT.decode(result).interrupted) == b"true"
    except UNREADABLE:
        return False
