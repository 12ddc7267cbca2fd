"""The gate against itself: how often it promotes where nothing changed."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from strategies.evolve.run_selftest import every_claim, selftest
from strategies.gate.selftest import against_itself, on_shuffled, shuffled, trials_of
from strategies.gate.stats.mantel_haenszel import Z95
from strategies.policy.presets import PRESETS
from strategies.signals.proportion import wilson
from tests.worlds import call, episode, recovering, world_with_a_rule

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.logs.scan import Scan

BALANCED = PRESETS["balanced"]


def repeated(seed: int, tasks: int = 40) -> dict[tuple[str, str], list[float]]:
    draws = random.Random(seed)
    rates = [draws.betavariate(0.3, 0.3) for _ in range(tasks)]
    return {("run", f"t{n}"): [float(draws.random() < rate) for _ in range(4)] for n, rate in enumerate(rates)}


def test_a_skill_against_itself_is_seldom_promoted_where_the_mean_often_rises() -> None:
    result = against_itself(repeated(1), seed=0)
    assert result.kind == "trials"
    assert result.n == 200
    assert result.false_promotion_rate <= 0.035
    assert result.mean_rises > 0.3
    assert result == against_itself(repeated(1), seed=0)
    assert result != against_itself(repeated(1), seed=1)


def test_the_rate_is_measured_not_assumed() -> None:
    """Trials that were no repeats of one agent, but two of each, would show: half of all splits favour one."""
    biased = {("run", f"t{n}"): [1.0, 1.0, 0.0, 0.0] for n in range(40)}
    assert against_itself(biased, seed=0).mean_rises == pytest.approx(0.45, abs=0.1)
    with pytest.raises(ValueError, match="no task was run 4 times"):
        against_itself({}, seed=0)


def test_trials_are_those_of_one_run_configuration() -> None:
    records = [episode([call("a")], task="t", run=run, trial=n) for run in ("r1", "r2") for n in range(3)]
    assert trials_of(records) == {}
    records += [episode([call("a")], task="t", run="r1", trial=3, outcome=0.0)]
    assert trials_of(records) == {("r1", "t"): [1.0, 1.0, 1.0, 0.0]}


def test_shuffling_keeps_the_outcomes_of_each_run_and_difficulty() -> None:
    records = world_with_a_rule(1, tasks=40)
    dealt = shuffled(records, 5)
    assert {record.id for record in dealt} == {record.id for record in records}

    def pools(episodes: object) -> dict[tuple[str, str], float]:
        sums: dict[tuple[str, str], float] = {}
        for record in episodes:  # type: ignore[attr-defined]
            key = record.run, record.difficulty
            sums[key] = sums.get(key, 0.0) + record.outcome.value
        return sums

    assert pools(dealt) == pools(records)
    assert [r.outcome for r in dealt] != [
        r.outcome for r in sorted(records, key=lambda r: (r.run, r.difficulty, r.id))
    ]


def test_on_shuffled_logs_of_a_world_with_a_rule_nothing_is_promoted() -> None:
    records = world_with_a_rule(2, tasks=150)
    result = on_shuffled(records, tuple(every_claim(records)), seed=0, comparisons=100)
    assert (result.kind, result.n) == ("shuffled", 100)
    assert result.false_promotion_rate <= 0.035
    with pytest.raises(ValueError, match="no claim has enough"):
        on_shuffled(records, (), seed=0)


def test_where_no_outcome_is_known_recovery_is_shuffled_instead() -> None:
    records = recovering(4)
    result = on_shuffled(records, tuple(every_claim(records)), seed=0, comparisons=100)
    assert (result.kind, result.n) == ("recovered", 100)
    assert result.false_promotion_rate <= 0.035 < result.mean_rises
    assert (result.low, result.high) == wilson(round(result.false_promotion_rate * result.n), result.n, Z95)
    begins = [claim for claim in every_claim(records) if claim.kind == "start_with"]
    with pytest.raises(ValueError, match="no claim has enough"):  # a habit has no failure to recover from
        on_shuffled(records, begins, seed=0)


@pytest.mark.data
def test_on_recorded_trials_the_gate_keeps_its_stated_error_rate(recorded_scan: Callable[[str], Scan]) -> None:
    result = selftest(recorded_scan("tau_bench_airline").records, BALANCED, seed=7, comparisons=200)
    assert (result.kind, result.n) == ("trials", 200)
    assert result.false_promotion_rate <= 0.035
    assert result.low <= result.false_promotion_rate <= result.high
    assert result.mean_rises == pytest.approx(5 / 12, abs=0.1)  # the page's figure for common practice


@pytest.mark.data
@pytest.mark.usefixtures("outcomes_alone_differ")
def test_on_recorded_logs_that_are_shuffled_the_gate_keeps_its_stated_error_rate(
    intercode: Sequence[EpisodeRecord],
) -> None:
    result = selftest(intercode, BALANCED, seed=7, comparisons=100)
    assert (result.kind, result.n) == ("shuffled", 100)
    assert result.false_promotion_rate <= 0.035
    assert result.low <= result.false_promotion_rate <= result.high
