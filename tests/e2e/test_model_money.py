"""Caps and tapes on a real registry, over real HTTP: nothing is sent that could pass a cap, or is on the tape."""

from __future__ import annotations

import json
import stat
from typing import TYPE_CHECKING

import pytest

from events.errors import NotRecordedError, RefusedError, SpendingCapError, UnknownPriceError, UsageError
from events.model_errors import CutOffError
from registry.actions.erase_evidence import erase
from registry.decide.commands import RecordFact
from registry.evidence.record import LogRecord as Raw
from registry.evidence.record import keep
from registry.projection.projector import rebuild
from registry.query.model_prompts import asked_with
from strategies.models.protocol import Request, user_message
from strategies.models.tape import Tape
from tests.anthropic_stub import COUNTING, AnthropicStub, Step, cuts, gives, says
from tests.asking import PICK, Pick, asked, asking, question
from tests.registries import documents, raised_signal

if TYPE_CHECKING:
    from pathlib import Path

    from registry.registry import Registry
    from strategies.models.recorded_model import RecordedModel


@pytest.fixture
def stub(stub: AnthropicStub) -> AnthropicStub:
    return stub.script("proposer", gives(PICK))


def ask_for_ever(model: RecordedModel) -> None:
    """Ask until something stops it."""
    while True:
        model.ask(question())


# -- caps --------------------------------------------------------------------------------------------------


def test_a_cap_per_cycle_stops_before_the_request_and_a_new_cycle_goes_on(
    registry: Registry, stub: AnthropicStub
) -> None:
    with asking(registry, stub, stub.settings(cap_usd_per_cycle=0.06)) as model:
        model.ask(question())
        with pytest.raises(SpendingCapError) as error:
            ask_for_ever(model)
        sent = len(stub.asked())
        assert error.value.cap == "models.cap_usd_per_cycle"
        assert error.value.spent == pytest.approx(0.02 * sent)
        assert 0.02 * sent <= 0.06
        model.begin_cycle()
        model.ask(question())
    assert len(stub.asked()) == len(asked(registry)) == sent + 1
    assert registry.log.verify().problems == ()


def test_what_the_estimate_would_refuse_is_counted_by_the_server_first(
    registry: Registry, stub: AnthropicStub
) -> None:
    long = question("word " * 4_000)  # 10,000 tokens by the estimate, 4,000 by a tokenizer
    with asking(registry, stub, stub.settings(cap_usd_per_cycle=0.1)) as model:
        with pytest.raises(SpendingCapError):  # the server does not count
            model.ask(long)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(stub, "_tells", lambda _: Step([]))  # or answers something else
            with pytest.raises(SpendingCapError):
                model.ask(long)
        assert stub.asked() == []
        stub.counts = 4_000
        model.ask(long)
        assert [request.path for request in stub.received][-2:] == [COUNTING, "/v1/messages"]
        body = stub.received[-2].body
        assert set(body) == {"model", "system", "messages", "output_config"}
        stub.counts = 9_000
        with pytest.raises(SpendingCapError, match=r"next request may cost 0\.143"):
            model.ask(long)
    with asking(registry, stub, stub.settings(cap_usd_per_cycle=0.02)) as model:
        counted = len(stub.received)
        with pytest.raises(SpendingCapError):
            model.ask(long)  # a full reply alone would pass it
        assert len(stub.received) == counted
    stub.counts = 0


def test_a_cap_per_day_counts_what_another_process_spent(registry: Registry, stub: AnthropicStub) -> None:
    settings = stub.settings(cap_usd_per_day=0.06)
    with asking(registry, stub, settings) as first, asking(registry, stub, settings) as second:
        first.ask(question())
        with pytest.raises(SpendingCapError) as error:
            ask_for_ever(second)
    assert error.value.spent == pytest.approx(0.02 * len(stub.asked()))


def test_a_model_without_a_price_is_not_asked_while_dollars_are_capped(
    registry: Registry, stub: AnthropicStub
) -> None:
    with asking(registry, stub, stub.settings(prices={})) as model, pytest.raises(UnknownPriceError):
        model.ask(question())
    assert stub.received == []
    free = stub.settings(prices={}, cap_usd_per_cycle=0, cap_usd_per_day=0)
    with asking(registry, stub, free) as model:
        assert model.ask(question()).cost_usd is None
    assert asked(registry)[0].cost_usd is None


def test_a_reply_that_was_paid_for_can_be_taken_again(registry: Registry, stub: AnthropicStub) -> None:
    with asking(registry, stub) as model:
        paid = model.ask(question(again=True))
        assert model.ask(question(again=True)) == paid
        assert len(stub.asked()) == 1
        model.ask(question())
    assert len(stub.asked()) == 2


# -- tapes -------------------------------------------------------------------------------------------------


def test_what_was_recorded_once_is_replayed_without_a_key_or_a_server(
    registry: Registry, stub: AnthropicStub, tmp_path: Path
) -> None:
    path = tmp_path / "tapes" / "run.jsonl"
    with asking(registry, stub, tape=Tape.open(path)) as model:
        live = model.ask(question())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    head = registry.log.head().position
    with asking(registry, stub, key="", sends=False, tape=Tape.open(path)) as model:
        again = model.ask(question())
    assert again == live
    assert len(stub.asked()) == 1
    first, second = asked(registry)
    assert second == first.model_copy(update={"replayed": True})
    assert registry.log.head().position == head + 1


def test_a_prompt_that_is_not_on_the_tape_is_named(
    registry: Registry, stub: AnthropicStub, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    with asking(registry, stub, tape=Tape.open(path)) as model:
        model.ask(question())
    with asking(registry, stub, tape=Tape.open(path)) as model:
        wanted = model.prompt(question("Which else?"))
        with pytest.raises(NotRecordedError) as error:
            model.ask(question("Which else?"))
    assert error.value.prompt_hash == wanted.hash
    assert wanted.hash[:16] in error.value.message
    assert "--model-record" in error.value.hint
    assert len(stub.asked()) == 1


def test_a_tape_takes_on_what_it_lacks_when_it_is_told_to(
    registry: Registry, stub: AnthropicStub, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    for texts in (["a"], ["a", "b"]):
        with asking(registry, stub, tape=Tape.open(path, record=True)) as model:
            model.ask_all([question(text) for text in texts])
    assert len(stub.asked()) == 2
    assert len(path.read_text().splitlines()) == 3


def test_a_prompt_asked_twice_is_answered_in_the_order_it_was_recorded_and_then_by_the_last(
    registry: Registry, stub: AnthropicStub, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    stub.script("proposer", gives({**PICK, "which": "one"}), gives({**PICK, "which": "two"}))
    with asking(registry, stub, tape=Tape.open(path)) as model:
        for _ in range(2):
            model.ask(question())
    with asking(registry, stub, tape=Tape.open(path)) as model:
        assert [model.ask(question()).answer.which for _ in range(3)] == ["one", "two", "two"]


def test_a_batch_is_recorded_and_replayed_one_by_one(
    registry: Registry, stub: AnthropicStub, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    with asking(registry, stub, stub.settings(batch=True), tape=Tape.open(path)) as model:
        live = model.ask_all([question("a"), question("b")])
    with asking(registry, stub, stub.settings(batch=True), sends=False, tape=Tape.open(path)) as model:
        assert model.ask_all([question("a"), question("b")]) == live
    assert len(stub.batches) == 1


def test_a_reply_of_no_use_is_replayed_as_what_it_was(
    registry: Registry, stub: AnthropicStub, tmp_path: Path
) -> None:
    path = tmp_path / "run.jsonl"
    stub.script("proposer", cuts('{"which"'))
    for _ in range(2):
        with asking(registry, stub, tape=Tape.open(path)) as model, pytest.raises(CutOffError):
            model.ask(question())
    assert len(stub.asked()) == 1


def test_no_secret_is_on_a_tape(registry: Registry, stub: AnthropicStub, tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    secret = "ghp_" + "b2" * 18
    stub.script("agent", says(f"I used {secret}\u2028and a line that only looks like one"))
    request = Request("agent", (user_message(f"Log in with {secret}."),), str, max_tokens=50)
    with asking(registry, stub, tape=Tape.open(path)) as model:
        assert secret in model.ask(request).answer  # what an agent works on is its own
    assert secret in stub.texts("agent")
    assert secret not in path.read_text()
    with asking(registry, stub, sends=False, tape=Tape.open(path)) as model:
        assert "[github-token]" in model.ask(request).answer


@pytest.mark.parametrize(
    "text", ["", "{}\n", "no json\n", '{"schema": "germline/model-replay/1"}\n{"prompt": 1}\n', "\xff"]
)
def test_a_file_that_is_no_tape_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "run.jsonl"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=r"run\.jsonl, line \d, is no recording"):
        Tape.open(path)


def test_a_dry_run_sends_nothing(registry: Registry, stub: AnthropicStub) -> None:
    with asking(registry, stub, sends=False) as model, pytest.raises(RefusedError, match="dry run"):
        model.ask(question())
    assert stub.received == []


# -- what is kept ------------------------------------------------------------------------------------------


def test_a_prompt_is_found_by_its_hash_and_a_rebuild_finds_it_too(registry: Registry, stub: AnthropicStub) -> None:
    with asking(registry, stub) as model:
        reply = model.ask(question())
        model.ask(question())
    (first, second) = asked_with(registry, reply.prompt_hash)
    assert first.event == second.event
    assert first.cycle == second.cycle == model.cycle
    assert first.event.cost_usd == reply.cost_usd
    before = documents(registry)
    rebuild(registry.log)
    assert documents(registry) == before
    assert "asked" in {document.view for document in before}


def raised(registry: Registry, text: str) -> str:
    """Raise a signal with one piece of evidence, and return its id."""
    evidence = keep(Raw("run.jsonl", 1, 0, 9, b"raw", text, "e1"), salt="00" * 16)
    name = registry.log.put_blob(evidence.to_bytes(), kind="evidence")
    signal = raised_signal(fingerprint=f"error_template:{text}", episodes=2, runs=("r",), evidence=(name,))
    registry.execute(RecordFact((signal,)))
    return name


@pytest.mark.parametrize("named", [True, False], ids=["named by the request", "quoted word for word"])
def test_erasing_evidence_erases_the_prompts_that_quote_it_and_their_replies(
    registry: Registry, stub: AnthropicStub, *, named: bool
) -> None:
    text = 'Bob Miller\'s table "orders" is not there'
    name = raised(registry, text)
    shown = "the first of them" if named else f"They saw:\n{text}\n"
    request = Request("proposer", (user_message(shown),), Pick, max_tokens=9, evidence=(name,) if named else ())
    stub.script("proposer", gives(PICK), gives({**PICK, "which": "another"}))
    with asking(registry, stub) as model:
        quoting, other = model.ask(request), model.ask(question())
    erase(registry, [name], "Bob asked for it")
    assert registry.log.get_blob(quoting.prompt_hash) is None
    assert registry.log.get_blob(quoting.kept) is None
    assert registry.log.get_blob(other.prompt_hash) is not None
    assert registry.log.get_blob(other.kept) is not None
    assert registry.log.verify().problems == ()
    assert len(asked(registry)) == 2


def test_events_of_models_are_json_that_says_what_it_was(registry: Registry, stub: AnthropicStub) -> None:
    with asking(registry, stub) as model:
        model.ask(question())
    (envelope,) = registry.log.read(types=("ModelAsked",))
    row = json.loads(envelope.payload)
    assert (row["role"], row["model"], row["outcome"]) == ("proposer", "stub-proposer", "ok")
    assert row["usage"] == {"input": 1000, "output": 200, "cache_write": 0, "cache_read": 0}
    assert row["prompt_hash"] == asked(registry)[0].prompt_hash
