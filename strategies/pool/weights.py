"""How much each origin of others' logs may weigh: near-duplicates once, and none more than its trust allows.

One's own episodes all count: they are what the others are held against.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Final

from strategies.episodes.origins import origin_of_other

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Mapping

    from strategies.episodes.episode import EpisodeRecord, Trust

MOST_BESIDE: Final[Mapping[Trust, float]] = {"team": 1.0, "public": 1 / 3}
"""Episodes that an origin may have for each of all other origins: half of all in a team, a quarter in public."""


def weighed(records: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
    """Leave out what gives an origin more weight than its trust allows; an origin alone keeps all it has.

    Which episodes stay follows from their content hashes. What is weighed stays as it is when it is weighed again.
    """
    own: list[EpisodeRecord] = []
    others: defaultdict[str, dict[Hashable, EpisodeRecord]] = defaultdict(dict)
    for record in sorted(records, key=lambda record: record.id):
        if origin := origin_of_other(record):
            others[origin].setdefault(_alike(record), record)
        else:
            own.append(record)
    sizes = Counter({origin: len(members) for origin, members in others.items()})
    trusts = {origin: min(record.trust for record in members.values()) for origin, members in others.items()}
    total = len(own) + sizes.total()
    for origin, size in sizes.most_common():
        beside = total - size
        if beside:
            sizes[origin] = min(size, max(int(beside * MOST_BESIDE[trusts[origin]]), 1))
            total = beside + sizes[origin]
    kept = (record for origin, members in others.items() for record in list(members.values())[: sizes[origin]])
    return sorted((*own, *kept), key=lambda record: record.id)


def _alike(record: EpisodeRecord) -> Hashable:
    """Give what near-duplicates have in common: run, task, how it ended, and every action with its error."""
    steps = tuple((step.action, step.template) for step in record.steps if step.actor == "agent")
    outcome = None if record.outcome is None else record.outcome.value
    return record.run, record.task, outcome, steps
