"""Attributes of spans by other conventions, and of older versions, under the names of OpenTelemetry GenAI.

Sources: the registry of semantic-conventions-genai with its renames; the specification of OpenInference (Phoenix);
OpenLLMetry (Traceloop), which numbers its messages.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.usage import Usage, usage_of

if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT: Final = (
    *("gen_ai.", "error.type", "event.name"),
    *("openinference.", "llm.", "input.value", "output.value", "session.id", "tool.", "agent.name", "traceloop."),
)
"""How names begin that are read."""

OF_AGENTS: Final = (b'"gen_ai.', b'"openinference.', b'"traceloop.')
"""What a line holds that has a span of an agent."""

_RENAMED: Final = {
    "gen_ai.prompt": "gen_ai.input.messages",
    "gen_ai.completion": "gen_ai.output.messages",
    "gen_ai.agent.id": "gen_ai.agent.name",
    "gen_ai.usage.prompt_tokens": "gen_ai.usage.input_tokens",
    "gen_ai.usage.completion_tokens": "gen_ai.usage.output_tokens",
    "gen_ai.usage.cache_read_input_tokens": "gen_ai.usage.cache_read.input_tokens",
}
_NUMBERED: Final = re.compile(
    r"(?:llm\.(?P<way>input|output)_messages|gen_ai\.(?P<old>prompt|completion))\.(?P<at>\d{1,4})"
    r"\.(?:message\.)?(?P<field>role|content|finish_reason|tool_calls)(?=$|\.)"
)
_FIGURES: Final = {
    "llm.token_count.prompt": "gen_ai.usage.input_tokens",
    "llm.token_count.completion": "gen_ai.usage.output_tokens",
    "llm.token_count.prompt_details.cache_read": "gen_ai.usage.cache_read.input_tokens",
    "llm.cost.total": "llm.cost.total",
}
"""Figures of OpenInference; of its cost OpenTelemetry has no name."""
_TOOL_KINDS: Final = frozenset(["tool", "TOOL"])
_MODEL_KINDS: Final = frozenset(["LLM", "llm"])


def in_current_names(attributes: Mapping[str, str], span_name: str) -> dict[str, str]:
    """Give the attributes of a span as OpenTelemetry GenAI names them now; what has no such name is dropped."""
    current = {_RENAMED.get(name, name): value for name, value in attributes.items() if name.startswith("gen_ai.")}
    current |= {name: value for name, value in attributes.items() if name.startswith(("error.type", "event.name"))}
    kind = attributes.get("openinference.span.kind") or attributes.get("traceloop.span.kind", "")
    if kind in _TOOL_KINDS:
        return current | _tool(attributes, span_name)
    if kind in _MODEL_KINDS or any(map(_NUMBERED.match, attributes)):
        current = {name: value for name, value in current.items() if not _NUMBERED.match(name)}
        return current | _model(attributes)
    return current | _named(attributes) if kind else current


def usage_in(attributes: Mapping[str, str]) -> Usage:
    """Give the usage that a span tells under current names: tokens from a cache are among the input."""
    return usage_of(
        attributes.get("gen_ai.usage.input_tokens"),
        attributes.get("gen_ai.usage.output_tokens"),
        attributes.get("gen_ai.usage.cache_read.input_tokens"),
        cost=attributes.get("llm.cost.total"),
    )


def _named(attributes: Mapping[str, str]) -> dict[str, str]:
    session = attributes.get("session.id") or attributes.get("traceloop.association.properties.session_id")
    agent = attributes.get("agent.name")
    named = {"gen_ai.conversation.id": session, "gen_ai.agent.name": agent}
    return {name: value for name, value in named.items() if value}


def _tool(attributes: Mapping[str, str], span_name: str) -> dict[str, str]:
    return _named(attributes) | {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": attributes.get("tool.name") or attributes.get("traceloop.entity.name") or span_name,
        "gen_ai.tool.call.arguments": attributes.get("input.value")
        or attributes.get("tool.parameters")
        or attributes.get("traceloop.entity.input", ""),
        "gen_ai.tool.call.result": attributes.get("output.value") or attributes.get("traceloop.entity.output", ""),
    }


def _model(attributes: Mapping[str, str]) -> dict[str, str]:
    asked, answered = dict[int, dict[str, str]](), dict[int, dict[str, str]]()
    for name, value in attributes.items():
        numbered = _NUMBERED.match(name)
        if numbered:
            side = asked if numbered["way"] == "input" or numbered["old"] == "prompt" else answered
            side.setdefault(int(numbered["at"]), {})[numbered["field"]] = value
    model = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": _messages(asked),
        "gen_ai.output.messages": _messages(answered),
    }
    model |= {name: attributes[written] for written, name in _FIGURES.items() if written in attributes}
    if "llm.model_name" in attributes:
        model["gen_ai.request.model"] = attributes["llm.model_name"]
    reasons = [message["finish_reason"] for message in answered.values() if "finish_reason" in message]
    if not reasons and answered and not any("tool_calls" in message for message in answered.values()):
        reasons = ["stop"]  # OpenInference says no reason: an answer without a call is the end of a turn
    if reasons:
        model["gen_ai.response.finish_reasons"] = msgspec.json.encode(reasons).decode()
    return _named(attributes) | model


def _messages(numbered: Mapping[int, Mapping[str, str]]) -> str:
    written = [
        {"role": message.get("role", ""), "parts": [{"type": "text", "content": message.get("content", "")}]}
        for _, message in sorted(numbered.items())
    ]
    return msgspec.json.encode(written).decode()
