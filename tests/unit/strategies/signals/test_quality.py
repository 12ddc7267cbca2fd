"""Quality: precision, recall and lift of signals, against outcomes that are no guess."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest

from strategies.episodes.episode import EpisodeOutcome
from strategies.signals.detect import detect
from strategies.signals.quality import quality
from strategies.signals.signal import Signal
from tests.worlds import call, episode

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.logs.scan import Scan
    from strategies.signals.quality import QualityRow

RECORDS = [
    episode([call("a")], task=f"t{number}", outcome=None if number == 9 else float(number >= 4))
    for number in range(10)
]
"""Nine episodes with an outcome, of which the first four failed, and one without."""


def signal(kind: str, *tasks: int, template: str = "") -> Signal:
    seen = frozenset(RECORDS[task].id for task in tasks)
    return Signal(
        kind=kind,
        fingerprint=f"{kind}{template}",
        template=template,
        action="",
        count=len(tasks),
        episodes=len(tasks),
        runs=(),
        severity=0.0,
        calls_for="repair",
        occurrences=(),
        seen_in=seen,
    )


def test_precision_recall_and_lift_are_counted_over_episodes_with_an_outcome() -> None:
    measured = quality(RECORDS, [signal("x", 0, 1, 2, 5, 9)])
    assert (measured.episodes, measured.failed) == (9, 4)
    (row,) = measured.signals
    assert (row.precision.hits, row.precision.n, row.precision.value) == (3, 4, 0.75)
    assert (row.recall.hits, row.recall.n, row.recall.value) == (3, 4, 0.75)
    assert row.lift == pytest.approx(0.75 / (4 / 9))
    assert (row.precision.low, row.precision.high) == pytest.approx((0.3006, 0.9544), abs=1e-4)


def test_kind_counts_an_episode_once_for_all_of_its_signals() -> None:
    measured = quality(RECORDS, [signal("x", 0, 5, template="a"), signal("x", 0, 1, template="b")])
    (kind,) = measured.kinds
    assert (kind.precision.hits, kind.precision.n, kind.recall.value, kind.fingerprint) == (2, 3, 0.5, "")
    assert [row.fingerprint for row in measured.signals] == ["xb", "xa"]


def test_signals_made_of_outcomes_or_without_any_are_left_out() -> None:
    signals = [signal(kind, 0) for kind in ("regression", "success_streak", "uncovered_failure")]
    assert quality(RECORDS, [*signals, signal("x", 9)]).kinds == ()


def test_outcomes_guessed_from_signals_count_as_none() -> None:
    guessed = [msgspec.structs.replace(record, outcome=EpisodeOutcome(0.0, "heuristic")) for record in RECORDS]
    measured = quality(guessed, [signal("x", 0)])
    assert (measured.episodes, measured.failed, measured.kinds) == (0, 0, ())


def test_without_a_failure_there_is_no_lift() -> None:
    won = [record for record in RECORDS if record.outcome and record.outcome.value == 1]
    (row,) = quality(won, [signal("x", 5)]).kinds
    assert (row.lift, row.precision.value, row.recall.n) == (None, 0.0, 0)


def kinds_of(records: Sequence[EpisodeRecord]) -> dict[str, QualityRow]:
    return {row.kind: row for row in quality(records, detect(records)).kinds}


@pytest.mark.data
def test_on_the_airline_four_of_five_failures_show_no_tool_error(recorded_scan: Callable[[str], Scan]) -> None:
    """89 of 116 failures showed none, and 9 of 36 runs with one still succeeded."""
    errors = kinds_of(recorded_scan("tau_bench_airline").records)["error_template"]
    assert (errors.precision.hits, errors.precision.n, errors.recall.n) == (26, 35, 116)
    assert errors.lift == pytest.approx(1.28, abs=0.01)


@pytest.mark.data
def test_on_sql_an_agent_in_a_loop_has_all_but_lost(intercode: Sequence[EpisodeRecord]) -> None:
    loops = kinds_of(intercode)["retry_loop"]
    assert (loops.precision.n, loops.recall.n) == (2235, 3461)
    assert loops.precision.low > 0.99
    assert loops.recall.value == pytest.approx(0.64, abs=0.01)
