"""Replies: a message as the Messages API writes it, read into an answer, or into what is wrong with it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Generic, Literal, get_args

from pydantic import BaseModel, Field, JsonValue, ValidationError

from events.model_errors import CutOffError, DeclinedError, MalformedReplyError
from events.types.model_events import TokenUsage
from registry.evidence.scrub_text import compact, plain, scrubbed, texts_in
from strategies.models.http_errors import safe_line
from strategies.models.protocol import A, Opaque, Stop, TextBlock, ToolCall

if TYPE_CHECKING:
    from events.model_errors import ModelError
    from strategies.models.prompts import FindLeaks
    from strategies.models.protocol import Part, Request

_MOST_KEPT_CHARS: Final = 100_000
"""How much is kept of a reply that is no message, such as the page of a proxy (a guess)."""
_FENCED: Final = re.compile(r"\A\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*\Z", re.DOTALL | re.IGNORECASE)
"""An answer in a code fence: models that take no schema write one, whatever they are told."""
_PLAIN_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@/-]{0,127}")
"""Names and ids of a server that may stand in an event."""


_Tokens = Annotated[int, Field(ge=0, le=1_000_000_000)]
"""More than any context holds: what a server says beyond it is no count."""


class _Usage(BaseModel):
    input_tokens: _Tokens
    output_tokens: _Tokens
    cache_creation_input_tokens: _Tokens | None = None
    cache_read_input_tokens: _Tokens | None = None


class _Message(BaseModel):
    """A message, as far as it is looked at; the API may add to it at any time."""

    type: Literal["message"]
    content: list[dict[str, JsonValue]]
    usage: JsonValue = None
    model: str = ""
    stop_reason: str | None = None


@dataclass(frozen=True, slots=True)
class ReadReply(Generic[A]):
    """A reply as it was read: its answer, or the error that tells what is wrong with it.

    `kept` is what stays of it, without secrets. `usage` is None where it is no message at all, or tells no tokens.
    """

    kept: bytes
    answer: A | ModelError
    usage: TokenUsage | None = None
    served_by: str = ""
    text: str = ""
    parts: tuple[Part, ...] = ()
    stop: Stop = "end_turn"


def read_reply(request: Request[A], body: bytes, find_leaks: FindLeaks = lambda _: ()) -> ReadReply[A]:
    """Read what came back to a request; never raises for what it finds.

    Secrets leave it before anything else is done with it, but for an agent, whose calls must reach its own tools
    as it made them: there they leave what is kept.
    """
    try:
        value: JsonValue = json.loads(body)
        clean = scrubbed(value, find_leaks(texts_in(value)))
        kept = compact(clean).encode()
        message = _Message.model_validate(value if request.role == "agent" else clean)
    except (ValueError, RecursionError):  # what pydantic refuses is one, and so is half a surrogate pair
        return _no_message(body, find_leaks)
    parts = tuple(_part(block) for block in message.content)
    text = "".join(part.text for part in parts if isinstance(part, TextBlock))
    usage = _usage(message.usage)
    return ReadReply(
        kept=kept,
        answer=_ended_badly(request, message.stop_reason, usage) or _answered(request, text),
        usage=usage,
        served_by=plain_name(message.model),
        text=text,
        parts=parts,
        stop=_stop(message),
    )


def _no_message(body: bytes, find_leaks: FindLeaks) -> ReadReply[A]:
    text = body[: 4 * _MOST_KEPT_CHARS].decode(errors="replace")
    error = MalformedReplyError("what came back is no message of the Messages API")
    clean = plain(text, find_leaks([text]))[:_MOST_KEPT_CHARS]  # cut last: half a secret looks like none
    return ReadReply(clean.encode(errors="replace"), error)


def plain_name(name: str) -> str:
    """Take a name or an id that a server gave, "" where it is not plain enough to stand in an event."""
    return name if _PLAIN_NAME.fullmatch(name) and plain(name) == name else ""


def _usage(reported: JsonValue) -> TokenUsage | None:
    """Read the tokens of a message, None where it does not tell them: then the most it can have cost counts."""
    try:
        usage = _Usage.model_validate(reported)
    except ValidationError:
        return None
    return TokenUsage(
        input=usage.input_tokens,
        output=usage.output_tokens,
        cache_write=usage.cache_creation_input_tokens or 0,
        cache_read=usage.cache_read_input_tokens or 0,
    )


def _part(block: dict[str, JsonValue]) -> Part:
    match block:
        case {"type": "text", "text": str(text)}:
            return TextBlock(text)
        case {"type": "tool_use", "id": str(name), "name": str(tool), "input": dict(arguments)}:
            return ToolCall(name, tool, arguments)
    return Opaque(compact(block))


def _stop(message: _Message) -> Stop:
    return message.stop_reason if message.stop_reason in get_args(Stop) else "end_turn"  # type: ignore[return-value] # mypy does not narrow by get_args


def _ended_badly(request: Request[A], stop_reason: str | None, usage: TokenUsage | None) -> ModelError | None:
    """Tell what a reply ended in where it did not end well."""
    used = f"{usage.output:,} tokens" if usage else "nobody says how many tokens"
    match stop_reason:
        case "refusal":
            return DeclinedError(f"the model declined to answer as {request.role}, after {used}")
        case "max_tokens":
            return CutOffError(
                f"the reply to the {request.role} was cut off at its limit of {request.max_tokens:,} tokens"
            )
        case "model_context_window_exceeded":
            return CutOffError(f"prompt and reply of the {request.role} filled the model's context, after {used}")
    return None


def _answered(request: Request[A], text: str) -> A | ModelError:
    """Read the text as the shape that was asked for."""
    if issubclass(request.answer, str):
        return request.answer(text)
    if not text.strip():
        return MalformedReplyError(f"the reply to the {request.role} holds no text")
    try:
        return request.answer.model_validate_json(_FENCED.sub(r"\1", text))
    except ValidationError as error:
        first = error.errors(include_input=False, include_url=False)[0]
        at = ".".join(map(str, first["loc"]))
        what = safe_line(f"{at}: {first['msg']}" if at else first["msg"])
        return MalformedReplyError(f"the reply to the {request.role} is not what was asked for: {what}")
