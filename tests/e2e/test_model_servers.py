"""Servers that behave oddly: nobody waits for ever, all that may be billed counts, and no key is told."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from email.utils import formatdate
from traceback import format_exception
from typing import TYPE_CHECKING, Any

import pytest

from events.errors import CredentialsError, GermlineError, RefusedError
from events.model_errors import (
    DisconnectedError,
    MalformedReplyError,
    ModelError,
    RateLimitedError,
    RequestRefusedError,
    TimedOutError,
)
from strategies.models.http_errors import asked_to_wait_s, safe_line
from strategies.models.tape import Tape
from strategies.models.thread_desk import Desk
from tests.anthropic_stub import (
    KEY,
    AnthropicStub,
    Step,
    broken,
    drips,
    drops,
    gives,
    message,
    rate_limited,
    refused,
    says,
)
from tests.asking import PICK, asked, asking, question

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.registry import Registry
    from strategies.models.recorded_model import RecordedModel

FAR = formatdate(4e9, usegmt=True)
"""A date in 2096."""
WORD = "correct-horse-7"
"""A key of a proxy's own, which no rule for secrets knows."""


@pytest.fixture(scope="module")
def server() -> Iterator[AnthropicStub]:
    with AnthropicStub() as server:
        yield server


@pytest.fixture
def stub(server: AnthropicStub) -> AnthropicStub:
    server.key = KEY
    return server.afresh()


def caught(registry: Registry, stub: AnthropicStub, *steps: Step, **settings: object) -> GermlineError:
    """Ask once, and return what was raised."""
    stub.script("proposer", *steps)
    with (
        asking(registry, stub, stub.settings(**settings), key=stub.key) as model,
        pytest.raises(GermlineError) as error,
    ):
        model.ask(question())
    return error.value


def most_usd(model: RecordedModel) -> float:
    """Tell what the question may cost at most."""
    return model.prices.most_usd(model.prompt(question())) or 0.0


# -- waiting -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("date", [FAR, "Mon, 01 Jan 99999 00:00:00 GMT"], ids=["2096", "in no calendar"])
def test_a_server_that_asks_to_wait_until_a_far_date_is_not_waited_for(
    registry: Registry, stub: AnthropicStub, date: str
) -> None:
    step = rate_limited(retry_after=date, retry_after_ms="no number")
    error = caught(registry, stub, step, max_retries=2)
    assert isinstance(error, RateLimitedError)
    assert error.retry_after_s == 1e9
    assert len(stub.asked("proposer")) == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after-ms": "250", "retry-after": "7"}, 0.25),
        ({"retry-after": "-5"}, -5.0),
        ({"retry-after": "1e400"}, 1e9),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_how_long_a_server_asks_to_wait_is_read_as_the_sdk_reads_it(
    headers: dict[str, str], seconds: float | None
) -> None:
    assert asked_to_wait_s(headers) == seconds


def test_a_reply_that_drips_byte_by_byte_is_not_waited_for_longer_than_the_time_out(
    registry: Registry, stub: AnthropicStub
) -> None:
    error = caught(registry, stub, drips(), timeout_s=0.1)
    assert isinstance(error, TimedOutError)
    assert "within 0.1 s (models.timeout_s)" in error.message
    (event,) = asked(registry)
    assert (event.outcome, event.error) == ("lost", "timed_out")
    assert event.cost_usd


# -- money -------------------------------------------------------------------------------------------------


def test_a_try_that_was_lost_counts_beside_the_answer_of_the_next(registry: Registry, stub: AnthropicStub) -> None:
    stub.script("proposer", drops(), gives(PICK))
    with asking(registry, stub, stub.settings(max_retries=1)) as model:
        most = most_usd(model)
        assert model.ask(question()).answer.which == "SHOW"
    lost, answered = asked(registry)
    assert (lost.outcome, lost.error, answered.outcome) == ("lost", "disconnected", "ok")
    assert answered.cost_usd == pytest.approx(0.02)
    assert lost.cost_usd is not None
    assert 0 < lost.cost_usd < most / 2


def test_a_try_that_was_lost_counts_though_the_next_is_refused(registry: Registry, stub: AnthropicStub) -> None:
    error = caught(registry, stub, drops(), broken(), max_retries=1)
    (event,) = asked(registry)
    assert isinstance(error, ModelError)
    assert (event.outcome, event.error) == ("lost", "server_fault")
    assert error.cost_usd == event.cost_usd
    assert event.cost_usd


@pytest.mark.parametrize(
    "usage",
    [
        None,
        {},
        {"input_tokens": 5},
        {"input_tokens": 5, "output_tokens": -1},
        {"input_tokens": 10**400, "output_tokens": 1},
        {"input_tokens": 5, "output_tokens": 1, "cache_read_input_tokens": 10**30},
    ],
    ids=["null", "empty", "half", "negative", "no number holds it", "no context holds it"],
)
def test_an_answer_whose_tokens_nobody_tells_is_of_use_and_counts_as_the_most_it_can_have_cost(
    registry: Registry, stub: AnthropicStub, usage: dict[str, int] | None
) -> None:
    reply = message('{"which": "SHOW", "reasons": []}')
    stub.script("proposer", Step({**reply, "usage": usage}))
    with asking(registry, stub) as model:
        assert model.ask(question()).answer.which == "SHOW"
        most = most_usd(model)
    (event,) = asked(registry)
    assert (event.outcome, event.usage) == ("ok", None)
    assert event.cost_usd == pytest.approx(most)
    assert event.most_tokens > 500


def test_a_result_of_a_batch_that_cannot_be_read_counts_as_the_most_it_can_have_cost(
    registry: Registry, stub: AnthropicStub
) -> None:
    stub.script("proposer", gives(PICK))
    with asking(registry, stub, stub.settings(batch=True)) as model:
        model.pause = lambda _: stub.batches[max(stub.batches)].clear()
        (error,) = model.ask_all([question()])
        most = most_usd(model)
    assert isinstance(error, MalformedReplyError)
    (event,) = asked(registry)
    assert event.outcome == "lost"
    assert event.cost_usd == pytest.approx(most / 2)


# -- interruptions -----------------------------------------------------------------------------------------


def test_ctrl_c_while_a_batch_goes_out_counts_each_prompt_of_it(
    registry: Registry, stub: AnthropicStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    with asking(registry, stub, stub.settings(batch=True)) as model:
        monkeypatch.setattr(model.endpoint, "send_batch", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.ask_all([question("a"), question("b")])
    assert [(event.outcome, event.error) for event in asked(registry)] == [("lost", "interrupted")] * 2


@pytest.mark.parametrize("at_desk", [False, True], ids=["asked directly", "asked at a desk"])
def test_what_nobody_foresaw_is_written_down_and_takes_no_room_for_ever(
    registry: Registry, stub: AnthropicStub, monkeypatch: pytest.MonkeyPatch, *, at_desk: bool
) -> None:
    def odd(*_: object) -> None:
        raise LookupError

    with asking(registry, stub) as model:
        monkeypatch.setattr(model.endpoint, "send", odd)

        @contextmanager
        def opening() -> Iterator[RecordedModel]:
            yield model

        desk = Desk(opening)
        monkeypatch.setattr(desk, "_here", lambda work, *args: work(*args))  # the log belongs to this thread
        with pytest.raises(LookupError):
            desk.ask(question(), within_s=5) if at_desk else model.ask(question())
        assert model._flying == []
    assert [event.outcome for event in asked(registry)] == ["lost"]


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


# -- keys and secrets --------------------------------------------------------------------------------------


def test_a_key_that_looks_like_any_word_stands_in_no_prompt_no_error_and_no_record(
    registry: Registry, stub: AnthropicStub
) -> None:
    stub.key = WORD
    errors = [caught(registry, stub, step) for step in (refused(f"bad key {WORD}"), says(f"it is {WORD}"))]
    with asking(registry, stub, key=WORD) as model, suppress(ModelError):
        model.ask(question(f"is it {WORD}?"))
    assert [type(error) for error in errors] == [RequestRefusedError, MalformedReplyError]
    assert "bad key [api-key]" in errors[0].message
    assert all(WORD not in line for error in errors for line in format_exception(error))  # as --debug shows it
    held: list[Any] = [envelope.payload for envelope in registry.log.read()]
    held += [registry.log.get_blob(name) for name in registry.log.blob_kinds()]
    assert all(WORD.encode() not in body for body in held)
    assert WORD not in stub.texts()


def test_half_a_secret_that_is_cut_off_is_told_no_more_than_a_whole_one() -> None:
    assert "zzz" not in safe_line("x" * 285 + " sk-ant-" + "z" * 30)


def test_the_password_in_an_address_is_not_told(registry: Registry, stub: AnthropicStub) -> None:
    error = caught(registry, stub, gives(PICK), base_url="http://bob:hunter2hunter2@127.0.0.1:1")
    assert isinstance(error, DisconnectedError)
    assert "hunter2" not in error.message


def test_a_header_that_cannot_be_sent_is_told_with_where_it_comes_from(
    registry: Registry, stub: AnthropicStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_CUSTOM_HEADERS", "x-tëam: ä")
    error = caught(registry, stub, gives(PICK))
    assert "no request to stub-proposer can be made" in error.message
    assert "ANTHROPIC_…" in error.hint
    assert [(event.outcome, event.cost_usd) for event in asked(registry)] == [("error", 0.0)]


# -- what is missing ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "content",
    [[], [{"type": "thinking", "thinking": "hm", "signature": "s"}], [{"type": "text", "text": " "}]],
    ids=["no block", "thoughts alone", "blanks"],
)
def test_a_reply_without_text_is_told_as_that(
    registry: Registry, stub: AnthropicStub, content: list[dict[str, Any]]
) -> None:
    error = caught(registry, stub, Step(message(content=content)))
    assert error.message == "the reply to the proposer holds no text"


@pytest.mark.parametrize(("sends", "kind"), [(False, RefusedError), (True, CredentialsError)])
def test_a_recording_that_is_not_there_is_named_where_nothing_can_be_asked(
    registry: Registry, stub: AnthropicStub, tmp_path: Path, *, sends: bool, kind: type[GermlineError]
) -> None:
    tape = Tape.open(tmp_path / "gone.jsonl")
    with asking(registry, stub, key="", sends=sends, tape=tape) as model, pytest.raises(kind) as error:
        model.ask(question())
    assert "gone.jsonl holds no reply to prompt" in error.value.message
    assert stub.received == []
