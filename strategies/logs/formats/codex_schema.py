"""The shape of Codex's lines: only what is needed is decoded, and what a tool gave back in several versions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
import re2

from strategies.episodes.error_fingerprint import looks_failed
from strategies.episodes.usage import Amount
from strategies.files.log_records import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Sequence


class CodexLine(msgspec.Struct):
    """One line: a time, a type, and a payload of that type; in 2025 at first the payload alone."""

    type: str = ""
    payload: msgspec.Raw = msgspec.Raw(b"")
    timestamp: str | None = None
    id: str = ""


class CodexPayloadKind(msgspec.Struct):
    """The type of a payload."""

    type: str = ""


class CodexGit(msgspec.Struct):
    """Where a session was begun."""

    branch: str | None = None


class CodexSessionMeta(msgspec.Struct):
    """What opens a session."""

    id: str = ""
    cli_version: str | None = None
    git: CodexGit | None = None


class CodexTurn(msgspec.Struct):
    """What a turn runs with."""

    model: str | None = None


class CodexText(msgspec.Struct):
    """A piece of a message."""

    text: str | None = None


class CodexMessage(msgspec.Struct):
    """A message of the agent, the user or the harness."""

    role: str
    content: list[CodexText] = []

    @property
    def text(self) -> str:
        """All its pieces."""
        return "\n".join(part.text for part in self.content if part.text)


class CodexCall(msgspec.Struct):
    """A call of a function, of a custom tool, or of one that the model's side offers (`web_search_call`)."""

    name: str = ""
    call_id: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"")
    input: str = ""
    action: msgspec.Raw = msgspec.Raw(b"")

    @property
    def argument(self) -> str:
        """What it was called with; raises one of UNREADABLE where that is no text."""
        return _argument(self.arguments) or self.input or _argument(self.action)


class CodexAnswer(msgspec.Struct):
    """What a call gave back."""

    call_id: str = ""
    output: msgspec.Raw = msgspec.Raw(b'""')


class CodexEvent(msgspec.Struct):
    """What happened to the session."""

    reason: str | None = None
    message: str | None = None
    codex_error_info: str | dict[str, msgspec.Raw] | None = None

    @property
    def named(self) -> str:
        """The name of an error: it is one, or the first key of an object."""
        info = self.codex_error_info
        return info if isinstance(info, str) else next(iter(info), "") if info else ""


class CodexTokens(msgspec.Struct):
    """Tokens of a session so far; those from a cache are among the input."""

    input_tokens: Amount = None
    cached_input_tokens: Amount = None
    output_tokens: Amount = None


class CodexTokenInfo(msgspec.Struct):
    """What an event tells of tokens."""

    total_token_usage: CodexTokens | None = None


class CodexTokenCount(msgspec.Struct):
    """An event that tells of tokens."""

    info: CodexTokenInfo | None = None


class _LineDecoder:
    """Decodes a line of any version; raises one of UNREADABLE."""

    _decoder: Final = msgspec.json.Decoder(CodexLine)

    def decode(self, raw: bytes) -> CodexLine:
        line = self._decoder.decode(raw)
        if not bytes(line.payload):
            bare = "response_item" if line.type else "session_meta" if line.id else BARE_STATE
            return CodexLine(type=bare, payload=msgspec.Raw(raw), timestamp=line.timestamp)
        return line


BARE_STATE: Final = "state"
"""A line of the first version that only says how far the session was written."""

LINE: Final = _LineDecoder()
KIND: Final = msgspec.json.Decoder(CodexPayloadKind)
META: Final = msgspec.json.Decoder(CodexSessionMeta)
TURN: Final = msgspec.json.Decoder(CodexTurn)
MESSAGE: Final = msgspec.json.Decoder(CodexMessage)
CALL: Final = msgspec.json.Decoder(CodexCall)
ANSWER: Final = msgspec.json.Decoder(CodexAnswer)
EVENT: Final = msgspec.json.Decoder(CodexEvent)
TOKENS: Final = msgspec.json.Decoder(CodexTokenCount)
_STRING: Final = msgspec.json.Decoder(str)


def _argument(raw: msgspec.Raw) -> str:
    written = bytes(raw)
    return _STRING.decode(written) if written.startswith(b'"') else written.decode(errors="replace")


_EXIT: Final = re2.compile(r"(?m)^(?:Process exited with code|Exit code:) (-?\d+)$")
_OUTPUT: Final = "Output:\n"
_HEAD_CHARS: Final = 400
"""The lines that Codex puts before the output itself (wall time, exit code, size) are within these."""

_REFUSED: Final = (
    *("apply_patch verification failed", "failed to parse function arguments", "unsupported call: "),
    *("execution error: ", "unsupported custom tool call: ", "exec command rejected", "patch rejected"),
)
"""How an answer opens when the call never reached its tool."""


class CodexOutput(NamedTuple):
    """The text of an answer, and whether the call failed."""

    text: str
    failed: bool


class _Metadata(msgspec.Struct):
    exit_code: int | None = None


class _Text(msgspec.Struct):
    text: str | None = None


class _Body(msgspec.Struct):
    output: str | None = None
    content: str | list[_Text] | None = None
    metadata: _Metadata | None = None
    success: bool | None = None


_ANY: Final = msgspec.json.Decoder(str | list[_Text] | _Body)
_BODY: Final = msgspec.json.Decoder(_Body)


def tool_output_of(raw: msgspec.Raw | bytes) -> CodexOutput:
    """Give what an answer tells; raises one of UNREADABLE for a shape that no version writes."""
    output = _ANY.decode(raw)
    if isinstance(output, str):
        return _of_text(output)
    if isinstance(output, list):
        return _of_text("\n".join(part.text for part in output if part.text))
    return _of_body(output)


def _of_text(text: str) -> CodexOutput:
    if text.startswith("{"):
        try:
            body = _BODY.decode(text)
        except UNREADABLE:
            body = _Body()
        if body.metadata:
            return _of_body(body)
    head = text[:_HEAD_CHARS]
    code = _EXIT.search(head)
    if code:
        _, marker, rest = text.partition(_OUTPUT)
        return CodexOutput(rest if marker else text, code[1] != "0")
    return CodexOutput(text, text.startswith(_REFUSED) or looks_failed(text))


def _of_body(body: _Body) -> CodexOutput:
    content = body.content or ""
    text = content if isinstance(content, str) else "\n".join(part.text for part in content if part.text)
    text = body.output or text
    if body.metadata and body.metadata.exit_code is not None:
        return CodexOutput(text, body.metadata.exit_code != 0)
    return CodexOutput(text, looks_failed(text) if body.success is None else not body.success)


class CodexRecordTexts:
    """Reads lines of a rollout."""

    def message_in(self, raw: bytes) -> str:
        """Give the message on a line."""
        try:
            kind, payload = _item(raw)
            return MESSAGE.decode(payload).text if kind == "message" else ""
        except UNREADABLE:
            return ""

    def calls_in(self, raw: bytes) -> Sequence[tuple[str, str]]:
        """Give the call on a line."""
        try:
            kind, payload = _item(raw)
            calls = [CALL.decode(payload)] if kind.endswith("_call") else []
            return [(call.call_id or "", call.argument) for call in calls]
        except UNREADABLE:
            return []

    def answers_in(self, raw: bytes) -> Sequence[tuple[str, str]]:
        """Give what the call that is answered on a line gave back."""
        try:
            kind, payload = _item(raw)
            answers = [ANSWER.decode(payload)] if kind.endswith("_output") else []
            return [(answer.call_id, tool_output_of(answer.output).text) for answer in answers]
        except UNREADABLE:
            return []


def _item(raw: bytes) -> tuple[str, msgspec.Raw]:
    line = LINE.decode(raw)
    return (KIND.decode(line.payload).type if line.type == "response_item" else ""), line.payload
