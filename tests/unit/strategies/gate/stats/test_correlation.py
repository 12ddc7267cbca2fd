from __future__ import annotations

from math import log, sqrt
from random import Random
from statistics import fmean

import pytest

from strategies.gate.stats.correlation import CorrelatedRun, beside_outcomes, on_mixed_tasks, pearson


def runs(seed: int, *, tasks: int, each: int, follows: float, length: float = 0.0) -> list[CorrelatedRun]:
    """Runs whose figure follows the outcome so far, and a length so far; the rest is noise."""
    random = Random(seed)
    drawn_runs = []
    for task in range(tasks):
        hardness = random.gauss(0, 3)
        for _ in range(each):
            outcome, long = float(random.random() < 0.5), random.gauss(0, 1)
            noise = random.gauss(0, 1)
            figure = hardness + follows * 2 * (outcome - 0.5) + length * long + noise
            drawn_runs.append(CorrelatedRun(f"task {task}", outcome, figure, long))
    return drawn_runs


def test_pearson_is_one_minus_one_and_nothing() -> None:
    assert pearson([1, 2, 3], [2, 4, 6]) == pytest.approx(1.0)
    assert pearson([1, 2, 3], [3, 2, 1]) == pytest.approx(-1.0)
    assert pearson([1, 2, 3], [5, 5, 5]) == 0.0
    assert pearson([], []) == 0.0


def test_tasks_that_all_runs_solve_or_none_does_say_nothing() -> None:
    unmixed = [CorrelatedRun("easy", 1.0, 9.0), CorrelatedRun("easy", 1.0, 3.0), CorrelatedRun("hard", 0.0, 1.0)]
    assert on_mixed_tasks(unmixed) is None
    mixed = [CorrelatedRun("mixed", float(at % 2), float(at % 2)) for at in range(8)]
    correlation = on_mixed_tasks([*unmixed, *mixed])
    assert correlation is not None
    assert (correlation.runs, correlation.tasks) == (8, 1)


def test_a_figure_that_only_tells_easy_tasks_from_hard_ones_goes_with_nothing() -> None:
    random = Random(1)
    drawn_runs = []
    for task in range(60):
        ease = random.random()
        drawn_runs += [CorrelatedRun(str(task), float(random.random() < ease), ease * 5) for _ in range(6)]
    assert pearson([run.figure for run in drawn_runs], [run.outcome for run in drawn_runs]) > 0.4
    correlation = on_mixed_tasks(drawn_runs)
    assert correlation is not None
    assert correlation.r == 0.0


def test_within_one_task_it_is_pearsons_r_with_fishers_interval() -> None:
    drawn_runs = runs(2, tasks=1, each=40, follows=1.0)
    correlation = on_mixed_tasks(drawn_runs)
    assert correlation is not None
    r = pearson([run.figure for run in drawn_runs], [run.outcome for run in drawn_runs])
    z, error = 0.5 * log((1 + r) / (1 - r)), 1 / sqrt(40 - 3)
    assert correlation.r == pytest.approx(r)
    assert 0.5 * log((1 + correlation.low) / (1 - correlation.low)) == pytest.approx(z - 1.959964 * error)
    assert correlation.low < r < correlation.high


def test_what_goes_with_outcomes_is_found_and_what_does_not_is_not() -> None:
    follows = on_mixed_tasks(runs(3, tasks=40, each=5, follows=1.0))
    idle = [on_mixed_tasks(runs(seed, tasks=40, each=5, follows=0.0)) for seed in range(200)]
    assert follows is not None
    assert follows.low > 0.5
    false_alarms = fmean(correlation.p < 0.05 for correlation in idle if correlation is not None)
    assert 0.02 <= false_alarms <= 0.08


def test_a_figure_that_follows_length_is_found_out_and_one_that_follows_the_outcome_is_not() -> None:
    biased = beside_outcomes(runs(4, tasks=40, each=5, follows=0.5, length=0.8))
    fair = [beside_outcomes(runs(seed, tasks=40, each=5, follows=1.0)) for seed in range(200)]
    assert biased is not None
    assert biased.low > 0.3
    assert 0.02 <= fmean(correlation.p < 0.05 for correlation in fair if correlation is not None) <= 0.08


def test_a_length_that_merely_goes_with_success_is_no_bias() -> None:
    """Good answers are longer here: once outcomes are held still, nothing is left."""
    random = Random(5)
    drawn_runs = []
    for task in range(60):
        for _ in range(6):
            outcome = float(random.random() < 0.5)
            drawn_runs.append(
                CorrelatedRun(str(task), outcome, outcome + random.gauss(0, 0.4), outcome + random.gauss(0, 0.4))
            )
    correlation = beside_outcomes(drawn_runs)
    assert correlation is not None
    assert pearson([run.figure for run in drawn_runs], [run.held for run in drawn_runs]) > 0.4
    assert correlation.p > 0.05


def test_too_few_runs_have_no_interval() -> None:
    assert on_mixed_tasks([CorrelatedRun("t", 0.0, 1.0), CorrelatedRun("t", 1.0, 2.0)]) is None
