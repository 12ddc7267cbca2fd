"""Models behind chat completions, asked over real HTTP."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from events.errors import CredentialsError, UpstreamError
from events.model_errors import (
    CutOffError,
    DeclinedError,
    DisconnectedError,
    MalformedReplyError,
    ModelError,
    OverloadedError,
    RateLimitedError,
    RequestRefusedError,
    TimedOutError,
)
from strategies.models.chat_server import ChatServer, chat_body, message_of
from strategies.models.prompts import prompt_of
from strategies.models.protocol import (
    ModelMessage,
    ModelTool,
    Request,
    TextBlock,
    ToolCall,
    ToolResult,
    user_message,
)
from strategies.models.replies import read_reply
from strategies.models.served_model import ServedModel, served_model
from tests.anthropic_stub import (
    KEY,
    AnthropicStub,
    Step,
    cuts,
    declines,
    drops,
    gives,
    hangs,
    overloaded,
    rate_limited,
    refused,
    says,
)
from tests.asking import PICK, Pick, question

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.models.prompts import Arrived, Prompt


@pytest.fixture(scope="module")
def server() -> Iterator[AnthropicStub]:
    with AnthropicStub() as server:
        yield server


@pytest.fixture
def stub(server: AnthropicStub) -> AnthropicStub:
    return server.afresh()


def client(*, retries: int = 0, timeout_s: float = 5.0, key: str = KEY) -> ChatServer:
    return ChatServer(key, timeout_s=timeout_s, max_retries=retries, longest_wait_s=1.0, wait=lambda _: None)


def prompt(stub: AnthropicStub, request: Request[Any] | None = None) -> Prompt:
    return prompt_of(request or question(), f"openai:stub-proposer@{stub.base_url}/v1")


def sent(stub: AnthropicStub, *steps: Step, **options: Any) -> Arrived:  # noqa: ANN401 - handed on
    stub.script("proposer", *steps)
    return client(**options).send(prompt(stub))


@contextmanager
def failing(kind: type[UpstreamError]) -> Iterator[pytest.ExceptionInfo[UpstreamError]]:
    with pytest.raises(kind) as error:
        yield error
    assert type(error.value) is kind
    assert KEY not in f"{error.value.message} {error.value.hint}"


@pytest.mark.parametrize(
    ("name", "served"),
    [
        ("openai:qwen3:8b@http://localhost:11434/v1", ServedModel("qwen3:8b", "http://localhost:11434/v1")),
        ("openai:org/model@https://host/v1/", ServedModel("org/model", "https://host/v1")),
        ("openai:a@b@http://h:1/v1", ServedModel("a@b", "http://h:1/v1")),
        ("openai:some-model", ServedModel("some-model", "https://api.openai.com/v1")),
        ("claude-opus-4-5", None),
    ],
)
def test_the_name_of_a_model_tells_its_server(name: str, served: ServedModel | None) -> None:
    assert served_model(name) == served


def test_an_answer_comes_back_in_the_shape_that_was_asked_for_with_its_tokens(stub: AnthropicStub) -> None:
    arrived = sent(stub, gives(PICK, cache_read_input_tokens=300))
    read = read_reply(question(), arrived.body)
    assert read.answer == Pick(which="SHOW", reasons=("it lists the tables",))
    assert read.usage is not None
    assert (read.usage.input, read.usage.output, read.usage.cache_read) == (1_000, 200, 300)
    (received,) = stub.asked()
    assert received.headers["authorization"] == f"Bearer {KEY}"
    assert [turn["role"] for turn in received.body["messages"]] == ["system", "user"]
    schema = received.body["response_format"]["json_schema"]
    assert (schema["strict"], sorted(schema["schema"]["properties"])) == (True, ["reasons", "which"])


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (declines(), DeclinedError),
        (cuts('{"which": "SH'), CutOffError),
        (says("no JSON"), MalformedReplyError),
        (Step(b"<html>a proxy</html>"), MalformedReplyError),
        (Step({"choices": []}), MalformedReplyError),
        (Step({"choices": [{"message": {"content": 3}}]}), MalformedReplyError),
        (Step([1]), MalformedReplyError),
    ],
)
def test_what_is_of_no_use_is_an_error_of_its_kind(
    stub: AnthropicStub, step: Step, kind: type[ModelError]
) -> None:
    assert type(read_reply(question(), sent(stub, step).body).answer) is kind


def test_a_server_that_is_busy_is_tried_again_and_one_that_refuses_is_not(stub: AnthropicStub) -> None:
    assert sent(stub, rate_limited(), overloaded(), gives(PICK), retries=2).lost is None
    assert len(stub.received) == 3
    with failing(RateLimitedError):
        sent(stub, rate_limited(), retries=1)
    with failing(OverloadedError):
        sent(stub, overloaded())
    stub.afresh()
    with failing(RequestRefusedError) as error:
        sent(stub, refused("no such field"), retries=5)
    assert "no such field" in error.value.message
    assert len(stub.received) == 1


def test_a_server_that_asks_to_wait_for_too_long_is_not_waited_for(stub: AnthropicStub) -> None:
    with failing(RateLimitedError) as error:
        sent(stub, rate_limited(retry_after_ms="90000"), retries=3)
    assert "in 90 s" in error.value.hint
    assert len(stub.received) == 1


def test_tries_that_reached_the_server_and_were_not_answered_are_counted(stub: AnthropicStub) -> None:
    arrived = sent(stub, drops(), gives(PICK), retries=1)
    assert arrived.lost is not None
    assert arrived.lost.unsettled == 1
    with failing(DisconnectedError) as broken:
        sent(stub, drops(halfway=True), retries=2)
    assert isinstance(broken.value, ModelError)
    assert broken.value.unsettled == 3
    with failing(TimedOutError) as late:
        sent(stub, hangs(), timeout_s=0.2)
    assert isinstance(late.value, ModelError)
    assert late.value.unsettled == 1


def test_a_server_that_is_not_there_cost_nothing() -> None:
    nowhere = prompt_of(question(), "openai:x@http://127.0.0.1:9/v1")
    with failing(DisconnectedError) as error:
        client(retries=1).send(nowhere)
    assert isinstance(error.value, ModelError)
    assert error.value.unsettled == 0


def test_only_openai_itself_needs_a_key_and_a_wrong_one_names_its_variable(stub: AnthropicStub) -> None:
    client(key="").require_key(f"openai:x@{stub.base_url}/v1")
    with pytest.raises(CredentialsError, match="OPENAI_API_KEY is not set"):
        client(key="").send(prompt_of(question(), "openai:some-model"))
    with failing(CredentialsError) as error:
        sent(stub, gives(PICK), key="another-key")
    assert "OPENAI_API_KEY" in error.value.message


def test_calls_of_tools_and_their_results_go_both_ways() -> None:
    request = Request(
        role="agent",
        messages=(
            user_message("Count."),
            ModelMessage("assistant", (TextBlock("I look."), ToolCall("call-1", "run", {"argv": ["ls"]}))),
            ModelMessage("user", (ToolResult("call-1", "a b"), TextBlock("go on"))),
        ),
        answer=str,
        max_tokens=100,
        tools=(ModelTool("run", "Runs.", {"type": "object", "properties": {}}),),
    )
    body = chat_body(prompt_of(request, "openai:x").sent, "x")
    assert body["messages"] == [
        {"role": "user", "content": "Count."},
        {
            "role": "assistant",
            "content": "I look.",
            "tool_calls": [
                {"id": "call-1", "type": "function", "function": {"name": "run", "arguments": '{"argv":["ls"]}'}}
            ],
        },
        {"role": "tool", "tool_call_id": "call-1", "content": "a b"},
        {"role": "user", "content": "go on"},
    ]
    assert isinstance(body["tools"], list)
    call = {"id": "c", "type": "function", "function": {"name": "run", "arguments": '{"argv": ["pwd"]}'}}
    torn = {"id": "d", "type": "function", "function": {"name": "run", "arguments": '{"argv": '}}
    reply = {"content": None, "tool_calls": [call, torn]}
    read = read_reply(
        request, message_of(json.dumps({"choices": [{"message": reply, "finish_reason": "tool_calls"}]}).encode())
    )
    assert read.parts == (
        ToolCall("c", "run", {"argv": ["pwd"]}),
        ToolCall("d", "run", {"unreadable": '{"argv": '}),
    )
    assert (read.stop, read.usage) == ("tool_use", None)


def test_a_server_names_its_models(stub: AnthropicStub) -> None:
    assert "stub-judge" in client().models_of(f"{stub.base_url}/v1")
    with failing(RequestRefusedError):
        client().models_of(f"{stub.base_url}/v2")
