"""Usage: the tokens, money and time that an episode took as its log says it; nothing is worked out from prices."""

from __future__ import annotations

from math import fsum
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import msgspec

from strategies.files.log_records import Count, NotObject

if TYPE_CHECKING:
    from collections.abc import Iterable

Amount = NotObject | dict[str, msgspec.Raw]
"""A number as a log writes it, or whatever is in its place: usage never makes a record unreadable."""

N = TypeVar("N", int, float)

MOST_TOKENS: Final = 2**53 - 1
"""The largest number of tokens that is believed, as of all numbers that are kept."""
_MOST_DOLLARS: Final = 1e9
_DIGITS: Final = 15


class Usage(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """What an episode, or a part of it, took; None where its log does not say.

    `input_tokens` are all that the models read, those from a cache among them; `cached_tokens` are these alone.
    `models` are named in the order in which they came. `duration_ms` is set where the log tells it apart from the
    times of steps. Units: cost_usd US dollars, duration_ms milliseconds.
    """

    input_tokens: Count | None = None
    output_tokens: Count | None = None
    cached_tokens: Count | None = None
    cost_usd: Annotated[float, msgspec.Meta(ge=0, le=_MOST_DOLLARS)] | None = None
    duration_ms: Annotated[float, msgspec.Meta(ge=0, le=1e15)] | None = None
    models: tuple[str, ...] = ()


NOTHING_SPENT: Final = Usage()


def usage_of(
    read: Amount = None,
    wrote: Amount = None,
    cached: Amount = None,
    *,
    beside: tuple[Amount, ...] = (),
    cost: Amount = None,
    duration_ms: float | None = None,
    model: str = "",
) -> Usage:
    """Give the usage that a log writes; `beside` are input tokens that `read` does not count, as of a cache."""
    inputs = [number for number in map(tokens, (read, *beside)) if number is not None]
    return Usage(
        min(sum(inputs), MOST_TOKENS) if inputs else None,
        tokens(wrote),
        tokens(cached),
        dollars(cost),
        duration_ms if duration_ms is not None and 0 <= duration_ms <= 1e15 else None,  # noqa: PLR2004 - as above
        (model,) if model else (),
    )


def total(parts: Iterable[Usage]) -> Usage | None:
    """Add up the usage of parts; None where no part says anything."""
    every = [part for part in parts if part != NOTHING_SPENT]
    if not every:
        return None
    costs = [part.cost_usd for part in every if part.cost_usd is not None]
    times = [part.duration_ms for part in every if part.duration_ms is not None]
    return Usage(
        _sum(part.input_tokens for part in every),
        _sum(part.output_tokens for part in every),
        _sum(part.cached_tokens for part in every),
        min(fsum(costs), _MOST_DOLLARS) if costs else None,
        min(fsum(times), 1e15) if times else None,
        tuple(dict.fromkeys(model for part in every for model in part.models)),
    )


def first_known(whole: Usage, parts: Usage) -> Usage:
    """Give the figures of the whole, and those of its parts for what the whole does not say."""
    return Usage(
        _known(whole.input_tokens, parts.input_tokens),
        _known(whole.output_tokens, parts.output_tokens),
        _known(whole.cached_tokens, parts.cached_tokens),
        _known(whole.cost_usd, parts.cost_usd),
        _known(whole.duration_ms, parts.duration_ms),
        tuple(dict.fromkeys((*parts.models, *whole.models))),
    )


def tokens(written: Amount) -> int | None:
    """Read a number of tokens, None for what is none."""
    if isinstance(written, str):
        written = int(written) if written.isascii() and written.isdigit() and len(written) <= _DIGITS else None
    elif isinstance(written, float) and written.is_integer():
        written = int(written)
    return written if type(written) is int and 0 <= written <= MOST_TOKENS else None


def dollars(written: Amount) -> float | None:
    """Read an amount of US dollars, None for what is none."""
    if isinstance(written, bool) or not isinstance(written, (int, float, str)):
        return None
    try:
        amount = float(written)
    except (ValueError, OverflowError):
        return None
    return amount if 0 <= amount <= _MOST_DOLLARS else None


def _known(first: N | None, second: N | None) -> N | None:
    return second if first is None else first


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = [number for number in numbers if number is not None]
    return min(sum(known), MOST_TOKENS) if known else None
