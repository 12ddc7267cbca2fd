"""One chat message, in the shape of OpenAI or Anthropic, as steps of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol

import msgspec

from strategies.episodes.error_fingerprint import looks_failed
from strategies.episodes.usage import Amount, Usage, usage_of
from strategies.files.log_records import NotObject, count_unknown

if TYPE_CHECKING:
    from strategies.episodes.conversation import Conversation
    from strategies.files.log_records import ReadTally, Span


class MessageOffsets(Protocol):
    """The places of the parts of one message in the log."""

    def at(self, *path: str | int) -> Span:
        """Give the place of a part, or of what holds it where it is not there."""
        ...


class _Function(msgspec.Struct):
    name: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b'""')


class _ToolCall(msgspec.Struct):
    id: str | None = None
    function: _Function | None = None


class _Block(msgspec.Struct):
    type: str = "text"
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = msgspec.Raw(b"{}")
    tool_use_id: str | None = None
    content: str | list[_Block] | None = None
    is_error: bool | None = None


class _Cached(msgspec.Struct):
    cached_tokens: Amount = None


class ChatUsage(msgspec.Struct):
    """Tokens of an answer: of OpenAI those from a cache are among the prompt, of Anthropic beside the input."""

    prompt_tokens: Amount = None
    completion_tokens: Amount = None
    prompt_tokens_details: _Cached | NotObject = None
    input_tokens: Amount = None
    output_tokens: Amount = None
    cache_read_input_tokens: Amount = None
    cache_creation_input_tokens: Amount = None


class ChatMessage(msgspec.Struct):
    """The fields of a message that are read; all others are passed over."""

    role: str
    content: str | list[_Block] | None = None
    tool_calls: list[_ToolCall] | None = None
    function_call: _Function | None = None
    tool_call_id: str | None = None
    tool_call_ids: list[str] | None = None
    finish_reason: str | None = None
    stop_reason: str | None = None
    model: Amount = None
    usage: ChatUsage | NotObject = None
    cost: Amount = None

    @property
    def calls(self) -> bool:
        """Tell whether the message holds a call."""
        blocks = self.content if isinstance(self.content, list) else []
        return bool(self.tool_calls or self.function_call) or any(block.type == "tool_use" for block in blocks)


MESSAGE: Final = msgspec.json.Decoder(ChatMessage)
_TEXT: Final = msgspec.json.Decoder(str)


def usage_in(usage: object, cost: Amount, model: str) -> Usage:
    """Give the usage that is written beside a message or a conversation."""
    used = usage if isinstance(usage, ChatUsage) else ChatUsage()
    details = used.prompt_tokens_details
    cached = details.cached_tokens if isinstance(details, _Cached) else used.cache_read_input_tokens
    if used.prompt_tokens is not None:
        return usage_of(used.prompt_tokens, used.completion_tokens, cached, cost=cost, model=model)
    beside = (used.cache_read_input_tokens, used.cache_creation_input_tokens)
    return usage_of(used.input_tokens, used.output_tokens, cached, beside=beside, cost=cost, model=model)


def learn_message(
    conversation: Conversation, message: ChatMessage, places: MessageOffsets, tally: ReadTally, *, group: str
) -> None:
    """Add a message to the conversation; `group` is another for each message."""
    if message.role in {"system", "developer"}:
        return
    if message.role in {"tool", "function"}:
        _learn_tool_message(conversation, message, places, tally)
    elif message.role in {"user", "human"}:
        _learn_user_message(conversation, message, places, tally)
    elif message.role in {"assistant", "ai", "model"}:
        _learn_agent_message(conversation, message, places, group)
    else:
        count_unknown(tally, f"role {message.role}")


def _learn_agent_message(
    conversation: Conversation, message: ChatMessage, places: MessageOffsets, group: str
) -> None:
    if isinstance(message.content, str) and message.content.strip():
        conversation.say("agent", message.content, places.at("content"), group=group)
    for number, block in enumerate(message.content if isinstance(message.content, list) else []):
        if block.type == "tool_use":
            argument = bytes(block.input).decode(errors="replace")
            span = places.at("content", number, "input")
            conversation.call(block.id or "", block.name or "", argument, span, group=group)
        elif block.text:
            conversation.say("agent", block.text, places.at("content", number, "text"), group=group)
    for number, called in enumerate(message.tool_calls or []):
        function = called.function or _Function()
        span = places.at("tool_calls", number, "function", "arguments")
        conversation.call(called.id or "", function.name, _argument(function), span, group=group)
    if message.function_call:
        span = places.at("function_call", "arguments")
        conversation.call("", message.function_call.name, _argument(message.function_call), span, group=group)


def _learn_user_message(
    conversation: Conversation, message: ChatMessage, places: MessageOffsets, tally: ReadTally
) -> None:
    if isinstance(message.content, str):
        conversation.say("user", message.content, places.at("content"))
        return
    for number, block in enumerate(message.content or []):
        if block.type == "tool_result":
            text = _text(block.content)
            failed = looks_failed(text) if block.is_error is None else block.is_error
            span = places.at("content", number, "content")
            if not conversation.answer(block.tool_use_id or "", text, span, failed=failed):
                count_unknown(tally, "result without a call")
        elif block.text:
            conversation.say("user", block.text, places.at("content", number, "text"))


def _learn_tool_message(
    conversation: Conversation, message: ChatMessage, places: MessageOffsets, tally: ReadTally
) -> None:
    text = _text(message.content)
    call_id = message.tool_call_id or next(iter(message.tool_call_ids or ()), "")
    if not conversation.answer(call_id, text, places.at("content"), failed=looks_failed(text)):
        count_unknown(tally, "result without a call")


def _argument(function: _Function) -> str:
    raw = bytes(function.arguments)
    return _TEXT.decode(raw) if raw.startswith(b'"') else raw.decode(errors="replace")


def _text(content: str | list[_Block] | None) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content or () if block.text)
