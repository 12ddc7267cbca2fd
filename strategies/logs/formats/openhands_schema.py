"""Events of OpenHands, as its application writes them (`action`, `observation`) and as its SDK does (`kind`)."""

from __future__ import annotations

from typing import Final

import msgspec

from strategies.episodes.error_fingerprint import looks_failed
from strategies.episodes.usage import Amount, Usage, usage_of
from strategies.files.log_records import UNREADABLE, NotObject

_NOTHING: Final = msgspec.Raw(b"")
_NOT_ARGUMENT: Final = frozenset(
    [
        *("thought", "kind", "hidden", "blocking", "is_input", "is_static", "cwd", "confirmation_state"),
        *(
            "is_confirmed",
            "security_risk",
            "impl_source",
            "kernel_init_code",
            "include_extra",
            "wait_for_response",
        ),
    ]
)
"""Fields among the arguments of an action that are none: with its thought in it no call is like another."""


class _Text(msgspec.Struct):
    text: str | None = None


Content = str | list[_Text] | None


class _Response(msgspec.Struct):
    id: str | None = None


class _Metadata(msgspec.Struct):
    function_name: str = ""
    model_response: _Response | None = None


class _Exit(msgspec.Struct):
    exit_code: int | None = None


class _Named(msgspec.Struct):
    name: str = ""


class _Extras(msgspec.Struct):
    exit_code: int | None = None
    metadata: _Exit | None = None
    agent_state: str = ""
    reason: str = ""
    microagent_knowledge: list[_Named] = []


class _LlmMessage(msgspec.Struct):
    content: Content = None


class _ToolCall(msgspec.Struct):
    arguments: str = ""


class _Result(msgspec.Struct):
    """What an observation of the SDK holds."""

    content: Content = None
    output: Content = None
    exit_code: int | None = None
    metadata: _Exit | None = None
    is_error: bool | None = None
    error: str | bool | None = None


class _Tokens(msgspec.Struct):
    """Tokens of a model so far; those from a cache are among the prompt."""

    prompt_tokens: Amount = None
    completion_tokens: Amount = None
    cache_read_tokens: Amount = None


class OpenHandsMetrics(msgspec.Struct):
    """What a run spent on a model so far."""

    model_name: str | None = None
    accumulated_cost: Amount = None
    accumulated_token_usage: _Tokens | NotObject = None

    @property
    def usage(self) -> Usage:
        """The same, as it is kept."""
        used = self.accumulated_token_usage
        used = used if isinstance(used, _Tokens) else _Tokens()
        return usage_of(
            used.prompt_tokens, used.completion_tokens, used.cache_read_tokens, cost=self.accumulated_cost
        )


class _Stats(msgspec.Struct):
    usage_to_metrics: dict[str, OpenHandsMetrics] = {}


class _State(msgspec.Struct):
    """What an event of the SDK says of the state: the statistics themselves, or all of it."""

    usage_to_metrics: dict[str, OpenHandsMetrics] = {}
    stats: _Stats | NotObject = None

    @property
    def metrics(self) -> list[OpenHandsMetrics]:
        of_all = self.stats.usage_to_metrics if isinstance(self.stats, _Stats) else {}
        return list((self.usage_to_metrics or of_all).values())


class OpenHandsEvent(msgspec.Struct):
    """One event of either kind: all fields that are read, whichever of them are there."""

    kind: str = ""
    id: int | str | None = None
    timestamp: str | None = None
    source: str | None = None
    action: msgspec.Raw = _NOTHING
    args: msgspec.Raw = _NOTHING
    tool_call_metadata: _Metadata | None = None
    observation: msgspec.Raw = _NOTHING
    cause: int | str | None = None
    content: str | None = None
    extras: _Extras = msgspec.field(default_factory=_Extras)
    success: bool | None = None
    thought: Content = None
    tool_name: str | None = None
    tool_call_id: str | None = None
    tool_call: _ToolCall | None = None
    llm_response_id: str | None = None
    llm_message: _LlmMessage | None = None
    activated_skills: list[str] = []
    activated_microagents: list[str] = []
    error: str | None = None
    detail: str | None = None
    code: str | None = None
    rejection_reason: str | None = None
    llm_metrics: OpenHandsMetrics | NotObject = None
    value: msgspec.Raw = _NOTHING


EVENT: Final = msgspec.json.Decoder(OpenHandsEvent)
_STRING: Final = msgspec.json.Decoder(str)
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_STATE: Final = msgspec.json.Decoder(_State)
_RESULT: Final = msgspec.json.Decoder(_Result)


class _Said(msgspec.Struct):
    content: str = ""
    thought: str = ""
    final_thought: str = ""


_SAID: Final = msgspec.json.Decoder(_Said)


def spent_so_far(event: OpenHandsEvent) -> list[Usage]:
    """Give what a run spent up to an event, by model, as the event says it; nothing where it does not."""
    if isinstance(event.llm_metrics, OpenHandsMetrics):
        return [event.llm_metrics.usage]
    if b'"usage_to_metrics"' not in bytes(event.value):
        return []
    try:
        return [metrics.usage for metrics in _STATE.decode(event.value).metrics]
    except UNREADABLE:
        return []


def name_of(raw: msgspec.Raw) -> str:
    """Give the type of an action or observation of the application, "" for an object of the SDK or nothing."""
    return _STRING.decode(raw) if bytes(raw).startswith(b'"') else ""


def text_and_thought_of(event: OpenHandsEvent) -> tuple[str, str]:
    """Give what an action of the application says to the user, and the thought beside it."""
    args = _SAID.decode(event.args) if bytes(event.args).startswith(b"{") else _Said()
    return args.content or args.final_thought, args.thought


def argument_of(event: OpenHandsEvent) -> str:
    """Give the arguments of a call as JSON, without what is none."""
    if event.tool_call and event.tool_call.arguments:
        return event.tool_call.arguments
    raw = bytes(event.args) or bytes(event.action)
    if not raw.startswith(b"{"):
        return ""
    kept = {name: value for name, value in _OBJECT.decode(raw).items() if name not in _NOT_ARGUMENT}
    return msgspec.json.encode(kept).decode()


def answer_of(event: OpenHandsEvent) -> tuple[str, bool]:
    """Give the text of an observation of the application, and whether the call failed."""
    text = event.content or ""
    kind = name_of(event.observation)
    code = event.extras.exit_code
    if event.extras.metadata and event.extras.metadata.exit_code is not None:
        code = event.extras.metadata.exit_code
    if kind in {"error", "user_rejected"}:
        return text, True
    if code is not None:
        return text, code > 0  # -1 is a command that still runs
    return text, event.success is False or looks_failed(text)


def result_of(event: OpenHandsEvent) -> tuple[str, bool]:
    """Give the text of an observation of the SDK, and whether the call failed."""
    if not bytes(event.observation).startswith(b"{"):
        return text_of(event.content), False
    result = _RESULT.decode(event.observation)
    text = text_of(result.content) or text_of(result.output)
    text = text or (result.error if isinstance(result.error, str) else "")
    code = result.metadata.exit_code if result.metadata else result.exit_code
    if code is not None:
        return text, code > 0
    return text, bool(result.is_error or result.error) or (result.is_error is None and looks_failed(text))


def text_of(content: Content) -> str:
    """Give the text of a message of a model."""
    if isinstance(content, str):
        return content
    return "\n".join(part.text for part in content or () if part.text)


def readable(raw: bytes | msgspec.Raw) -> bool:
    """Tell whether a value is a JSON object at all."""
    try:
        return bool(_OBJECT.decode(raw))
    except UNREADABLE:
        return False
