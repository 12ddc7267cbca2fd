"""What to work on next: the kind of change by deficit of weight, the signal by severity within its kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.types.parts import Strategy
    from strategies.policy.presets import Weights

KINDS: Final[tuple[Strategy, ...]] = ("repair", "harden", "innovate")
"""The order in which equal deficits are served."""


class WaitingSignal(Protocol):
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


class PastPick(NamedTuple):
    """One earlier pick: the kind that was served, and the kinds that had something to offer."""

    strategy: Strategy
    offered: tuple[Strategy, ...]


OfferT = TypeVar("OfferT", bound=WaitingSignal)


def deficits(history: Iterable[PastPick], weights: Weights) -> dict[Strategy, float]:
    """Fold earlier picks into what each kind is still owed, in picks.

    A kind with nothing to offer earns no credit in that turn, so it cannot save up and then crowd others out.
    """
    owed: dict[Strategy, float] = dict.fromkeys(KINDS, 0.0)
    shares: dict[tuple[Strategy, ...], dict[Strategy, float]] = {}
    for turn in history:
        if turn.offered not in shares:
            shares[turn.offered] = _shares(turn.offered, weights)
        for kind, earned in shares[turn.offered].items():
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


class Pick(NamedTuple, Generic[OfferT]):
    """A signal that was picked, and why: what each kind was owed by then, and how many signals of each waited."""

    offer: OfferT
    owed: dict[Strategy, float]
    waiting: dict[Strategy, int]

    @property
    def offered(self) -> tuple[Strategy, ...]:
        """The kinds of change that had something to offer."""
        return tuple(sorted(self.waiting))


def pick(offers: Sequence[OfferT], weights: Weights, history: Iterable[PastPick]) -> Pick[OfferT] | None:
    """Pick the next signal after these turns, and keep the reason; None where nothing may be picked."""
    owed = deficits(history, weights)
    picked = select(offers, weights, owed)
    if picked is None:
        return None
    waiting: dict[Strategy, int] = {}
    for offer in offers:
        waiting[offer.calls_for] = waiting.get(offer.calls_for, 0) + 1
    shares = _shares(waiting, weights)
    return Pick(picked, {kind: owed[kind] + shares.get(kind, 0.0) for kind in KINDS}, waiting)


def preview(
    offers: Sequence[OfferT], weights: Weights, history: Iterable[PastPick], count: int = 5
) -> list[Pick[OfferT]]:
    """Tell what would be picked next, and why, were each pick answered; nothing is mined or measured."""
    turns, waiting = list(history), list(offers)
    picks: list[Pick[OfferT]] = []
    while len(picks) < count and (picked := pick(waiting, weights, turns)) is not None:
        picks.append(picked)
        turns.append(PastPick(picked.offer.calls_for, picked.offered))
        waiting.remove(picked.offer)
    return picks


def _shares(offered: Iterable[Strategy], weights: Weights) -> dict[Strategy, float]:
    """Share one pick among the kinds on offer by their weights; zero weights have no share."""
    there = set(offered)
    weighed = {kind: weight for kind in KINDS if kind in there and (weight := weights.of(kind))}
    total = sum(weighed.values())
    return {kind: weight / total for kind, weight in weighed.items()}
