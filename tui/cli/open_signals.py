"""Open signals: those that no live claim of any skill answers, and that nothing else settled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.select import answered

if TYPE_CHECKING:
    from collections.abc import Collection

    from events.claims import Claim
    from events.registry_events import SignalRaised
    from registry.library import Library


def live_claims(library: Library) -> tuple[Claim, ...]:
    """List the live claims of every skill."""
    capsules = map(library.capsule, library.names())
    return tuple(live.claim for capsule in capsules for gene in capsule.genes for live in gene.claims)


def is_open(signal: SignalRaised, live: tuple[Claim, ...], over: Collection[str]) -> bool:
    """Tell whether a signal still waits for an answer; `over` names those that are settled (settled.py)."""
    return signal.fingerprint not in over and not (signal.template and answered(signal.template, live))
