"""What single lines of a Claude Code session say, for what is asked after they were read.

The shapes are those of claude_records.py without the fields that only a whole reading needs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.logs.json_places import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Sequence


class _Said(msgspec.Struct):
    text: str | None = None


class _Block(msgspec.Struct):
    type: str
    text: str | None = None
    id: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"null")
    tool_use_id: str | None = None
    content: msgspec.Raw = msgspec.Raw(b"null")


class _Message(msgspec.Struct):
    content: str | list[_Block] = ""


class _Line(msgspec.Struct):
    message: _Message | None = None


_LINE: Final = msgspec.json.Decoder(_Line)
_CONTENT: Final = msgspec.json.Decoder(str | list[_Said] | None)


class ClaudeTelling:
    """Reads lines of a session."""

    def said_in(self, raw: bytes) -> str:
        """Give the last message of the agent in a line."""
        return next((block.text for block in reversed(_blocks(raw)) if block.type == "text" and block.text), "")

    def calls_in(self, raw: bytes) -> Sequence[tuple[str, str]]:
        """Give the calls in a line."""
        calls = (block for block in _blocks(raw) if block.type == "tool_use")
        return [(call.id or "", bytes(call.input).decode(errors="replace")) for call in calls]

    def answers_in(self, raw: bytes) -> Sequence[tuple[str, str]]:
        """Give what calls gave back in a line."""
        results = (block for block in _blocks(raw) if block.type == "tool_result")
        return [(result.tool_use_id or "", _text(result.content)) for result in results]


def _blocks(raw: bytes) -> list[_Block]:
    try:
        message = _LINE.decode(raw).message
    except UNREADABLE:
        return []
    content = message.content if message else ""
    return [_Block(type="text", text=content)] if isinstance(content, str) else content


def _text(content: msgspec.Raw) -> str:
    try:
        said = _CONTENT.decode(content)
    except UNREADABLE:
        return ""
    return said if isinstance(said, str) else "\n".join(part.text for part in said or () if part.text)
