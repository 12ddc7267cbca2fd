"""A clock for tests: each look is one second later, each id the next."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from events.clock import rfc3339, uuid7

START = datetime(2026, 11, 1, 12, tzinfo=UTC)


class TickingClock:
    """Tells a time that moves by `step_s` with every look; clocks of different seeds never make the same id."""

    def __init__(self, *, step_s: float = 1.0, seed: int = 1) -> None:
        self.step_s = step_s
        self.seed = seed
        self.looks = 0
        self.ids = 0

    def now(self) -> str:
        """Tell the time as RFC 3339 UTC text."""
        self.looks += 1
        return rfc3339(START + timedelta(seconds=self.step_s * self.looks))

    def new_id(self) -> str:
        """Make the next id."""
        self.ids += 1
        return uuid7(1_800_000_000_000 + self.ids, self.seed.to_bytes(4) + self.ids.to_bytes(6))


class SetClock(TickingClock):
    """Tells the time that a test sets, in seconds after START; each look is a millisecond later."""

    def __init__(self, *, at_s: float = 0.0, seed: int = 1) -> None:
        super().__init__(step_s=0.001, seed=seed)
        self.at_s = at_s

    def now(self) -> str:
        """Tell the time as RFC 3339 UTC text."""
        self.looks += 1
        return rfc3339(START + timedelta(seconds=self.at_s + self.step_s * self.looks))
