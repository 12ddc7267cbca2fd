"""Budget: what was spent on models, by the events that say so, and what may still be. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from typing import Final, NamedTuple

from events.errors import SpendingCapError, UnknownPriceError
from events.types.model_events import ModelAsked, ModelBatchSent

_ROUNDING: Final = 1e-9
"""What sums of fractions are off by at most: .1 and .2 stay within .3."""


@dataclass(frozen=True, slots=True)
class ModelCaps:
    """What may be spent; 0 is no cap. Units: US dollars, tokens; a day is one of UTC."""

    usd_per_cycle: float = 0.0
    usd_per_day: float = 0.0
    tokens_per_cycle: int = 0

    @property
    def in_usd(self) -> bool:
        """Whether dollars are capped at all."""
        return self.usd_per_cycle > 0 or self.usd_per_day > 0


class ModelSpending(NamedTuple):
    """What went, or may go, in US dollars and tokens; what has no price counts in tokens alone."""

    usd: float = 0.0
    tokens: int = 0

    def plus(self, other: ModelSpending) -> ModelSpending:
        """Add up."""
        return ModelSpending(self.usd + other.usd, self.tokens + other.tokens)


@dataclass(slots=True)
class SentBatch:
    """A batch that was sent: `left` are the prompts of it that nobody knows the end of yet, in order."""

    sent: ModelBatchSent
    day: str
    cycle: str
    left: list[str]

    @property
    def most(self) -> ModelSpending:
        """What it may still cost: its share of what all of it may cost."""
        share = len(self.left) / len(self.sent.prompts)
        return ModelSpending((self.sent.most_usd or 0.0) * share, round(self.sent.most_tokens * share))


@dataclass(slots=True)
class Ledger:
    """What was spent, by day and by cycle, as far as events were entered; and the batches that have no end yet."""

    by_day: dict[str, ModelSpending] = field(default_factory=dict)
    by_cycle: dict[str, ModelSpending] = field(default_factory=dict)
    batches: dict[str, SentBatch] = field(default_factory=dict)

    def enter(self, event: ModelAsked | ModelBatchSent, *, at: str, cycle: str) -> None:
        """Enter one event, with its time (RFC 3339 UTC) and the cycle that it belongs to; each one once."""
        day = at[: len("2026-01-01")]
        if isinstance(event, ModelBatchSent):
            self.batches[event.batch] = SentBatch(event, day, cycle, list(event.prompts))
            return
        sent = self.batches.get(event.batch)
        if sent is not None and event.prompt_hash in sent.left:
            sent.left.remove(event.prompt_hash)
            if not sent.left:
                del self.batches[event.batch]
        if not event.replayed:
            tokens = event.usage.total if event.usage else event.most_tokens
            spent = ModelSpending(event.cost_usd or 0.0, tokens)
            self.by_day[day] = self.by_day.get(day, ModelSpending()).plus(spent)
            self.by_cycle[cycle] = self.by_cycle.get(cycle, ModelSpending()).plus(spent)

    def on(self, day: str) -> ModelSpending:
        """Tell what was spent on a day, and may still be on what was sent then."""
        sent = [batch.most for batch in self.batches.values() if batch.day == day]
        return reduce(ModelSpending.plus, sent, self.by_day.get(day, ModelSpending()))

    def during(self, cycle: str) -> ModelSpending:
        """Tell what a cycle spent, and may still spend on what it sent."""
        sent = [batch.most for batch in self.batches.values() if batch.cycle == cycle]
        return reduce(ModelSpending.plus, sent, self.by_cycle.get(cycle, ModelSpending()))


@dataclass(frozen=True, slots=True)
class CallEstimate:
    """What a request, or a round of them, may cost at most; `usd` is None where a model has no price."""

    model: str
    usd: float | None
    tokens: int


def require_room(caps: ModelCaps, wanted: CallEstimate, *, cycle: ModelSpending, day: ModelSpending) -> None:
    """Refuse what could pass a cap, given what the cycle and the day have spent so far.

    Raises: SpendingCapError naming the cap; UnknownPriceError where dollars are capped and no price is known.
    """
    if wanted.usd is None and caps.in_usd:
        raise UnknownPriceError(
            f"no price of {wanted.model} is known, and dollars are capped",
            model=wanted.model,
            hint=f'[models.prices."{wanted.model}"] in germline.toml: input, output, cache_write, cache_read',
        )
    usd = wanted.usd or 0.0
    checks = (
        ("models.cap_usd_per_cycle", "this cycle", caps.usd_per_cycle, cycle.usd, usd),
        ("models.cap_usd_per_day", "today (UTC)", caps.usd_per_day, day.usd, usd),
        ("models.cap_tokens_per_cycle", "this cycle", float(caps.tokens_per_cycle), cycle.tokens, wanted.tokens),
    )
    for cap, when, limit, spent, most in checks:
        if limit and spent + most > limit + _ROUNDING:
            raise _refusal(cap, when, limit=limit, spent=spent, most=most)


def _refusal(cap: str, when: str, *, limit: float, spent: float, most: float) -> SpendingCapError:
    def amount(value: float) -> str:
        return f"{value:,.0f} tokens" if "tokens" in cap else f"{value:,.4f}".rstrip("0").rstrip(".") + " USD"

    return SpendingCapError(
        f"{cap} is {amount(limit)}: {amount(spent)} spent {when}, and the next request may cost {amount(most)}",
        cap=cap,
        limit=limit,
        spent=spent,
        most=most,
        hint=f"a higher {cap} under [models] in germline.toml; the same command then goes on",
    )
