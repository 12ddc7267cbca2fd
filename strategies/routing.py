"""Routing: which skill a signal goes to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from strategies.settled import version_about

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.registry_events import SignalRaised
    from registry.library import Library
    from strategies.answering import Sightings


def routes(library: Library, signals: Iterable[SignalRaised], sightings: Sightings) -> dict[str, str]:
    """Name the skill each signal goes to, by fingerprint; the episodes stand under the versions they ran under.

    A regression goes to the skill that it is about; any other to one whose triggers name it, else to the one most
    of its episodes ran under. "" where there is none: a person names the skill then.
    """
    names = library.names()
    triggers = [
        (trigger.fingerprint, name)
        for name in names
        for gene in library.capsule(name).genes
        for trigger in gene.triggers
    ]
    answering = dict(reversed(triggers))  # the first skill by name counts
    return {one.fingerprint: _route(one, set(names), answering, sightings) for one in signals}


def _route(signal: SignalRaised, names: set[str], answering: dict[str, str], sightings: Sightings) -> str:
    about = version_about(signal)
    if about and about[0] in names:
        return about[0]
    if signal.fingerprint in answering:
        return answering[signal.fingerprint]
    ran_under = Counter(skill for record in sightings.of(signal) for skill, _ in record.skills if skill in names)
    return min(ran_under, key=lambda name: (-ran_under[name], name), default="")
