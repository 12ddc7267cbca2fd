"""Every way that asking a model fails, over real HTTP: a typed error, what was paid for kept, the log whole."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from events.errors import CredentialsError, GermlineError, SpendingCapError, UsageError
from events.model_errors import (
    CutOffError,
    DeclinedError,
    DisconnectedError,
    MalformedReplyError,
    ModelError,
    OverloadedError,
    RateLimitedError,
    RequestRefusedError,
    ServerFaultError,
    TimedOutError,
)
from events.types.model_events import TokenUsage
from strategies.models.protocol import Reply
from tests.anthropic_stub import (
    USAGE,
    AnthropicStub,
    Step,
    broken,
    cuts,
    declines,
    drops,
    fails,
    gives,
    hangs,
    message,
    overloaded,
    rate_limited,
    refused,
    says,
)
from tests.asking import PICK, Pick, asked, asking, question

if TYPE_CHECKING:
    from registry.registry import Registry

TRUNCATED = '{"which": "SHOW", "reas'
PAID = 0.02
"""What USAGE costs at the stub's prices."""


def caught(registry: Registry, stub: AnthropicStub, step: Step, **settings: object) -> GermlineError:
    """Ask once, and return what was raised; the log is whole after it."""
    stub.script("proposer", step)
    with asking(registry, stub, stub.settings(**settings)) as model, pytest.raises(GermlineError) as error:
        model.ask(question())
    assert registry.log.verify().problems == ()
    return error.value


def test_what_a_model_answers_comes_back_read_priced_and_kept(registry: Registry, stub: AnthropicStub) -> None:
    stub.script("proposer", gives(PICK, cache_creation_input_tokens=400, cache_read_input_tokens=2_000))
    with asking(registry, stub) as model:
        reply = model.ask(question())
    assert reply.answer == Pick(which="SHOW", reasons=("it lists the tables",))
    assert reply.usage == TokenUsage(input=1_000, output=200, cache_write=400, cache_read=2_000)
    assert reply.cost_usd == pytest.approx(PAID + 400 * 12.5e-6 + 2_000 * 1e-6)
    (event,) = asked(registry)
    assert (event.outcome, event.usage, event.cost_usd) == ("ok", reply.usage, reply.cost_usd)
    prompt, kept = registry.log.get_blob(event.prompt_hash), registry.log.get_blob(event.reply)
    assert prompt is not None
    assert kept is not None
    (received,) = stub.asked("proposer")
    assert json.loads(prompt) == received.body
    assert received.body["system"][0]["cache_control"] == {"type": "ephemeral"}
    assert json.loads(kept)["content"][0]["text"] == json.dumps(PICK)
    assert reply.actor == f"model:stub-proposer#{event.prompt_hash}"
    assert registry.log.verify().problems == ()


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}\n```\n", "\n ```JSON \n{}\n ```"])
def test_an_answer_in_a_code_fence_is_read(registry: Registry, stub: AnthropicStub, fence: str) -> None:
    stub.script("proposer", says(fence.format(json.dumps(PICK, indent=1))))
    with asking(registry, stub) as model:
        assert model.ask(question()).answer == Pick(which="SHOW", reasons=("it lists the tables",))


@pytest.mark.parametrize(
    ("step", "kind", "outcome"),
    [
        (declines(), DeclinedError, "refusal"),
        (cuts(TRUNCATED), CutOffError, "max_tokens"),
        (Step(message(TRUNCATED, stop="model_context_window_exceeded")), CutOffError, "max_tokens"),
        (says(TRUNCATED), MalformedReplyError, "malformed"),
        (gives({"which": "SHOW"}), MalformedReplyError, "malformed"),
        (gives({**PICK, "more": 1}), MalformedReplyError, "malformed"),
        (gives([PICK]), MalformedReplyError, "malformed"),
    ],
    ids=["refusal", "max_tokens", "context", "truncated json", "field missing", "field too many", "no object"],
)
def test_a_reply_of_no_use_is_kept_with_its_tokens_and_what_it_cost(
    registry: Registry, stub: AnthropicStub, step: Step, kind: type[ModelError], outcome: str
) -> None:
    error = caught(registry, stub, step)
    assert type(error) is kind
    assert isinstance(error, ModelError)
    assert error.exit_code == 1
    (event,) = asked(registry)
    assert (event.outcome, event.error) == (outcome, kind.kind)
    assert event.usage is not None
    assert event.usage.input == USAGE["input_tokens"]
    assert error.cost_usd == event.cost_usd == pytest.approx(PAID if outcome != "refusal" else 0.01025)
    assert error.reply == event.reply
    kept = registry.log.get_blob(event.reply)
    assert kept is not None
    assert json.loads(kept)["stop_reason"] == step.body["stop_reason"]
    assert error.hint == "germline log --type ModelAsked"


@pytest.mark.parametrize(
    ("step", "kind", "word"),
    [
        (rate_limited(), RateLimitedError, "rate_limited"),
        (overloaded(), OverloadedError, "overloaded"),
        (broken(), ServerFaultError, "server_fault"),
        (Step(b"<html>Bad gateway</html>", 502, {"retry-after-ms": "1"}), ServerFaultError, "server_fault"),
        (refused(), RequestRefusedError, "request_refused"),
        (fails(404, "not_found_error", "model: stub-proposer"), RequestRefusedError, "request_refused"),
        (
            fails(413, "request_too_large", "Request exceeds the maximum size"),
            RequestRefusedError,
            "request_refused",
        ),
        (fails(402, "billing_error", "Your credit balance is too low"), RequestRefusedError, "request_refused"),
    ],
    ids=["429", "529", "500", "502", "400", "404", "413", "402"],
)
def test_what_a_server_refuses_costs_nothing_and_is_written_down(
    registry: Registry, stub: AnthropicStub, step: Step, kind: type[ModelError], word: str
) -> None:
    error = caught(registry, stub, step)
    assert type(error) is kind
    assert str(step.status) in error.message
    assert error.hint
    (event,) = asked(registry)
    assert (event.outcome, event.error, event.cost_usd, event.reply) == ("error", word, 0.0, "")
    assert registry.log.get_blob(event.prompt_hash) is not None


def test_what_a_server_says_is_told_on_one_line_and_without_secrets(
    registry: Registry, stub: AnthropicStub
) -> None:
    secret = "sk-ant-" + "z" * 30
    error = caught(registry, stub, refused(f"bad\x1b[31m header:\n{secret}"))
    assert "bad [31m header: [api-key]" in error.message
    assert "request req_stub" in error.message


def test_the_sdk_tries_again_and_a_later_answer_counts(registry: Registry, stub: AnthropicStub) -> None:
    stub.script("proposer", rate_limited(), overloaded(), gives(PICK))
    with asking(registry, stub, stub.settings(max_retries=2)) as model:
        assert model.ask(question()).answer.which == "SHOW"
    assert len(stub.asked("proposer")) == 3
    assert [event.outcome for event in asked(registry)] == ["ok"]


@pytest.mark.parametrize(("asks", "hint"), [("3600", "in 3,600 s"), ("inf", "in 1,000,000,000 s")])
def test_a_server_that_asks_to_wait_for_long_is_not_waited_for(
    registry: Registry, stub: AnthropicStub, asks: str, hint: str
) -> None:
    step = rate_limited(retry_after=asks, retry_after_ms="no number")
    error = caught(registry, stub, step, max_retries=2)
    assert isinstance(error, RateLimitedError)
    assert hint in error.hint
    assert len(stub.asked("proposer")) == 1


@pytest.mark.parametrize("step", [drops(), drops(halfway=True)], ids=["before the reply", "in the middle of it"])
def test_a_dropped_connection_counts_as_what_was_sent(registry: Registry, stub: AnthropicStub, step: Step) -> None:
    error = caught(registry, stub, step)
    assert isinstance(error, DisconnectedError)
    assert "the connection broke" in error.message
    (event,) = asked(registry)
    assert (event.outcome, event.error, event.usage) == ("lost", "disconnected", None)
    assert event.cost_usd is not None
    assert 0 < event.cost_usd < 500 * 50e-6  # the prompt, and no reply of full length
    assert 0 < event.most_tokens < 500


def test_a_model_that_its_server_does_not_know_is_asked_once(registry: Registry, stub: AnthropicStub) -> None:
    unknown = fails(404, "not_found_error", "model: stub-proposer")
    stub.script("proposer", unknown, unknown)
    with asking(registry, stub) as model:
        answers = model.ask_all([question("a"), question("b")])
    assert [type(answer) for answer in answers] == [RequestRefusedError] * 2
    assert len(stub.asked("proposer")) == 1


def test_a_server_that_is_not_there_cost_nothing(registry: Registry, stub: AnthropicStub) -> None:
    with AnthropicStub() as gone:
        address = gone.base_url
    error = caught(registry, stub, gives(PICK), base_url=address)
    assert isinstance(error, DisconnectedError)
    assert "there is no connection" in error.message
    (event,) = asked(registry)
    assert (event.outcome, event.cost_usd, event.most_tokens) == ("error", 0.0, 0)


def test_a_reply_that_does_not_come_in_time_may_have_cost_each_try(
    registry: Registry, stub: AnthropicStub
) -> None:
    once = caught(registry, stub, hangs(), timeout_s=0.2)
    assert isinstance(once, TimedOutError)
    assert "within 0.2 s (models.timeout_s)" in once.message
    (event,) = asked(registry)
    assert (event.outcome, event.error) == ("lost", "timed_out")
    assert once.cost_usd == event.cost_usd
    assert event.cost_usd
    caught(registry, stub, hangs(), timeout_s=0.2, max_retries=1)
    assert asked(registry)[1].cost_usd == pytest.approx(2 * event.cost_usd)


def test_what_is_no_message_at_all_is_kept_as_it_came(registry: Registry, stub: AnthropicStub) -> None:
    page = b"<html>Sign in to the proxy, token=abcdef1234567890</html>"
    error = caught(registry, stub, Step(page))
    assert isinstance(error, MalformedReplyError)
    (event,) = asked(registry)
    kept = registry.log.get_blob(event.reply)
    assert kept is not None
    assert kept.startswith(b"<html>Sign in to the proxy, token=[assigned-token]")
    assert event.usage is None
    assert event.cost_usd


@pytest.mark.parametrize(
    ("status", "kind"), [(401, "authentication_error"), (403, "permission_error")], ids=["invalid", "not allowed"]
)
def test_a_refused_key_ends_with_4_and_the_command_that_sets_it(
    registry: Registry, stub: AnthropicStub, status: int, kind: str
) -> None:
    error = caught(registry, stub, fails(status, kind, "invalid x-api-key"), max_retries=2)
    assert isinstance(error, CredentialsError)
    assert error.exit_code == 4
    assert error.hint.startswith("export ANTHROPIC_API_KEY=")
    assert len(stub.asked("proposer")) == 1
    assert [event.error for event in asked(registry)] == ["credentials"]


def test_without_a_key_nothing_is_sent(registry: Registry, stub: AnthropicStub) -> None:
    before = registry.log.head()
    with asking(registry, stub, key="") as model, pytest.raises(CredentialsError) as error:
        model.ask(question())
    assert (error.value.exit_code, error.value.hint) == (4, "export ANTHROPIC_API_KEY=…    germline doctor")
    assert stub.received == []
    assert registry.log.head() == before


@pytest.mark.parametrize("key", ["…", "two words", "sk-ant-\x7f"])
def test_what_can_be_no_key_is_told_before_anything_is_sent(
    registry: Registry, stub: AnthropicStub, key: str
) -> None:
    with asking(registry, stub, key=key) as model, pytest.raises(CredentialsError, match="no key is made of"):
        model.ask(question())
    assert stub.received == []


def test_a_key_may_end_in_a_line_end(registry: Registry, stub: AnthropicStub) -> None:
    stub.script("proposer", gives(PICK))
    with asking(registry, stub, key=f"{stub.key}\n") as model:
        assert model.ask(question()).answer.which == "SHOW"


@pytest.mark.parametrize("address", ["http://[::1", "http://127.0.0.1:99999"])
def test_an_address_that_is_none_is_told(registry: Registry, stub: AnthropicStub, address: str) -> None:
    error = caught(registry, stub, gives(PICK), base_url=address)
    assert isinstance(error, DisconnectedError)
    assert "there is no connection" in error.message


def test_the_key_stands_in_no_event_and_no_blob(registry: Registry, stub: AnthropicStub) -> None:
    stub.script("proposer", says(f"the key is {stub.key}"))
    with asking(registry, stub) as model, pytest.raises(MalformedReplyError):
        model.ask(question(f"is it {stub.key}?"))
    assert stub.key not in stub.texts()
    (event,) = asked(registry)
    held = [registry.log.get_blob(event.prompt_hash), registry.log.get_blob(event.reply)]
    held += [envelope.payload for envelope in registry.log.read()]
    assert all(body is not None and stub.key.encode() not in body for body in held)


def test_ctrl_c_while_waiting_is_written_down_as_lost(
    registry: Registry, stub: AnthropicStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with asking(registry, stub) as model:
        monkeypatch.setattr(model.endpoint, "send", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.ask(question())
    assert [(event.outcome, event.error) for event in asked(registry)] == [("lost", "interrupted")]


def test_one_question_of_a_round_that_fails_takes_no_other_with_it(
    registry: Registry, stub: AnthropicStub
) -> None:
    stub.script("proposer", gives(PICK), overloaded(), declines(), gives(PICK))
    with asking(registry, stub) as model:
        round_ = model.ask_all([question(f"{number}?") for number in range(4)])
    assert [type(reply).__name__ for reply in round_] == ["Reply", "OverloadedError", "DeclinedError", "Reply"]
    assert [event.outcome for event in asked(registry)] == ["ok", "error", "refusal", "ok"]


def test_where_a_model_declines_the_fallback_of_its_role_is_asked_once_and_named(
    registry: Registry, stub: AnthropicStub
) -> None:
    stub.script("proposer", declines(), gives(PICK), declines(), gives(PICK))
    stub.script("writer", gives(PICK), declines())
    settings = stub.settings(fallback={"proposer": "stub-writer"})
    with asking(registry, stub, settings) as model:
        round_ = model.ask_all([question(f"{number}?") for number in range(3)])
    actors = [answer.actor.partition("#")[0] for answer in round_[:2] if isinstance(answer, Reply)]
    assert actors == ["model:stub-writer", "model:stub-proposer"]
    assert type(round_[2]) is DeclinedError  # the fallback declined as well
    assert [(event.model, event.outcome) for event in asked(registry)] == [
        ("stub-proposer", "refusal"),
        ("stub-writer", "ok"),
        ("stub-proposer", "ok"),
        ("stub-proposer", "refusal"),
        ("stub-writer", "refusal"),
    ]
    with pytest.raises(UsageError, match="judge"):
        stub.settings(fallback={"judge": "stub-writer"})


def test_a_role_without_a_model_says_how_to_name_one(registry: Registry, stub: AnthropicStub) -> None:
    with asking(registry, stub, stub.settings(judge="")) as model, pytest.raises(UsageError) as error:
        model.ask(question(role="judge"))
    assert error.value.hint == 'judge = "MODEL" under [models] in germline.toml'


HANGS = hangs()


@pytest.mark.parametrize(
    ("steps", "tries", "cost", "tokens"),
    [
        ((declines(),), 1, 0.010_25, 1_005),
        ((cuts(TRUNCATED),), 1, PAID, 1_200),
        ((says(TRUNCATED),), 1, PAID, 1_200),
        ((rate_limited(),), 1, 0.0, 0),
        ((rate_limited(), gives(PICK)), 2, PAID, 1_200),
        ((overloaded(),), 1, 0.0, 0),
        ((overloaded(), overloaded(), gives(PICK, cache_read_input_tokens=500)), 3, PAID + 500e-6, 1_700),
        ((HANGS,), 1, None, None),
        ((drops(),), 1, None, None),
        ((drops(halfway=True),), 1, None, None),
        ((fails(401, "authentication_error", "invalid x-api-key"),), 1, 0.0, 0),
    ],
    ids=[
        "refusal",
        "max_tokens",
        "truncated json",
        "429",
        "429 and then an answer",
        "529",
        "529 twice and then an answer",
        "timeout",
        "dropped before the reply",
        "dropped in the middle",
        "invalid key",
    ],
)
def test_whatever_fails_counts_to_the_cent_in_its_event_and_under_the_cap_of_the_day(
    registry: Registry,
    stub: AnthropicStub,
    steps: tuple[Step, ...],
    tries: int,
    cost: float | None,
    tokens: int | None,
) -> None:
    """Where no reply came (cost None) what was sent counts."""
    stub.script("proposer", *steps)
    settings = stub.settings(max_retries=tries - 1, timeout_s=0.3 if steps == (HANGS,) else 10.0)
    with asking(registry, stub, settings) as model, suppress(ModelError, CredentialsError):
        prompt = model.prompt(question())
        model.ask(question())
    if cost is None:
        cost, tokens = settings.price_list.sent_usd(prompt) or 0.0, prompt.likely_input
        assert cost > 0
    (event,) = asked(registry)
    assert event.cost_usd == pytest.approx(cost, abs=1e-9)
    assert (event.usage.total if event.usage else event.most_tokens) == tokens
    stub.script("proposer", gives(PICK))
    most = settings.price_list.most_usd(prompt) or 0.0
    capped = stub.settings(cap_usd_per_day=cost + most - 1e-6)
    with asking(registry, stub, capped) as model, pytest.raises(SpendingCapError) as error:
        model.ask(question())
    assert error.value.cap == "models.cap_usd_per_day"
    assert error.value.spent == pytest.approx(cost, abs=1e-9)
    with asking(registry, stub, stub.settings(cap_usd_per_day=cost + most + 1e-6)) as model:
        assert model.ask(question()).answer.which == "SHOW"
