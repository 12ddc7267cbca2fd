"""Time and identity as text."""

from __future__ import annotations

import re
import uuid
from datetime import UTC, datetime, timedelta, timezone

from events.clock import SystemClock, monotonic_s, pause, rfc3339, uuid7


def test_a_moment_is_written_in_utc_with_six_fraction_digits() -> None:
    moment = datetime(2026, 11, 21, 9, 30, tzinfo=timezone(timedelta(hours=1)))
    assert rfc3339(moment) == "2026-11-21T08:30:00.000000Z"


def test_an_id_is_a_uuid_of_version_7_that_carries_its_milliseconds() -> None:
    made = uuid.UUID(uuid7(1_795_000_000_123, b"\xff" * 10))
    assert (made.version, made.variant) == (7, uuid.RFC_4122)
    assert made.int >> 80 == 1_795_000_000_123


def test_later_ids_sort_behind_earlier_ones() -> None:
    made = [uuid7(unix_ms, bytes(10)) for unix_ms in (1, 2, 1_795_000_000_000, 1_795_000_000_001)]
    assert made == sorted(made)


def test_the_system_clock_tells_now_and_makes_ids_of_its_own() -> None:
    clock = SystemClock()
    before, now, after = rfc3339(datetime.now(UTC)), clock.now(), rfc3339(datetime.now(UTC))
    assert before <= now <= after
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", now)
    assert len({clock.new_id() for _ in range(100)}) == 100


def test_a_pause_is_about_as_long_as_asked() -> None:
    started = monotonic_s()
    pause(0.004)
    assert monotonic_s() - started >= 0.002
