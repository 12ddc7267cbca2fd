"""What to work on next: the kind of change by deficit of weight, the signal by severity within its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, TypeVar

from events.claims import AfterError
from strategies.gate.moment import matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.claims import Claim
    from events.parts import Strategy
    from strategies.presets import Weights

KINDS: Final[tuple[Strategy, ...]] = ("repair", "harden", "innovate")
"""The order in which equal deficits are served."""


class Offer(Protocol):
    """A signal that waits for an answer, as `SignalRaised` describes it."""

    @property
    def calls_for(self) -> Strategy:
        """The kind of change the signal calls for."""
        ...

    @property
    def severity(self) -> float:
        """How much it hurts; higher is served first within its kind."""
        ...

    @property
    def fingerprint(self) -> str:
        """What names the signal; decides between equals."""
        ...


class Turn(NamedTuple):
    """One earlier pick: the kind that was served, and the kinds that had something to offer."""

    strategy: Strategy
    offered: tuple[Strategy, ...]


OfferT = TypeVar("OfferT", bound=Offer)


def deficits(history: Iterable[Turn], weights: Weights) -> dict[Strategy, float]:
    """Fold earlier picks into what each kind is still owed, in picks.

    A kind with nothing to offer earns no credit in that turn, so it cannot save up and then crowd others out.
    """
    owed: dict[Strategy, float] = dict.fromkeys(KINDS, 0.0)
    for turn in history:
        for kind, earned in _shares(turn.offered, weights).items():
            owed[kind] += earned
        owed[turn.strategy] -= 1
    return owed


def select(offers: Sequence[OfferT], weights: Weights, owed: Mapping[Strategy, float]) -> OfferT | None:
    """Pick the next signal: of the kinds on offer the one most in deficit, of its signals the most severe.

    Deterministic: equal deficits go by weight, then in the order of `KINDS`; equal severities by fingerprint.
    A kind of weight zero is never chosen; None where nothing else is on offer.
    """
    shares = _shares({offer.calls_for for offer in offers}, weights)
    if not shares:
        return None
    due = max(shares, key=lambda kind: (owed.get(kind, 0.0) + shares[kind], shares[kind], -KINDS.index(kind)))
    of_kind = [offer for offer in offers if offer.calls_for == due]
    return min(of_kind, key=lambda offer: (-offer.severity, offer.fingerprint))


def answered(template: str, live: Iterable[Claim]) -> bool:
    """Tell whether a live claim answers the signal with this template, so that it is not proposed again."""
    return any(isinstance(claim, AfterError) and matches(claim.template, template) for claim in live)


def _shares(offered: Iterable[Strategy], weights: Weights) -> dict[Strategy, float]:
    """Share one pick among the kinds on offer by their weights; zero weights have no share."""
    weighed = {kind: weights.of(kind) for kind in KINDS if kind in set(offered) and weights.of(kind)}
    total = sum(weighed.values())
    return {kind: weight / total for kind, weight in weighed.items()}
