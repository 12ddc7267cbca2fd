"""Gemini CLI: one session a file, JSONL with updates and rewinds, or one JSON document in older versions.

Source: packages/core/src/services/chatRecordingTypes.ts of gemini-cli, 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import re2

from events.errors import UnreadableLogError
from strategies.episodes.episode_records import plain, plain_time
from strategies.episodes.usage import Amount, tokens, usage_of
from strategies.files.json_offsets import document_of
from strategies.files.json_records import is_document, lines_of
from strategies.files.log_file import CHUNK_BYTES
from strategies.files.log_records import UNREADABLE, NotObject, Span, count_unknown
from strategies.logs.formats.coding_agents.session import (
    Session,
    TextPart,
    first_objects,
    raw_text,
    text_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Json, ReadTally

_INJECTED: Final = re2.compile(r"\s*(?:/[\w:.-]*(?:\s|$)|\?|<session_context>|<hook_context>)")
"""How text opens that is a command of the terminal, no path, or that Gemini puts into the person's mouth."""

_NAMES: Final = (b'"sessionId"', b'"projectHash"')
_SILENT: Final = frozenset(["info", "warning"])
_SKILL_TOOL: Final = "activate_skill"
_SHELL: Final = "run_shell_command"


class _FunctionResponse(msgspec.Struct):
    response: dict[str, msgspec.Raw] = {}


class _ResultPart(TextPart):
    functionResponse: _FunctionResponse | None = None  # noqa: N815 - the field of the log


class _ToolCall(msgspec.Struct):
    name: str
    id: str = ""
    args: msgspec.Raw = msgspec.Raw(b"{}")
    result: str | list[_ResultPart | str] | _ResultPart | None = None
    status: str = ""
    timestamp: str | None = None


_EXIT: Final = re2.compile(r"(?m)^Exit Code: -?[1-9]\d*$")
"""How a command that failed is noted, in a call whose status is a success."""


class _Tokens(msgspec.Struct):
    """Tokens of a message; those from a cache are among the input, thoughts are not among the output."""

    input: Amount = None
    output: Amount = None
    cached: Amount = None
    thoughts: Amount = None
    tool: Amount = None


class _Message(msgspec.Struct, rename="camel"):
    id: str = ""
    type: str = ""
    timestamp: str | None = None
    content: str | list[TextPart | str] | TextPart | None = None
    tool_calls: list[_ToolCall] | None = None
    model: str | None = None
    tokens: _Tokens | NotObject = None


class _About(msgspec.Struct, rename="camel"):
    session_id: str = ""
    start_time: str | None = None
    kind: str | None = None


class _Change(msgspec.Struct):
    """A line that changes what came before."""

    set: dict[str, msgspec.Raw] | None = msgspec.field(default=None, name="$set")
    rewind_to: str | None = msgspec.field(default=None, name="$rewindTo")


class _SkillArguments(msgspec.Struct):
    name: str = ""


_MESSAGE: Final = msgspec.json.Decoder(_Message)
_MESSAGES: Final = msgspec.json.Decoder(list[_Message])
_ABOUT: Final = msgspec.json.Decoder(_About)
_CHANGE: Final = msgspec.json.Decoder(_Change)
_SKILL: Final = msgspec.json.Decoder(_SkillArguments)


class GeminiCliReader:
    """Reads the sessions of Gemini CLI."""

    name = "gemini-cli"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the first record, or the document, names a session and the hash of its project."""
        del source
        if not all(name in head for name in _NAMES):
            return False
        document = head.lstrip()[:1] == b"{" and b'"messages"' in head
        return document or any({"sessionId", "projectHash"} <= record.keys() for record in first_objects(head))

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the one session, once the file is read: a later line may take back earlier ones."""
        session = _GeminiSession(log, tally)
        if (
            is_document(log)
            and b'"messages"' in log.opening(CHUNK_BYTES)
            and not log.head().lstrip().startswith(b"[")
        ):
            _learn_document(session, log)
        else:
            session.learn_each(lines_of(log, tally), session.learn_line)
        session.settle()
        yield from session.episodes(self.name)


def _learn_document(session: _GeminiSession, log: LogFile) -> None:
    document = document_of(log)
    try:
        members = document.members(document.root)
        session.learn_about(_ABOUT.decode(document.root.raw))
        parts = list(document.elements(members["messages"]))
    except (*UNREADABLE, KeyError) as error:
        raise UnreadableLogError(
            f"{log.source}: not a session of Gemini CLI ({error})", hint="one object with `messages` is expected"
        ) from error
    session.learn_each(((part.raw, document.span(part)) for part in parts), session.learn_message)


class _GeminiSession(Session):
    """Messages by their ids: one that is written again takes the place of the earlier one."""

    def __init__(self, log: LogFile, tally: ReadTally) -> None:
        super().__init__(log, tally)
        self._messages: dict[str, tuple[_Message, Span]] = {}

    def learn_line(self, raw: Json, span: Span) -> None:
        change = _CHANGE.decode(raw)
        if change.rewind_to is not None:
            self._rewind(change.rewind_to)
        elif change.set is not None:
            if "messages" in change.set:
                messages = _MESSAGES.decode(change.set["messages"])
                self._messages = {message.id: (message, span) for message in messages}
        else:
            about = _ABOUT.decode(raw)
            if about.session_id:
                self.learn_about(about)
            else:
                self.learn_message(raw, span)

    def learn_about(self, about: _About) -> None:
        self.name = self.name or plain(about.session_id)
        self.started_at = self.started_at or plain_time(about.start_time)
        if about.kind == "subagent":
            self.labels["agent"] = about.kind

    def learn_message(self, raw: Json, span: Span) -> None:
        message = _MESSAGE.decode(raw)
        self._messages[message.id or f"line {span.line}"] = (message, span)

    def _rewind(self, to: str) -> None:
        names = list(self._messages)
        for name in names[names.index(to) if to in names else 0 :]:
            del self._messages[name]

    def settle(self) -> None:
        """Take the messages that stand at the end for what happened."""
        for message, span in self._messages.values():
            at = plain_time(message.timestamp)
            text = text_in(message.content)
            if message.type == "gemini":
                self._learn_turn(message, text, span, at)
            elif message.type == "user":
                if not _INJECTED.match(text):
                    self.ask(text, span, at=at)
            elif message.type == "error":
                self.conversation.mark("error", "environment", span, at=at, failed=True, error_text=text)
                self.ended_by = "environment"
            elif message.type not in _SILENT:
                count_unknown(self.tally, message.type)

    def _learn_turn(self, message: _Message, text: str, span: Span, at: str | None) -> None:
        model = plain(message.model or "")
        self.model = self.model or model
        given = message.tokens if isinstance(message.tokens, _Tokens) else _Tokens()
        wrote = [count for count in map(tokens, (given.output, given.thoughts)) if count is not None]
        self.spent.append(
            usage_of(given.input, sum(wrote) if wrote else None, given.cached, beside=(given.tool,), model=model)
        )
        group = message.id or f"line {span.line}"
        self.say(text, span, group=group, at=at)
        for number, call in enumerate(message.tool_calls or ()):
            call_id = call.id or f"{group} {number}"
            tool = "shell" if call.name == _SHELL else call.name
            self.call(call_id, tool, raw_text(call.args), span, group=group, at=at)
            if call.name == _SKILL_TOOL:
                self.skills.append(plain(_SKILL.decode(call.args).name))
            if call.result is not None or call.status in {"success", "error", "cancelled"}:
                text = _result_text(call.result)
                self.answer(
                    call_id,
                    text,
                    span,
                    failed=call.status == "error" or (tool == "shell" and _EXIT.search(text) is not None),
                    denied=call.status == "cancelled",
                    at=plain_time(call.timestamp),
                )


def _result_text(result: str | list[_ResultPart | str] | _ResultPart | None) -> str:
    if result is None or isinstance(result, str):
        return result or ""
    parts = result if isinstance(result, list) else [result]
    texts = (part if isinstance(part, str) else part.text or _response_text(part) for part in parts)
    return "\n".join(text for text in texts if text)


def _response_text(part: _ResultPart) -> str:
    given = part.functionResponse.response if part.functionResponse else {}
    return raw_text(next((given[name] for name in ("error", "output") if name in given), b""))
