"""Signals over any episodes at all: no order matters, all evidence exists, and strangers change no fingerprint."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from strategies.episodes.episode import EpisodeOutcome
from strategies.episodes.step_marks import CORRECTION, EDIT, REVERT, TESTS_FAILED, TESTS_PASSED, TROUBLES
from strategies.signals.detect import detect
from strategies.signals.quality import quality
from strategies.signals.thresholds import Thresholds
from tests.worlds import call, episode

if TYPE_CHECKING:
    from strategies.episodes.episode import EpisodeRecord

MARKS = sorted({*TROUBLES, EDIT, REVERT, TESTS_PASSED, TESTS_FAILED, CORRECTION})

LOOSE = Thresholds(
    error_count=1,
    error_episodes=1,
    failure_calls=2,
    spike_calls=2,
    abandoned_peers=2,
    missing_episodes=1,
    streak=2,
    uncovered_episodes=2,
    regression_previous=2,
    cusum_alarm_sigma=0.5,
    regression_alpha=0.9,
    burn_calls=1,
)
"""So low that made-up logs of a few steps cross them."""

STEPS = st.builds(
    lambda action, error, marked, kind, actor, duration, at, same, target: msgspec.structs.replace(
        call(action, error, same=same),
        kind=kind,
        actor=actor,
        marks=tuple(sorted(marked)),
        duration_ms=duration,
        started_at=at,
        same_target=target,
    ),
    st.sampled_from(["sql:SELECT", "Bash:pytest", "Edit", ""]),
    st.sampled_from(["", "", "no <*>", "gone"]),
    st.sets(st.sampled_from(MARKS), max_size=2),
    st.sampled_from(["call", "call", "message", "note"]),
    st.sampled_from(["agent", "user"]),
    st.sampled_from([None, 0.0, 1.0, 100.0, 1e6]),
    st.sampled_from([None, "soon", "2026-01-01T00:00:00Z", "2026-01-01T00:03:00", "2026-01-01T05:00:00+02:00"]),
    st.sampled_from([None, 0]),
    st.sampled_from([-1, 0]),
)

EPISODES = st.lists(
    st.builds(
        lambda steps, outcome, run, version, at: msgspec.structs.replace(
            episode(steps, run=run),
            outcome=outcome,
            skills=(("s", version),) if version else (),
            started_at=at,
            ended_by="unknown",
        ),
        st.lists(STEPS, max_size=8),
        st.sampled_from(
            [None, EpisodeOutcome(0.0, "reward"), EpisodeOutcome(1.0, "tests"), EpisodeOutcome(0.5, "heuristic")]
        ),
        st.sampled_from(["r", "s"]),
        st.sampled_from(["", "1", "2", "x"]),
        st.sampled_from([None, "2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z"]),
    ),
    max_size=8,
).map(
    lambda records: [
        msgspec.structs.replace(record, id=f"e{number}", task=f"t{number % 3}")
        for number, record in enumerate(records)
    ]
)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(EPISODES, st.integers(0, 9))
def test_no_order_of_episodes_changes_any_signal_or_its_quality(records: list[EpisodeRecord], seed: int) -> None:
    shuffled = random.Random(seed).sample(records, len(records))
    signals = detect(records, LOOSE)
    assert signals == detect(shuffled, LOOSE)
    assert quality(records, signals) == quality(shuffled, signals)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(EPISODES)
def test_every_occurrence_is_a_step_of_an_episode_that_the_signal_shows_in(records: list[EpisodeRecord]) -> None:
    by_id = {record.id: record for record in records}
    signals = detect(records, LOOSE)
    assert len({signal.fingerprint for signal in signals}) == len(signals)
    for signal in signals:
        assert signal.seen_in == {at.episode for at in signal.occurrences} <= set(by_id)
        assert all(0 <= at.step < len(by_id[at.episode].steps) for at in signal.occurrences)
        assert 0 < signal.severity <= 1
        assert 1 <= signal.episodes == len(signal.seen_in) <= signal.count


@settings(derandomize=True, deadline=None, max_examples=30)
@given(EPISODES)
def test_error_templates_keep_their_fingerprints_whatever_else_is_scanned(records: list[EpisodeRecord]) -> None:
    def templates(of: list[EpisodeRecord]) -> set[str]:
        return {signal.fingerprint for signal in detect(of, LOOSE) if signal.kind == "error_template"}

    assert templates(records[:4]) <= templates(records)
