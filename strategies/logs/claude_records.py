"""The shape of Claude Code's records: only what is needed is decoded, and what is only hashed stays raw."""

from __future__ import annotations

from typing import Final

import msgspec

from strategies.logs.json_places import UNREADABLE

NOTHING: Final = msgspec.Raw(b"null")


class Block(msgspec.Struct, gc=False, kw_only=True):
    """A piece of a message: text, a call, or what a call gave back; thinking and images are passed over.

    Here and below fields stand in the order in which Claude Code writes them: so they are found sooner.
    """

    tool_use_id: str | None = None
    type: str
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    text: str | None = None
    content: msgspec.Raw = NOTHING
    is_error: bool | None = None


class Message(msgspec.Struct, gc=False):
    """What an agent or a user said."""

    model: str | None = None
    id: str | None = None
    content: str | list[Block] = ""
    stop_reason: str | None = None


class ToolUseResult(msgspec.Struct, gc=False):
    """What stands beside a result: most of it says the same again."""

    interrupted: object = None


class Record(msgspec.Struct, rename="camel", gc=False, kw_only=True):
    """One line."""

    is_sidechain: bool | None = None
    session_id: str = ""
    type: str
    message: Message | None = None
    tool_use_result: ToolUseResult | str | int | float | bool | list[msgspec.Raw] | None = None
    timestamp: str | None = None
    subtype: str | None = None
    is_meta: bool | None = None


class Origin(msgspec.Struct, rename="camel"):
    """Where a record belongs: asked for only where a session begins, or a sub-agent speaks."""

    uuid: str | None = None
    parent_uuid: str | None = None
    agent_id: str | None = None
    version: str | None = None
    git_branch: str | None = None


class _Said(msgspec.Struct, gc=False):
    text: str | None = None


RECORD: Final = msgspec.json.Decoder(Record)
ORIGIN: Final = msgspec.json.Decoder(Origin)
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


def interrupted(record: Record) -> bool:
    """Tell whether what stands beside a result says that the user stopped the call."""
    beside = record.tool_use_result
    return type(beside) is ToolUseResult and beside.interrupted is True


def argument_in(raw: bytes, call_id: str) -> bytes:
    """Give the argument of a call, from the line that it stands in; b"" where that has changed."""
    try:
        message = RECORD.decode(raw).message
    except UNREADABLE:
        return b""
    blocks = message.content if message else ""
    return next((bytes(block.input) for block in blocks if isinstance(block, Block) and block.id == call_id), b"")
