"""Prompts: a request in the wire format of the Messages API, as it is sent and as it is kept."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final, assert_never

from strategies.models.answer_schema import answer_schema
from strategies.models.asking import Opaque, Text, ToolCall, ToolResult
from strategies.models.scrubbing import compact, scrubbed, texts_in

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pydantic import JsonValue

    from events.model_events import ModelRole
    from registry.redaction import Leak
    from strategies.models.asking import Message, Part, Request, Tool

    FindLeaks = Callable[[Iterable[str]], tuple[Leak, ...]]

_BYTES_PER_TOKEN: Final = 2
"""The fewest that a token stands for on average (a guess on the safe side: English text has about four)."""


@dataclass(frozen=True)
class Prompt:
    """A request to one model: `sent` is the body that goes out, `kept` the bytes that stay, without secrets.

    They say the same but for an agent, whose secrets go as they stand. The hash is over what stays, so that it is
    the name of the blob, and tells nothing of a secret.
    """

    role: ModelRole
    model: str
    sent: dict[str, JsonValue]
    kept: bytes
    max_tokens: int

    @cached_property
    def hash(self) -> str:
        """SHA-256 over the bytes that stay, in hex."""
        return sha256(self.kept).hexdigest()

    @property
    def most_input(self) -> int:
        """The tokens that it may hold, at most."""
        return -(-len(self.kept) // _BYTES_PER_TOKEN)

    @property
    def most_tokens(self) -> int:
        """The tokens that it and its reply may come to, at most."""
        return self.most_input + self.max_tokens


def prompt_of(request: Request[Any], model: str, find_leaks: FindLeaks = lambda _: ()) -> Prompt:
    """Write a request as the Messages API takes it; secrets leave it first."""
    body = _body(request, model)
    kept = scrubbed(body, find_leaks(texts_in(body)))
    sent = body if request.role == "agent" or not isinstance(kept, dict) else kept
    return Prompt(request.role, model, sent, compact(kept).encode(), request.max_tokens)


def _body(request: Request[Any], model: str) -> dict[str, JsonValue]:
    body: dict[str, JsonValue] = {"model": model, "max_tokens": request.max_tokens}
    if request.system:
        body["system"] = [_block(part) for part in request.system]
    if request.tools:
        body["tools"] = list(map(tool_body, request.tools))
    body["messages"] = list(map(message_body, request.messages))
    if request.answer is not str:
        body["output_config"] = {"format": {"type": "json_schema", "schema": answer_schema(request.answer)}}
    return body


def tool_body(tool: Tool) -> dict[str, JsonValue]:
    """Write a tool as the Messages API takes it."""
    return {"name": tool.name, "description": tool.description, "input_schema": dict(tool.arguments)}


def message_body(message: Message) -> dict[str, JsonValue]:
    """Write a turn of a conversation as the Messages API takes it."""
    return {"role": message.by, "content": [_block(part) for part in message.parts]}


def _block(part: Part) -> JsonValue:
    mark: dict[str, JsonValue] = {"cache_control": {"type": "ephemeral"}}
    match part:
        case Text():
            mark = mark if part.cache else {}
            return {"type": "text", "text": _written(part.text), **mark}
        case ToolCall():
            return {"type": "tool_use", "id": part.id, "name": part.name, "input": dict(part.arguments)}
        case ToolResult():
            mark = mark if part.cache else {}
            failed: dict[str, JsonValue] = {"is_error": True} if part.failed else {}
            text = _written(part.text)
            return {"type": "tool_result", "tool_use_id": part.call, "content": text, **failed, **mark}
        case Opaque():
            block: JsonValue = json.loads(part.body)
            return block
        case _:
            assert_never(part)


def _written(text: str) -> str:
    """Replace what no encoding can write: halves of surrogate pairs, which JSON in logs may hold."""
    return text.encode(errors="replace").decode()
