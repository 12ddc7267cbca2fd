"""Rounds as Message Batches, over real HTTP: half the price, gone on with by whoever comes next, paid for once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import CredentialsError, SpendingCapError
from events.model_errors import (
    BatchPendingError,
    CutOffError,
    MalformedReplyError,
    RequestRefusedError,
    ServerFaultError,
)
from events.types.model_events import ModelBatchSent
from strategies.models.protocol import Reply
from tests.anthropic_stub import AnthropicStub, cuts, drops, gives, refused
from tests.asking import PICK, Pick, asked, asking, question

if TYPE_CHECKING:
    from registry.registry import Registry
    from strategies.models.protocol import Request

HALF = 0.01
"""What USAGE costs in a batch."""


def questions(*texts: str) -> list[Request[Pick]]:
    return [question(text) for text in texts]


def sent(registry: Registry) -> list[ModelBatchSent]:
    events = (envelope.event for envelope in registry.log.read(types=("ModelBatchSent",)))
    return [event for event in events if isinstance(event, ModelBatchSent)]


def test_a_round_goes_out_as_one_batch_and_comes_back_in_order_at_half_the_price(
    registry: Registry, stub: AnthropicStub
) -> None:
    stub.script("proposer", lambda body: gives({**PICK, "which": body["messages"][0]["content"][0]["text"]}))
    pauses: list[float] = []
    with asking(registry, stub, stub.settings(batch=True)) as model:
        model.pause = pauses.append
        replies = model.ask_all(questions("a", "b", "a"))
    assert [reply.answer.which for reply in replies if isinstance(reply, Reply)] == ["a", "b", "a"]
    assert [event.cost_usd for event in asked(registry)] == pytest.approx([HALF] * 3)
    assert {event.batch for event in asked(registry)} == {"msgbatch_0001"}
    (batch,) = sent(registry)
    assert batch.prompts == tuple(event.prompt_hash for event in asked(registry))
    assert pauses == [2.0]
    assert [request.path for request in stub.received if request.method == "POST"] == ["/v1/messages/batches"] * 3
    assert registry.log.verify().problems == ()


def test_each_result_of_a_batch_fails_alone_and_what_was_paid_for_is_kept(
    registry: Registry, stub: AnthropicStub
) -> None:
    steps = {"ok": gives(PICK), "cut": cuts('{"which"'), "wrong": refused("prompt is too long"), "gone": drops()}
    stub.script("proposer", lambda body: steps[body["messages"][0]["content"][0]["text"]])
    with asking(registry, stub, stub.settings(batch=True)) as model:
        replies = model.ask_all(questions(*steps))
    assert [type(reply) for reply in replies] == [Reply, CutOffError, RequestRefusedError, ServerFaultError]
    outcomes = [(event.outcome, event.error, event.cost_usd) for event in asked(registry)]
    assert outcomes == [
        ("ok", "", HALF),
        ("max_tokens", "max_tokens", HALF),
        ("error", "request_refused", 0.0),
        ("error", "server_fault", 0.0),
    ]


def test_a_batch_that_is_not_done_is_gone_on_with_and_not_sent_again(
    registry: Registry, stub: AnthropicStub
) -> None:
    stub.script("proposer", gives(PICK))
    stub.polls = 3
    settings = stub.settings(batch=True, batch_wait_s=1.0)
    with asking(registry, stub, settings) as model:
        (first, second) = model.ask_all(questions("a", "b"))
    assert isinstance(first, BatchPendingError)
    assert isinstance(second, BatchPendingError)
    assert first.batch == "msgbatch_0001"
    assert asked(registry) == []
    with asking(registry, stub, stub.settings(batch=True)) as model:  # another process, later on
        replies = model.ask_all(questions("b", "c", "a"))
    assert all(isinstance(reply, Reply) for reply in replies)
    assert [len(rows) for rows in stub.batches.values()] == [2, 1]
    assert sorted(event.batch for event in asked(registry)) == ["msgbatch_0001", "msgbatch_0001", "msgbatch_0002"]


def test_the_same_prompt_twice_in_a_batch_has_two_results_each_taken_once(
    registry: Registry, stub: AnthropicStub
) -> None:
    numbers = iter("123")
    stub.script("proposer", lambda _: gives({**PICK, "which": next(numbers)}))
    stub.polls = 3
    with asking(registry, stub, stub.settings(batch=True, batch_wait_s=1.0)) as model:
        model.ask_all(questions("a", "a"))
    with asking(registry, stub, stub.settings(batch=True)) as model:
        replies = model.ask_all(questions("a", "a", "a"))
    assert [reply.answer.which for reply in replies if isinstance(reply, Reply)] == ["1", "2", "3"]
    assert len(stub.batches) == 2


def test_what_a_batch_may_cost_is_reserved_until_it_has_ended(registry: Registry, stub: AnthropicStub) -> None:
    stub.script("proposer", gives(PICK))
    stub.polls = 2
    with asking(registry, stub, stub.settings(batch=True, batch_wait_s=1.0)) as model:
        model.ask_all(questions("a", "b"))
    (batch,) = sent(registry)
    assert batch.most_usd is not None
    cap = batch.most_usd + 0.001
    with asking(registry, stub, stub.settings(batch=True, cap_usd_per_day=cap)) as model:
        (refusal,) = model.ask_all(questions("c"))
        assert isinstance(refusal, SpendingCapError)
        assert refusal.cap == "models.cap_usd_per_day"
        assert refusal.spent == pytest.approx(batch.most_usd)
        replies = model.ask_all(questions("a", "b"))  # what is out already costs nothing more
    assert all(isinstance(reply, Reply) for reply in replies)


def test_a_batch_that_its_server_lost_is_settled_and_sent_again(registry: Registry, stub: AnthropicStub) -> None:
    stub.script("proposer", gives(PICK))
    stub.polls = 9
    with asking(registry, stub, stub.settings(batch=True, batch_wait_s=1.0)) as model:
        model.ask_all(questions("a"))
        stub.batches.pop("msgbatch_0001")
        (lost,) = model.ask_all(questions("a"))
        assert isinstance(lost, RequestRefusedError)
        stub.batches["msgbatch_0001"] = []
        stub.polls = 0
        (reply,) = model.ask_all(questions("a"))
    assert isinstance(reply, Reply)
    assert len(stub.batches) == 2


def test_a_result_that_is_missing_is_told_and_settled(registry: Registry, stub: AnthropicStub) -> None:
    stub.script("proposer", gives(PICK))
    with asking(registry, stub, stub.settings(batch=True)) as model:
        model.pause = lambda _: stub.batches["msgbatch_0001"].clear()
        (error,) = model.ask_all(questions("a"))
    assert isinstance(error, MalformedReplyError)
    assert [event.error for event in asked(registry)] == ["malformed"]


def test_a_batch_needs_a_key_too(registry: Registry, stub: AnthropicStub) -> None:
    with asking(registry, stub, stub.settings(batch=True), key="") as model, pytest.raises(CredentialsError):
        model.ask_all(questions("a"))
    assert stub.received == []
