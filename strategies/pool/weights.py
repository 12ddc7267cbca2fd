"""How much an origin of others' logs may weigh: near-duplicates once, and no more than all other episodes.

One's own episodes all count: they are what the others are held against.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from strategies.episodes.origins import origin_of_other

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from strategies.episodes.episode import EpisodeRecord


def weighed(records: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
    """Leave out what would let one origin outweigh all others; one that is alone keeps all it has.

    Which episodes stay follows from their content hashes. What is weighed stays as it is when it is weighed again.
    """
    own: list[EpisodeRecord] = []
    others: defaultdict[str, dict[Hashable, EpisodeRecord]] = defaultdict(dict)
    for record in sorted(records, key=lambda record: record.id):
        if origin := origin_of_other(record):
            others[origin].setdefault(_alike(record), record)
        else:
            own.append(record)
    parts = sorted((list(members.values()) for members in others.values()), key=len)
    beside = len(own) + sum(map(len, parts[:-1]))
    if beside:
        parts[-1:] = [part[:beside] for part in parts[-1:]]
    return sorted((*own, *(record for part in parts for record in part)), key=lambda record: record.id)


def _alike(record: EpisodeRecord) -> Hashable:
    """Give what near-duplicates have in common: run, task, how it ended, and every action with its error."""
    steps = tuple((step.action, step.template) for step in record.steps if step.actor == "agent")
    outcome = None if record.outcome is None else record.outcome.value
    return record.run, record.task, outcome, steps
