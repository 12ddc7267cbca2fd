"""What `claude -p --output-format stream-json` prints: one session as JSON Lines, its result record last.

The prompt is not echoed, and no times are given. What a sub-agent does comes between the records of its parent,
under the id of the call that started it, and is an episode of its own.
Source: src/claude_agent_sdk/_internal/message_parser.py of anthropics/claude-agent-sdk-python, 2026.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode_records import plain, plain_time
from strategies.episodes.skill_use import skills_injected
from strategies.episodes.step_marks import PERMISSION_DENIED, USER_INTERRUPT
from strategies.episodes.usage import NOTHING_SPENT, Amount, Usage, first_known, total, usage_of
from strategies.files.json_records import records_of
from strategies.files.log_records import NotObject, count_unknown, typed_records
from strategies.logs.formats.claude_schema import ClaudeMessage, ClaudeUsage, ContentBlock, text_of
from strategies.logs.formats.claude_session import DENIED, INTERRUPTED, LIMITS, LOCAL_COMMAND, TOOL_ERROR
from strategies.logs.formats.coding_agents.session import Session, first_objects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally, Span

_TYPES: Final = frozenset([b'"system"', b'"assistant"', b'"user"', b'"result"', b'"stream_event"'])
_INIT: Final = tuple(
    re.compile(rb'"%s"\s*:\s*"%s' % pair) for pair in ((b"subtype", b"init"), (b"session_id", b""))
)
"""What the first record holds, whose lists of tools may be longer than what is looked at."""

_SILENT: Final = frozenset(
    """
    stream_event rate_limit_event subagent_token_usage control_request control_response control_cancel_request
    keep_alive auth_status tool_progress tool_use_summary prompt_suggestion
    """.split()  # noqa: SIM905 - a list of these is ten lines
)
_LIMIT: Final = "error_max_"
"""How the subtypes of results begin that a limit ended: of turns, of money, of tries for structured output."""


class _Denial(msgspec.Struct):
    tool_use_id: str = ""


class _Record(msgspec.Struct, kw_only=True):
    """One line, or one element of what `--output-format json` prints."""

    type: str
    subtype: str | None = None
    session_id: str | None = None
    parent_tool_use_id: str | None = None
    timestamp: str | None = None
    message: ClaudeMessage | None = None
    error: str | None = None
    model: str | None = None
    claude_code_version: str | None = None
    is_synthetic: bool | None = msgspec.field(default=None, name="isSynthetic")
    is_error: bool | None = None
    result: str | None = None
    errors: list[str] | None = None
    terminal_reason: str | None = None
    permission_denials: list[_Denial] | None = None
    usage: ClaudeUsage | NotObject = None
    total_cost_usd: Amount = None
    duration_ms: Amount = None


_RECORD: Final = msgspec.json.Decoder(_Record)


class ClaudeStreamReader:
    """Reads what Claude Code prints of a run; several runs in one file are several sessions."""

    name = "claude-stream"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether one of the first records names its type and its session as the stream does."""
        del source
        return all(name.search(head) for name in _INIT) or any(
            {"type", "session_id"} <= record.keys()
            and bytes(record["type"]) in _TYPES
            and not record.keys().isdisjoint({"message", "subtype", "event"})
            for record in first_objects(head)
        )

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the sessions in the order of their first record, each before its sub-agents."""
        sessions = dict[str, _StreamSession]()
        current = ""
        for record, span in typed_records(records_of(log, tally), _RECORD.decode, log.source, tally):
            current = record.session_id or current
            name = f"{current}/{record.parent_tool_use_id}" if record.parent_tool_use_id else current
            session = sessions.setdefault(name, _StreamSession(log, tally, name=name, parent=current))
            session.learn(record, span)
            for denial in record.permission_denials or ():
                for other in sessions.values():
                    other.deny(denial.tool_use_id)
        for session in sessions.values():
            yield from session.episodes(self.name)


class _StreamSession(Session):
    """A session, or a sub-agent, while its records come."""

    def __init__(self, log: LogFile, tally: ReadTally, *, name: str, parent: str) -> None:
        super().__init__(log, tally)
        self.name = plain(name)
        self.delegated = name != parent
        self.labels = {"parent": plain(parent)} if self.delegated else {}
        self._spoken = ""
        self._calls: dict[str, int] = {}
        self._used: dict[str, Usage] = {}

    def learn(self, record: _Record, span: Span) -> None:
        at = plain_time(record.timestamp)
        if record.type == "assistant" and record.message:
            self._learn_agent(record, record.message, span, at)
        elif record.type == "user" and record.message:
            self._learn_user(record, record.message, span, at)
        elif record.type == "result":
            self._learn_end(record, span, at)
        elif record.type == "system":
            self._learn_system(record, span, at)
        elif record.type not in _SILENT:
            count_unknown(self.tally, record.type)

    def deny(self, call_id: str) -> None:
        """Learn that a call was not permitted, which the result record tells again at the end."""
        index = self._calls.get(call_id)
        if index is not None:
            steps = self.conversation.steps
            steps[index] = msgspec.structs.replace(
                steps[index], error=True, error_text="", error_type=PERMISSION_DENIED
            )

    def _learn_agent(self, record: _Record, message: ClaudeMessage, span: Span, at: str | None) -> None:
        if message.model and not message.model.startswith("<"):
            self.model = self.model or plain(message.model)
        blocks = _blocks(message)
        group = message.id or f"line {span.line}"
        if isinstance(message.usage, ClaudeUsage):
            self._used[group] = _usage(message.usage, model=self.model)  # every block of a message repeats it
            self.spent = list(self._used.values())
        if record.error:
            text = "\n".join(block.text for block in blocks if block.text)
            self._fail(record.error, text, span, at)
            return
        for block in blocks:
            if block.type == "tool_use":
                call_id = block.id or f"{group} {len(self._calls)}"
                self._calls[call_id] = len(self.conversation.steps)
                argument = bytes(block.input).decode(errors="replace")
                self.call(call_id, block.name or "", argument, span, group=group, at=at)
            elif block.type == "text" and block.text:
                self._spoken = block.text
                self.say(block.text, span, group=group, at=at)
        if message.stop_reason in LIMITS:
            self.ended_by = "limit"

    def _learn_user(self, record: _Record, message: ClaudeMessage, span: Span, at: str | None) -> None:
        for block in _blocks(message):
            text = block.text or ""
            if block.type == "tool_result":
                self._learn_result(block, span, at)
            elif text.startswith(INTERRUPTED):
                self.conversation.mark(USER_INTERRUPT, "user", span, at=at)
                self.ended_by = "environment"
            elif record.is_synthetic or next(skills_injected(text), None):
                self.injected += skills_injected(text)
            elif not text.startswith(LOCAL_COMMAND):
                (self.delegate if self.delegated else self.ask)(text, span, at=at)

    def _learn_result(self, block: ContentBlock, span: Span, at: str | None) -> None:
        text = text_of(block.content)
        denied, interrupted = text.startswith(DENIED), text.startswith(INTERRUPTED)
        failed = bool(block.is_error) or text.startswith(TOOL_ERROR) or interrupted
        if not self.answer(block.tool_use_id or "", text, span, failed=failed, denied=denied, at=at):
            count_unknown(self.tally, "result without a call")

    def _learn_system(self, record: _Record, span: Span, at: str | None) -> None:
        if record.subtype == "init":
            self.model = self.model or plain(record.model or "")
            self.labels["version"] = plain(record.claude_code_version or "")
            self.started_at = self.started_at or at
        elif record.subtype == "compact_boundary":
            self.overflow(span, at=at)

    def _learn_end(self, record: _Record, span: Span, at: str | None) -> None:
        """Learn how the run ended; its last message is repeated there, and may be there alone."""
        used = record.usage if isinstance(record.usage, ClaudeUsage) else ClaudeUsage()
        time = record.duration_ms if isinstance(record.duration_ms, (int, float)) else None
        whole = _usage(used, cost=record.total_cost_usd, duration_ms=time)
        self.spent = [first_known(whole, total(self._used.values()) or NOTHING_SPENT)]
        subtype, result = record.subtype or "", record.result or "\n".join(record.errors or ())
        if (record.terminal_reason or "").startswith("aborted_"):
            self.conversation.mark(USER_INTERRUPT, "user", span, at=at)
            self.ended_by = "environment"
        elif subtype.startswith(_LIMIT):
            self.ended_by = "limit"
        elif record.is_error or subtype.startswith("error"):
            if not (
                self.conversation.steps and self.conversation.steps[-1].error_type and result == self._failure
            ):
                self._fail(subtype if subtype.startswith("error") else "error", result, span, at)
            self.ended_by = "environment"
        else:
            if result.strip() and result.strip() != self._spoken.strip():
                self.say(result, span, group="", at=at)
            if self.ended_by != "limit":
                self.ended_by = "agent"

    _failure: str = ""

    def _fail(self, error_type: str, error_text: str, span: Span, at: str | None) -> None:
        self._failure = error_text
        self.conversation.mark(error_type, "environment", span, at=at, failed=True, error_text=error_text)
        self.ended_by = "environment"


def _usage(used: ClaudeUsage, *, model: str = "", cost: Amount = None, duration_ms: float | None = None) -> Usage:
    cached = used.cache_read_input_tokens
    return usage_of(
        used.input_tokens,
        used.output_tokens,
        cached,
        beside=(used.cache_creation_input_tokens, cached),
        cost=cost,
        duration_ms=duration_ms,
        model=model,
    )


def _blocks(message: ClaudeMessage) -> list[ContentBlock]:
    content = message.content
    return [ContentBlock(type="text", text=content)] if isinstance(content, str) else content
