"""Routing: which skill a signal goes to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from strategies.answering import shows_in
from strategies.settled import version_about

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.registry_events import SignalRaised
    from registry.library import Library, Raised
    from strategies.logs.episode import EpisodeRecord


def unrouted(library: Library, signals: Iterable[Raised], episodes: Sequence[EpisodeRecord]) -> list[Raised]:
    """List the signals that find no skill among these episodes, under the versions they ran under."""
    return [one for one in signals if not route(library, one.event, episodes)]


def route(library: Library, signal: SignalRaised, episodes: Iterable[EpisodeRecord]) -> str:
    """Find the skill a signal goes to: one whose triggers name it, else the one most of its episodes ran under.

    A regression goes to the skill that it is about. "" where there is none: a person names the skill then.
    """
    names = library.names()
    about = version_about(signal)
    if about and about[0] in names:
        return about[0]
    for name in names:
        genes = library.capsule(name).genes
        if any(trigger.fingerprint == signal.fingerprint for gene in genes for trigger in gene.triggers):
            return name
    ran_under = Counter(
        skill for record in episodes if shows_in(signal, record) for skill, _ in record.skills if skill in names
    )
    return min(ran_under, key=lambda name: (-ran_under[name], name), default="")
