"""Sessions without outcomes, in which one action after an error works so often and every other one so often."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import msgspec

from events.types.claims import AfterError
from tests.worlds import NO_TABLE, call, episode

if TYPE_CHECKING:
    import random

    from strategies.episodes.episode import EpisodeRecord

DO_SHOW = AfterError(template=NO_TABLE, do="sql:SHOW")


class World(NamedTuple):
    """How often what the line asks for works, how often what else is done works, and how many do as it says."""

    does: float
    other: float
    obeying: float = 0.5
    met: float = 0.4


def sessions(world: World, draws: random.Random, count: int, *, name: str = "s") -> list[EpisodeRecord]:
    """Draw sessions, each of a task of its own; those that never meet the error just work."""
    made = []
    for number in range(count):
        if draws.random() >= world.met:
            steps = [call("sql:SELECT")]
        else:
            obeys = draws.random() < world.obeying
            works = draws.random() < (world.does if obeys else world.other)
            first = "sql:SHOW" if obeys else draws.choice(["sql:DESC", "Read"])
            last = call("sql:SELECT", "" if works else NO_TABLE)
            steps = [call("sql:SELECT", NO_TABLE), call(first), last]
        record = episode(steps, outcome=None, task=f"{name}{number:05}", run="one")
        made.append(msgspec.structs.replace(record, started_at=f"2026-11-{1 + number * 28 // count:02}T00:00:00Z"))
    return made
