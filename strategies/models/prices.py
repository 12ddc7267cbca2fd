"""Prices: what a reply cost, and what a prompt may cost at most."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from events.types.frozen import Frozen
from events.types.model_events import TokenUsage

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strategies.models.prompts import Prompt

_PER: Final = 1_000_000
_DATED: Final = re.compile(r"-\d{8}$")
"""What the name of a snapshot ends in: it costs what its model costs."""
_PerMillion = Annotated[float, Field(ge=0)]


class Rates(Frozen):
    """US dollars per million tokens, by how they are billed."""

    input: _PerMillion
    output: _PerMillion
    cache_write: _PerMillion
    cache_read: _PerMillion

    def cost_usd(self, usage: TokenUsage) -> float:
        """Tell what tokens cost."""
        parts = (
            usage.input * self.input,
            usage.output * self.output,
            usage.cache_write * self.cache_write,
            usage.cache_read * self.cache_read,
        )
        return sum(parts) / _PER


class LongRates(Rates):
    """What prompts of more than so many tokens cost, whole requests of them."""

    over_tokens: Annotated[int, Field(gt=0)]


class Price(Rates):
    """What one model costs; `cache_from` is the length from which its prompt cache keeps anything, in tokens."""

    cache_from: Annotated[int, Field(ge=0)] = 0
    long: LongRates | None = None

    def of(self, usage: TokenUsage) -> float:
        """Tell what a reply cost, in US dollars."""
        prompt = usage.total - usage.output
        return (self.long if self.long and prompt > self.long.over_tokens else self).cost_usd(usage)


NO_PRICE: Final = Price(input=0, output=0, cache_write=0, cache_read=0)
"""What a model costs that runs on this machine."""


class PriceList(Frozen):
    """Prices as they stood on a day; those that a person gives go before those of the list."""

    date: str
    source: str
    batch_factor: Annotated[float, Field(gt=0, le=1)]
    models: dict[str, Price]

    def price_of(self, model: str) -> Price | None:
        """Return the price of a model, or of the model that a snapshot is of; None where it is not known."""
        return self.models.get(model) or self.models.get(_DATED.sub("", model))

    def cost_usd(self, model: str, usage: TokenUsage, *, batch: bool = False) -> float | None:
        """Tell what a reply cost; None where no price is known."""
        price = self.price_of(model)
        return None if price is None else price.of(usage) * (self.batch_factor if batch else 1.0)

    def most_usd(self, prompt: "Prompt", *, batch: bool = False) -> float | None:
        """Tell what a prompt may cost at most: all of it written to the cache, and a reply of full length."""
        price = self.price_of(prompt.model)
        dearer = prompt.caches and price is not None and price.cache_write > price.input
        held = {"cache_write": prompt.most_input} if dearer else {"input": prompt.most_input}
        return self.cost_usd(prompt.model, TokenUsage(output=prompt.max_tokens, **held), batch=batch)

    def sent_usd(self, prompt: "Prompt") -> float | None:
        """Tell what sending a prompt costs that no reply came to: of what went out, as English text goes."""
        return self.cost_usd(prompt.model, TokenUsage(input=prompt.likely_input))

    def cache_from(self, model: str) -> int:
        """Tell from how many tokens on a model's prompt cache keeps anything; 0 where that is not known."""
        price = self.price_of(model)
        return price.cache_from if price else 0

    def with_prices(self, own: "Mapping[str, Price]") -> "PriceList":
        """Put prices that a person gives before those of the list."""
        return self.model_copy(update={"models": {**self.models, **own}})


@cache
def published_prices() -> PriceList:
    """Read the list that ships with germline."""
    text = Path(__file__).with_name("prices.toml").read_text(encoding="utf-8")
    return PriceList.model_validate(tomllib.loads(text))
