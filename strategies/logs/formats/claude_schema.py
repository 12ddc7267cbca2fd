"""The shape of Claude Code's records: only what is needed is decoded, and what is only hashed stays raw."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.usage import Amount
from strategies.files.log_records import UNREADABLE, NotObject

if TYPE_CHECKING:
    from collections.abc import Sequence

NOTHING: Final = msgspec.Raw(b"null")


class ContentBlock(msgspec.Struct, gc=False, kw_only=True):
    """A piece of a message: text, a call, or what a call gave back; thinking and images are passed over.

    Here and below fields are in the order in which Claude Code writes them, so that they are found sooner.
    """

    tool_use_id: str | None = None
    type: str
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    text: str | None = None
    content: msgspec.Raw = NOTHING
    is_error: bool | None = None


class ClaudeUsage(msgspec.Struct, gc=False):
    """The tokens of one message: those written to a cache and read from it are not among the input."""

    input_tokens: Amount = None
    cache_creation_input_tokens: Amount = None
    cache_read_input_tokens: Amount = None
    output_tokens: Amount = None


class ClaudeMessage(msgspec.Struct, gc=False):
    """A message of an agent or a user."""

    model: str | None = None
    id: str | None = None
    content: str | list[ContentBlock] = ""
    stop_reason: str | None = None
    usage: ClaudeUsage | NotObject = None


class ToolUseResult(msgspec.Struct, gc=False):
    """The copy of a result beside it: most of it repeats the result."""

    interrupted: object = None


class ClaudeRecord(msgspec.Struct, rename="camel", gc=False, kw_only=True):
    """One line. `parent_uuid` is None for a record that is marked as the first, UNSET where the key is missing."""

    parent_uuid: str | msgspec.UnsetType | None = msgspec.UNSET
    is_sidechain: bool | None = None
    session_id: str = ""
    type: str
    message: ClaudeMessage | None = None
    tool_use_result: ToolUseResult | NotObject = None
    timestamp: str | None = None
    subtype: str | None = None
    is_meta: bool | None = None
    is_compact_summary: bool | None = None
    forked_from: msgspec.Raw | None = None
    cost: Amount = msgspec.field(default=None, name="costUSD")


class RecordOrigin(msgspec.Struct, rename="camel"):
    """Where a record belongs: asked for only where a session begins, or a sub-agent speaks."""

    uuid: str | None = None
    parent_uuid: str | None = None
    agent_id: str | None = None
    version: str | None = None
    git_branch: str | None = None


class _Said(msgspec.Struct, gc=False):
    text: str | None = None


RECORD: Final = msgspec.json.Decoder(ClaudeRecord)
ORIGIN: Final = msgspec.json.Decoder(RecordOrigin)
_CONTENT: Final = msgspec.json.Decoder(str | list[_Said] | None)


def text_of(content: msgspec.Raw) -> str:
    """Give the text of a result, "" where it has another shape."""
    try:
        decoded = _CONTENT.decode(content)
    except UNREADABLE:
        return ""
    if isinstance(decoded, str):
        return decoded
    return "\n".join(block.text for block in decoded or () if block.text)


def interrupted(record: ClaudeRecord) -> bool:
    """Tell whether the copy beside a result says that the user stopped the call."""
    beside = record.tool_use_result
    return type(beside) is ToolUseResult and beside.interrupted is True


def argument_in(raw: bytes, call_id: str) -> bytes:
    """Give the argument of a call, from the line that it is on; b"" where that has changed."""
    return next((bytes(block.input) for block in _blocks_in(raw) if block.id == call_id), b"")


class ClaudeRecordTexts:
    """Reads texts out of lines of a session."""

    def message_in(self, raw: bytes) -> str:
        """Give the last message of the agent in a line."""
        texts = (block.text for block in reversed(_blocks_in(raw)) if block.type == "text" and block.text)
        return next(texts, "")

    def calls_in(self, raw: bytes) -> Sequence[tuple[str, str]]:
        """Give the calls in a line."""
        calls = (block for block in _blocks_in(raw) if block.type == "tool_use")
        return [(call.id or "", bytes(call.input).decode(errors="replace")) for call in calls]

    def answers_in(self, raw: bytes) -> Sequence[tuple[str, str]]:
        """Give what calls gave back in a line."""
        results = (block for block in _blocks_in(raw) if block.type == "tool_result")
        return [(result.tool_use_id or "", text_of(result.content)) for result in results]


def _blocks_in(raw: bytes) -> list[ContentBlock]:
    try:
        message = RECORD.decode(raw).message
    except UNREADABLE:
        return []
    content = message.content if message else ""
    return [ContentBlock(type="text", text=content)] if isinstance(content, str) else content
