"""Counts beside a screen: a log that grows while counting is slow is counted now and then, and at the end."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from registry.decide.commands import SwitchPreset
from tests.clocks import TickingClock
from tests.registries import new_registry
from tests.terminal import SPLIT_KEY
from tui.reads import signal_facts, skills
from tui.session import access as module
from tui.session.access import Access
from tui.session.open_registry import open_library

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from registry.query.library import Library


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """Let each count take two seconds of a clock that nobody waits for, and count the counts."""
    seen = {"now": 0.0, "facts": 0, "weeks": 0}
    facts, week = signal_facts.read_signal_facts, skills.read_week

    def slow_facts(*given: object, **named: object) -> object:
        seen["facts"] += 1
        seen["now"] += 2.0
        return facts(*given, **named)  # type: ignore[arg-type]

    def counted_week(*given: object, **named: object) -> object:
        seen["weeks"] += 1
        return week(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(signal_facts, "read_signal_facts", slow_facts)
    monkeypatch.setattr(skills, "read_week", counted_week)
    monkeypatch.setattr(module, "monotonic", lambda: seen["now"])
    return seen


async def test_a_growing_log_is_counted_a_tenth_of_the_time_and_once_more_at_the_end(
    tmp_path: Path, counted: dict[str, float]
) -> None:
    registry = new_registry(tmp_path, TickingClock(), SPLIT_KEY)

    @contextmanager
    def library() -> Iterator[Library]:
        with open_library(tmp_path / "registry.db") as opened:
            yield opened

    access = Access(library, None, seed=1)
    now = registry.clock.now()
    await access.ready()
    assert await access.waiting(draw_every=10) == {"signals": 0, "review": 0}
    await access.week(now)
    assert (counted["facts"], counted["weeks"], access.behind_s) == (1, 1, None)
    for preset in ("harden", "balanced", "harden"):
        registry.execute(SwitchPreset(preset, "a test"))
        assert await access.look()
        await access.waiting(draw_every=10)
        await access.week(now)
        assert access.behind_s == 20.0
    assert (counted["facts"], counted["weeks"]) == (1, 1)
    counted["now"] += 20.0
    await access.waiting(draw_every=10)
    await access.week(now)
    assert (counted["facts"], counted["weeks"], access.behind_s) == (2, 2, None)
    registry.execute(SwitchPreset("balanced", "a test"))
    await access.look()
    facts = await access.signal_facts(fixes=False)
    assert counted["facts"] == 3  # the screen of signals itself is never behind
    assert await access.signal_facts(fixes=False) is facts
    assert await access.waiting(draw_every=10) == {"signals": 0, "review": 0}
    assert counted["facts"] == 3  # and what it read is counted, not read again
    access.close()
    registry.log.close()
