"""Prices, caps, and what was spent: as pure functions of a list and of events."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from events.errors import SpendingCapError, UnknownPriceError, UsageError
from events.types.model_events import ModelAsked, ModelBatchSent, TokenUsage
from strategies.models.budget import CallEstimate, Ledger, ModelCaps, ModelSpending, require_room
from strategies.models.model_settings import ModelSettings, is_on_this_machine
from strategies.models.prices import LongRates, Price, PriceList, published_prices
from strategies.models.prompts import prompt_of
from tests.asking import question

MILLION = TokenUsage(input=1_000_000)
PRICE = Price(input=2.0, output=10.0, cache_write=2.5, cache_read=0.1)
DAY, NEXT = "2026-11-01T23:59:59.000000Z", "2026-11-02T00:00:00.000000Z"


def listed(**models: Price) -> PriceList:
    return PriceList(date="2026-11-10", source="a test", batch_factor=0.5, models=models)


def event(
    usd: float | None = 0.5, *, tokens: int = 100, batch: str = "", prompt: str = "p1", replayed: bool = False
) -> ModelAsked:
    return ModelAsked(
        role="judge",
        model="m",
        prompt_hash=prompt,
        outcome="ok",
        usage=TokenUsage(input=tokens),
        cost_usd=usd,
        batch=batch,
        replayed=replayed,
    )


# -- prices ------------------------------------------------------------------------------------------------


def test_the_published_prices_have_a_date_and_are_sane() -> None:
    prices = published_prices()
    assert date.fromisoformat(prices.date) >= date(2026, 11, 1)
    for price in prices.models.values():
        assert 0 < price.cache_read < price.input < price.cache_write < price.output


def test_the_published_prices_say_where_they_are_from_and_keep_the_ratios_of_the_price_list() -> None:
    """A prompt that is kept costs a quarter more than one that is not; a batch costs half."""
    prices = published_prices()
    assert "Claude API" in prices.source
    assert prices.batch_factor == 0.5
    for price in prices.models.values():
        for rates in (price, *([price.long] if price.long else [])):
            assert rates.cache_write == pytest.approx(1.25 * rates.input)
            assert rates.cache_read <= 0.1 * rates.input
            assert rates.output == pytest.approx(5 * rates.input)


@pytest.mark.parametrize(
    ("usage", "plain", "batch"),
    [
        (TokenUsage(input=1_000, output=200), 4e-3, 2e-3),
        (TokenUsage(input=1_000, output=200, cache_write=4_000), 14e-3, 7e-3),
        (TokenUsage(input=1_000, output=200, cache_read=40_000), 8e-3, 4e-3),
        (TokenUsage(), 0.0, 0.0),
    ],
    ids=["plain", "written to the cache", "read from it", "nothing"],
)
def test_a_reply_costs_what_the_price_list_says_and_half_in_a_batch(
    usage: TokenUsage, plain: float, batch: float
) -> None:
    assert listed(m=PRICE).cost_usd("m", usage) == pytest.approx(plain, abs=1e-12)
    assert listed(m=PRICE).cost_usd("m", usage, batch=True) == pytest.approx(batch, abs=1e-12)


def test_each_kind_of_token_has_its_price() -> None:
    usage = TokenUsage(input=1_000_000, output=100_000, cache_write=1_000_000, cache_read=10_000_000)
    assert listed(m=PRICE).cost_usd("m", usage) == pytest.approx(2.0 + 1.0 + 2.5 + 1.0)
    assert listed(m=PRICE).cost_usd("m", usage, batch=True) == pytest.approx(3.25)


def test_a_snapshot_costs_what_its_model_costs_and_another_model_is_not_known() -> None:
    prices = listed(m=PRICE)
    assert prices.cost_usd("m-20251001", MILLION) == 2.0
    assert prices.cost_usd("m-mini", MILLION) is None


def test_a_long_prompt_costs_more_in_all_its_parts() -> None:
    dearer = LongRates(over_tokens=1_000, input=4.0, output=20.0, cache_write=5.0, cache_read=0.2)
    prices = listed(m=PRICE.model_copy(update={"long": dearer}))
    assert prices.cost_usd("m", TokenUsage(input=1_000, output=1_000)) == pytest.approx(0.012)
    assert prices.cost_usd("m", TokenUsage(input=500, cache_read=501, output=1_000)) == pytest.approx(0.0221002)


def test_the_prices_of_a_person_go_before_those_of_the_list() -> None:
    own = {"prices": {"claude-haiku-4-5": {"input": 9, "output": 9, "cache_write": 9, "cache_read": 9}}}
    prices = ModelSettings.from_mapping(own).price_list
    assert prices.cost_usd("claude-haiku-4-5", MILLION) == 9.0
    assert prices.price_of("claude-opus-4-5") == published_prices().price_of("claude-opus-4-5")


def test_the_most_that_a_prompt_may_cost_is_all_of_it_cached_and_a_full_reply() -> None:
    prompt = prompt_of(question(), "m")
    assert listed(m=PRICE).most_usd(prompt) == pytest.approx((prompt.most_input * 2.5 + 500 * 10.0) / 1e6)
    assert listed().most_usd(prompt) is None
    uncached = prompt_of(question(), "m", cache_from=512)
    assert listed(m=PRICE).most_usd(uncached) == pytest.approx((uncached.most_input * 2.0 + 500 * 10.0) / 1e6)


def test_what_a_server_counts_goes_before_the_estimate_with_a_margin() -> None:
    prompt = replace(prompt_of(question(), "m"), counted=1_000)
    assert (prompt.most_input, prompt.most_tokens) == (1_050, 1_550)


def test_every_model_of_the_list_but_the_newest_says_from_where_its_cache_keeps_anything() -> None:
    known = {name: price.cache_from for name, price in published_prices().models.items()}
    assert {name for name, tokens in known.items() if not tokens} == {"claude-fable-5-2"}
    assert published_prices().cache_from("claude-haiku-4-5-20251001") == 4_096
    assert published_prices().cache_from("our-own") == 0


# -- caps --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("caps", "cycle", "day", "cap"),
    [
        (ModelCaps(usd_per_cycle=1.0), ModelSpending(0.95, 0), ModelSpending(0.95, 0), "models.cap_usd_per_cycle"),
        (ModelCaps(usd_per_day=5.0), ModelSpending(0.0, 0), ModelSpending(4.95, 0), "models.cap_usd_per_day"),
        (
            ModelCaps(tokens_per_cycle=1_000),
            ModelSpending(0.0, 901),
            ModelSpending(0.0, 901),
            "models.cap_tokens_per_cycle",
        ),
    ],
)
def test_a_request_that_could_pass_a_cap_is_refused_by_its_name(
    caps: ModelCaps, cycle: ModelSpending, day: ModelSpending, cap: str
) -> None:
    with pytest.raises(SpendingCapError) as error:
        require_room(caps, CallEstimate("m", 0.06, 100), cycle=cycle, day=day)
    assert error.value.cap == cap
    assert cap in error.value.message
    require_room(caps, CallEstimate("m", 0.04, 90), cycle=cycle, day=day)
    require_room(ModelCaps(), CallEstimate("m", 1e6, 10**9), cycle=cycle, day=day)


def test_a_cap_is_reached_to_the_cent_whatever_the_order_of_the_sum() -> None:
    require_room(
        ModelCaps(usd_per_cycle=0.3), CallEstimate("m", 0.2, 1), cycle=ModelSpending(0.1, 0), day=ModelSpending()
    )
    require_room(
        ModelCaps(tokens_per_cycle=1_000),
        CallEstimate("m", 0.0, 1),
        cycle=ModelSpending(0.0, 999),
        day=ModelSpending(),
    )
    with pytest.raises(SpendingCapError):
        require_room(
            ModelCaps(tokens_per_cycle=1_000),
            CallEstimate("m", 0.0, 1),
            cycle=ModelSpending(0.0, 1_000),
            day=ModelSpending(),
        )


def test_the_refusal_names_what_was_spent() -> None:
    with pytest.raises(SpendingCapError) as error:
        require_room(
            ModelCaps(usd_per_cycle=2.0),
            CallEstimate("m", 0.0125, 1),
            cycle=ModelSpending(1.99, 0),
            day=ModelSpending(),
        )
    assert error.value.message == (
        "models.cap_usd_per_cycle is 2 USD: 1.99 USD spent this cycle, and the next request may cost 0.0125 USD"
    )
    assert (error.value.limit, error.value.spent, error.value.most) == (2.0, 1.99, 0.0125)


def test_without_a_price_nothing_is_asked_under_a_cap_in_dollars() -> None:
    with pytest.raises(UnknownPriceError, match="no price of own-model is known") as error:
        require_room(
            ModelCaps(usd_per_day=1.0),
            CallEstimate("own-model", None, 1),
            cycle=ModelSpending(),
            day=ModelSpending(),
        )
    assert '[models.prices."own-model"]' in error.value.hint
    require_room(
        ModelCaps(tokens_per_cycle=10),
        CallEstimate("own-model", None, 1),
        cycle=ModelSpending(),
        day=ModelSpending(),
    )


def test_without_a_price_a_cap_in_tokens_still_holds() -> None:
    caps, wanted = ModelCaps(tokens_per_cycle=1_000), CallEstimate("own-model", None, 200)
    require_room(caps, wanted, cycle=ModelSpending(0.0, 800), day=ModelSpending())
    with pytest.raises(SpendingCapError) as error:
        require_room(caps, wanted, cycle=ModelSpending(0.0, 801), day=ModelSpending())
    assert error.value.cap == "models.cap_tokens_per_cycle"


# -- what was spent ----------------------------------------------------------------------------------------


def test_a_day_and_a_cycle_add_up_what_their_events_cost() -> None:
    ledger = Ledger()
    ledger.enter(event(0.5), at=DAY, cycle="c1")
    ledger.enter(event(0.25), at=NEXT, cycle="c1")
    ledger.enter(event(None, tokens=7), at=NEXT, cycle="c2")
    assert ledger.during("c1") == ModelSpending(0.75, 200)
    assert ledger.on("2026-11-02") == ModelSpending(0.25, 107)
    assert ledger.on("2026-11-03") == ModelSpending()


def test_a_replayed_reply_costs_nothing() -> None:
    ledger = Ledger()
    ledger.enter(event(0.5, replayed=True), at=DAY, cycle="c1")
    assert ledger.during("c1") == ModelSpending()


def test_what_was_lost_counts_as_the_most_it_can_have_cost() -> None:
    ledger = Ledger()
    lost = event(0.5).model_copy(update={"usage": None, "most_tokens": 900, "outcome": "lost"})
    ledger.enter(lost, at=DAY, cycle="c1")
    assert ledger.during("c1") == ModelSpending(0.5, 900)


def test_a_batch_is_reserved_prompt_by_prompt_until_each_has_its_end() -> None:
    ledger = Ledger()
    batch = ModelBatchSent(
        role="judge", model="m", batch="b1", prompts=("p1", "p1", "p2", "p3"), most_tokens=4_000, most_usd=4.0
    )
    ledger.enter(batch, at=DAY, cycle="c1")
    assert ledger.on("2026-11-01") == ModelSpending(4.0, 4_000)
    ledger.enter(event(0.5, batch="b1", prompt="p1"), at=NEXT, cycle="c2")
    assert ledger.on("2026-11-01") == ledger.during("c1") == ModelSpending(3.0, 3_000)
    assert ledger.during("c2") == ModelSpending(0.5, 100)
    assert ledger.batches["b1"].left == ["p1", "p2", "p3"]
    for prompt in ("p1", "p2", "p3"):
        ledger.enter(event(0.5, batch="b1", prompt=prompt), at=NEXT, cycle="c2")
    assert ledger.batches == {}
    assert ledger.during("c1") == ModelSpending()


# -- settings ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "message", "hint"),
    [
        ({"propser": "m"}, "propser", "did you mean proposer?"),
        ({"cap_usd_per_day": -1}, "cap_usd_per_day to -1", "docs/configuration.md"),
        ({"prices": {"m": {"input": 1}}}, "prices.m.output", "docs/configuration.md"),
        ({"base_url": "example.com"}, "base_url to 'example.com'", "docs/configuration.md"),
        ({"batch": "yes"}, "batch to 'yes'", "docs/configuration.md"),
    ],
)
def test_settings_that_cannot_be_are_named(table: dict[str, object], message: str, hint: str) -> None:
    with pytest.raises(UsageError) as error:
        ModelSettings.from_mapping(table)
    assert message in error.value.message
    assert error.value.hint == hint


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://127.0.0.1:8080", True),
        ("http://localhost/v1", True),
        ("http://[::1]:80", True),
        ("https://api.example.com", False),
        ("http://127.0.0.1@example.com", False),
        ("http://localhost.example.com", False),
        ("nonsense", False),
    ],
)
def test_an_address_on_this_machine_is_told_from_any_other(address: str, here: bool) -> None:  # noqa: FBT001 - a column of the table above
    assert is_on_this_machine(address) is here
