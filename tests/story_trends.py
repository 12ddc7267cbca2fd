"""The story with runs: tasks that passed, failed or did both under each version, and a second evaluator."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from events.sqlite.log import SqliteLog
from events.types.capsule_events import VersionScored
from events.types.score import Score
from registry.decide.commands import ScoreVersion
from registry.registry import Registry
from strategies.episodes.episode import EpisodeOutcome
from strategies.pool.intake import take_in
from strategies.pool.intake_policy import IntakePolicy
from strategies.signals.thresholds import Thresholds
from tests.clocks import TickingClock
from tests.story import COLUMN, TABLE, tell
from tests.worlds import call, episode

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from strategies.episodes.episode import EpisodeRecord

OTHER: Final = "77aab2" + "0" * 58
ENDS: Final = {
    "airports: delayed departures by airline": ("--", "-+", "++"),
    "concerts: singers of the oldest stadium": ("-", "+", "+"),
    "pets: owners without a dog": ("--", "--", "-+"),
    "poker: winnings by month": ("+", "+-", "+"),
    "museum: visitors on opening days": ("++", "++", "++"),
    "orchestra: conductors by year": ("", "+", "-"),
    "tvshow: ratings of the last season": ("-", "-", ""),
}
"""How the runs of each task ended under versions 1, 2 and 3."""


def tell_with_runs(folder: Path) -> Path:
    """Write the story, and beside it the runs of its versions; returns the registry's file."""
    path = tell(folder)
    log = SqliteLog.open(path)
    clock = TickingClock(step_s=3 * 3600, seed=4)
    clock.looks = 66  # where the story ends, by its clock
    registry = Registry(log, clock, "person:ada")
    try:
        quiet = IntakePolicy(Thresholds(error_count=1_000, missing_episodes=1_000))
        take_in(registry, list(_episodes()), policy=quiet)
        scored = VersionScored(
            capsule="sql-analyst",
            version=3,
            score=_score(registry, 0.512, "sealed"),
            audit=_score(registry, 0.498, "audit"),
            cause="evaluator",
        )
        registry.execute(ScoreVersion(scored))
    finally:
        log.close()
    return path


def _episodes() -> Iterator[EpisodeRecord]:
    for task, by_version in ENDS.items():
        for version, ends in enumerate(by_version, 1):
            for at, end in enumerate(ends):
                looks = version > 1 and (at == 0 or version == 3)
                shown = [call("sql:SELECT", TABLE), call("sql:SHOW" if looks else "sql:SELECT")]
                shown += [call("sql:SELECT", COLUMN), call("sql:DESC")] if version == 3 else []
                record = episode(shown, task=task, run="gpt-4_10_turns", trial=version * 10 + at)
                yield msgspec.structs.replace(
                    record,
                    outcome=EpisodeOutcome(1.0 if end == "+" else 0.0, "reward"),
                    skills=(("sql-analyst", str(version)),),
                    source=f"logs/after-{version}.jsonl",
                    name=f"episode {at + 1}",
                )


def _score(registry: Registry, value: float, split: str) -> Score:
    return Score.model_validate(
        {
            "value": value,
            "n": 1_604 if split == "sealed" else 802,
            "low": round(value - 0.018, 3),
            "high": round(value + 0.019, 3),
            "kind": "replay",
            "endpoint": "outcome",
            "evaluator": OTHER,
            "split": split,
            "coverage": 0.94,
            "measured_at": registry.clock.now(),
        }
    )
