"""Recounts: how often raised signals show by now; their events keep what was known when they were raised."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.registry_events import SignalRaised
    from registry.library import Library, Raised

FIGURES: Final = "signals"
"""The checkpoint that keeps the figures of the last look, by fingerprint: count, episodes, severity, runs."""


def as_counted(library: Library, signals: Iterable[SignalRaised]) -> list[SignalRaised]:
    """Give signals with their figures by now; one that the last look did not find keeps those of its event."""
    body = library.log.checkpoint(FIGURES)
    figures = json.loads(body) if body else {}
    return [_with(one, *figures[one.fingerprint]) if one.fingerprint in figures else one for one in signals]


def raised_as_counted(library: Library) -> list[Raised]:
    """List the signals that were raised, oldest first, with their figures by now."""
    raised = library.signals()
    counted = as_counted(library, [one.event for one in raised])
    return [one._replace(event=event) for one, event in zip(raised, counted, strict=True)]


def _with(signal: SignalRaised, count: int, episodes: int, severity: float, runs: list[str]) -> SignalRaised:
    figures = {"count": count, "episodes": episodes, "severity": severity, "runs": tuple(runs)}
    return signal.model_copy(update=figures)
