"""Picks: which signal had its turn and why, in words and as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from strategies.select import KINDS
from tui.cli.words import signal_words
from tui.figures import count, share

if TYPE_CHECKING:
    from events.registry_events import SignalRaised
    from strategies.agenda import Resting
    from strategies.select import Pick


def signal_json(signal: SignalRaised) -> dict[str, Any]:
    """Give a signal as JSON, without its evidence."""
    return {
        "kind": signal.kind,
        "fingerprint": signal.fingerprint,
        "template": signal.template,
        "action": signal.action,
        "count": signal.count,
        "episodes": signal.episodes,
    }


def pick_json(pick: Pick[SignalRaised]) -> dict[str, Any]:
    """Give the reason of a pick: what each kind was owed, how many of each waited, how severe this one is."""
    return {"owed": pick.owed, "waiting": pick.waiting, "severity": pick.offer.severity}


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


def resting_words(resting: Resting) -> str:
    """Say why a signal is left alone, and for how long."""
    turns = count(resting.turns_left, "turn")
    return f"{signal_words(resting.signal)}: {resting.failures} turns in a row promoted nothing; {turns} left"


def resting_json(resting: Resting) -> dict[str, Any]:
    """Give the same as JSON."""
    return {
        "signal": signal_json(resting.signal),
        "failures": resting.failures,
        "turns_left": resting.turns_left,
    }
