"""Open signals: those that no live claim of any skill answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.select import answered

if TYPE_CHECKING:
    from events.claims import Claim
    from events.registry_events import SignalRaised
    from registry.library import Library


def live_claims(library: Library) -> tuple[Claim, ...]:
    """List the live claims of every skill."""
    capsules = map(library.capsule, library.names())
    return tuple(live.claim for capsule in capsules for gene in capsule.genes for live in gene.claims)


def is_open(signal: SignalRaised, live: tuple[Claim, ...]) -> bool:
    """Tell whether a signal still waits for an answer."""
    return not (signal.template and answered(signal.template, live))
