"""Prompts: the bytes that are hashed, sent and kept, and the secrets that leave them."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pytest
from pydantic import Field

from events.types.claims import Claim
from events.types.frozen import Frozen
from registry.evidence.redaction import Leak
from strategies.models.answer_schema import answer_schema
from strategies.models.chat_server import chat_body
from strategies.models.prompts import prompt_of
from strategies.models.protocol import (
    ModelMessage,
    ModelTool,
    Opaque,
    Request,
    TextBlock,
    ToolCall,
    ToolResult,
    user_message,
)
from tests.asking import Pick, question

if TYPE_CHECKING:
    from strategies.models.model_settings import Effort

EFFORTS: tuple[Effort | None, ...] = (None, "high")
SECRET = "ghp_" + "a1" * 18
TOOL = ModelTool("run", "Runs a command.", {"type": "object", "properties": {"command": {"type": "string"}}})


class Proposal(Frozen):
    """A shape as deep as they come."""

    claim: Annotated[Claim, Field(discriminator="kind")] | None
    op: Literal["append", "delete"]
    confidence: Annotated[float, Field(ge=0, le=1, description="How sure.")]
    lines: tuple[Annotated[str, Field(max_length=80)], ...] = ()
    picks: Annotated[tuple[Pick, ...], Field(min_length=1, max_length=3)] = ()


def test_the_hash_is_over_the_bytes_that_are_kept_and_nothing_else_of_the_request() -> None:
    prompt = prompt_of(question(), "a-model")
    assert prompt.hash == hashlib.sha256(prompt.kept).hexdigest()
    assert json.loads(prompt.kept) == prompt.sent
    assert prompt_of(question(), "a-model").hash == prompt.hash
    assert prompt_of(question(), "another-model").hash != prompt.hash
    assert prompt_of(question("Which one?"), "a-model").hash != prompt.hash
    assert prompt_of(question(role="judge"), "a-model").hash == prompt.hash


def test_a_request_is_written_as_the_messages_api_has_it() -> None:
    request = Request(
        "agent",
        (
            user_message("List the files.", cache=True),
            ModelMessage(
                "assistant",
                (Opaque('{"type":"thinking","signature":"s"}'), ToolCall("t1", "run", {"command": "ls"})),
            ),
            ModelMessage("user", (ToolResult("t1", "a.txt"), ToolResult("t2", "no", failed=True))),
        ),
        str,
        max_tokens=64,
        system=(TextBlock("Rules."),),
        tools=(TOOL,),
    )
    mark = {"cache_control": {"type": "ephemeral"}}
    assert prompt_of(request, "m").sent == {
        "model": "m",
        "max_tokens": 64,
        "system": [{"type": "text", "text": "Rules."}],
        "tools": [{"name": "run", "description": "Runs a command.", "input_schema": dict(TOOL.arguments)}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "List the files.", **mark}]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "signature": "s"},
                    {"type": "tool_use", "id": "t1", "name": "run", "input": {"command": "ls"}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "a.txt"},
                    {"type": "tool_result", "tool_use_id": "t2", "content": "no", "is_error": True},
                ],
            },
        ],
    }


def test_a_cache_mark_stays_where_the_prompt_before_it_may_be_long_enough_for_the_cache() -> None:
    def marks(cache_from: int) -> list[bool]:
        prompt = prompt_of(request, "m", cache_from=cache_from)
        body: Any = prompt.sent
        blocks = [*body["system"], *(block for turn in body["messages"] for block in turn["content"])]
        assert prompt.caches is any("cache_control" in block for block in blocks)
        return ["cache_control" in block for block in blocks]

    case = TextBlock("word " * 800, cache=True)
    request = Request(
        "agent",
        (ModelMessage("user", (case, TextBlock("Which?"))),),
        str,
        max_tokens=64,
        system=(TextBlock("Rules." * 40, cache=True),),
    )
    assert marks(0) == [True, True, False]
    assert marks(512) == [False, True, False]
    assert marks(4_096) == [False, False, False]
    long_tools = replace(TOOL, description="Runs a command. " * 200)
    request = replace(request, tools=(long_tools,))
    assert marks(512) == [True, True, False], "tools stand before the rules"


def test_a_model_with_an_effort_thinks_first_and_its_limit_and_its_estimate_have_room_for_that() -> None:
    plain, thinking = (prompt_of(question("?"), "m", effort=effort) for effort in EFFORTS)
    assert "thinking" not in plain.sent
    assert thinking.sent["thinking"] == {"type": "adaptive"}
    config = thinking.sent["output_config"]
    assert isinstance(config, dict)
    assert config["effort"] == "high"
    assert "format" in config
    assert thinking.sent["max_tokens"] == thinking.max_tokens == plain.max_tokens + 12_000
    assert thinking.most_tokens > plain.most_tokens + 12_000
    assert thinking.hash != plain.hash

    body = chat_body(thinking.sent, "m")
    assert (body["reasoning_effort"], body["max_tokens"]) == ("high", thinking.max_tokens)
    assert "reasoning_effort" not in chat_body(plain.sent, "m")


def test_secrets_leave_a_prompt_before_it_is_sent() -> None:
    prompt = prompt_of(question(f'they ran {SECRET} and {{"password": "hunter2hunter2"}}'), "m")
    assert SECRET.encode() not in prompt.kept
    assert "hunter2hunter2" not in json.dumps(prompt.sent)
    assert prompt.sent == json.loads(prompt.kept)


def test_what_an_agent_works_on_goes_as_it_stands_and_is_kept_without_secrets() -> None:
    request = Request("agent", (user_message(f"use {SECRET}"),), str, max_tokens=8)
    prompt = prompt_of(request, "m")
    assert SECRET in json.dumps(prompt.sent)
    assert SECRET.encode() not in prompt.kept
    assert (
        prompt.hash
        == prompt_of(Request("agent", (user_message("use [github-token]"),), str, max_tokens=8), "m").hash
    )


def test_what_another_scanner_finds_leaves_too() -> None:
    def find(texts: Any) -> tuple[Leak, ...]:  # noqa: ANN401 - an iterable of texts
        return (Leak("house-rule", "Orchid"),) if any("Orchid" in text for text in texts) else ()

    assert b"Orchid" not in prompt_of(question("project Orchid"), "m", find).kept
    assert b"[house-rule]" in prompt_of(question("project Orchid"), "m", find).kept


def test_text_that_no_encoding_can_write_is_sent_with_a_mark_in_its_place() -> None:
    assert "half ? a pair" in json.dumps(prompt_of(question("half \ud800 a pair"), "m").sent)


def test_a_prompt_never_holds_more_tokens_than_it_is_taken_for() -> None:
    prompt = prompt_of(question("word " * 1_000), "m")
    assert prompt.most_input > 1_000
    assert prompt.most_tokens == prompt.most_input + 500


@pytest.mark.parametrize(
    "make",
    [
        lambda: Request("judge", (user_message("?"),), str, max_tokens=1, tools=(TOOL,)),
        lambda: Request("judge", (), str, max_tokens=1),
        lambda: Request(
            "judge", (user_message("?"), ModelMessage("assistant", (TextBlock("!"),))), str, max_tokens=1
        ),
        lambda: Request("agent", (user_message("?"),), str, max_tokens=1, again=True),
        lambda: Request(
            "judge", (user_message("?"),), str, max_tokens=1, system=(TextBlock("a", cache=True),) * 5
        ),
    ],
    ids=["tools for a judge", "nothing asked", "prefilled", "an agent told again", "five cache marks"],
)
def test_a_request_that_cannot_be_is_a_fault_of_ours(make: Any) -> None:  # noqa: ANN401 - a lambda of the table above
    with pytest.raises(ValueError, match=r"tools|user|cache|secrets"):
        make()


def bare(schema: Any) -> Any:  # noqa: ANN401 - JSON of any shape
    """Take away what is words, and what we ask for and the SDK does not."""
    if isinstance(schema, list):
        return [bare(subschema) for subschema in schema]
    if isinstance(schema, dict):
        kept = {
            key: bare(subschema)
            for key, subschema in schema.items()
            if key not in {"description", "title", "required"}
        }
        return kept if "minItems" not in kept else {key: value for key, value in kept.items() if key != "minItems"}
    return schema


@pytest.mark.parametrize("shape", [Pick, Proposal])
def test_the_schema_of_an_answer_is_what_the_sdk_would_make_of_it(shape: type[Frozen]) -> None:
    from anthropic import transform_schema

    assert bare(answer_schema(shape)) == bare(transform_schema(shape))


def test_what_a_schema_cannot_say_is_told_in_words_and_every_field_is_asked_for() -> None:
    schema: Any = answer_schema(Proposal)
    assert schema["required"] == ["claim", "op", "confidence", "lines", "picks"]
    assert schema["properties"]["confidence"]["description"] == "How sure. {maximum: 1, minimum: 0}"
    assert "maxItems: 3" in schema["properties"]["picks"]["description"]


def test_a_shape_that_holds_a_mapping_is_refused() -> None:
    class Table(Frozen):
        rows: dict[str, int]

    with pytest.raises(ValueError, match="mapping"):
        answer_schema(Table)
