"""The story with work left to do: open signals of every kind of change, and episodes that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from events.sqlite.log import SqliteLog
from registry.decide.commands import RecordFact
from registry.registry import Registry
from strategies.pool.intake import take_in
from strategies.pool.intake_policy import IntakePolicy
from strategies.signals.thresholds import Thresholds
from tests.clocks import TickingClock
from tests.registries import raised_signal
from tests.story import GROUP, tell
from tests.worlds import call, episode
from tui.screens.host_protocol import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from events.types.parts import Strategy
    from events.types.registry_events import SignalRaised
    from strategies.episodes.episode import EpisodeRecord

SETTINGS = Settings(draw_every=2)
"""Of the two promotions of the story one is drawn for a second look."""

DEADLOCK = "Deadlock found when trying to get lock <*>; try restarting transaction"


def tell_with_work(folder: Path) -> Path:
    """Write the story, and beside it what is left to do; returns the registry's file."""
    path = tell(folder)
    log = SqliteLog.open(path)
    clock = TickingClock(step_s=3 * 3600, seed=3)
    clock.looks = 66  # where the story ends, by its clock
    registry = Registry(log, clock, "person:ada")
    try:
        signals = (
            _signal("error_template", "repair", template=DEADLOCK, count=212, episodes=140, severity=0.21),
            _signal("retry_loop", "harden", action="sql:SELECT", count=310, episodes=96, severity=0.4),
            _signal("repeated_call", "harden", action="sql:DESC", count=64, episodes=41, severity=0.08),
            _signal("missing_capability", "innovate", action="chart:draw", count=18, episodes=17, severity=0.3),
            _signal("permission_denied", "harden", action="sql:DROP", count=3, episodes=3, severity=0.02),
        )
        registry.execute(RecordFact(signals), actor="germline")
        take_in(registry, _episodes(), policy=IntakePolicy(Thresholds(error_count=1_000, missing_episodes=1_000)))
    finally:
        log.close()
    return path


def _signal(
    kind: str,
    calls_for: Strategy,
    *,
    count: int,
    episodes: int,
    severity: float,
    template: str = "",
    action: str = "",
) -> SignalRaised:
    return raised_signal(
        kind,
        fingerprint=f"{kind}:{(template or action)[:12]}",
        calls_for=calls_for,
        template=template,
        action=action,
        count=count,
        episodes=episodes,
        runs=("gpt-4_10_turns",),
        severity=severity,
    )


def _episodes() -> list[EpisodeRecord]:
    shown = [call("sql:SELECT", DEADLOCK), call("sql:SELECT", GROUP), call("sql:DESC"), call("chart:draw")]
    return [
        msgspec.structs.replace(episode(shown, task=f"t{at}"), skills=(("sql-analyst", "3"),)) for at in range(4)
    ]
