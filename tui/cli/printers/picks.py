"""Picks: which signal had its turn and why, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.select.pick import KINDS
from tui.text.numbers import share

if TYPE_CHECKING:
    from events.types.registry_events import SignalRaised
    from strategies.select.pick import Pick


def pick_words(pick: Pick[SignalRaised]) -> str:
    """Say why this kind, and why this signal of it."""
    kind = pick.offer.calls_for
    others = ", ".join(f"{other} {owed_words(pick.owed[other])}" for other in KINDS if other != kind)
    waiting = pick.waiting[kind]
    rank = f"the only {kind} signal" if waiting == 1 else f"the most severe of {waiting:,} {kind} signals"
    return f"{kind} is owed {owed_words(pick.owed[kind])} turns, {others}; {rank}, {share(pick.offer.severity)}"


def owed_words(turns: float) -> str:
    """Write turns that are owed: `.50`, `1.20`, `−.30`."""
    text = f"{abs(turns):.2f}".removeprefix("0")
    return f"−{text}" if turns < 0 and text.strip("0.") else text
