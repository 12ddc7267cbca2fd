"""Results of others, judged: luck, one seed's gain and a choice among many do not pass; a real gain does."""

from __future__ import annotations

import random

import pytest

from strategies.interchange.paired_verdict import PairedVerdict, every_seed, judge_pairs

Scores = dict[str, dict[str, float | None]]


def runs(seed: int, tasks: int, seeds: int, gain: float, only: str = "") -> tuple[Scores, Scores]:
    """Draw runs of tasks of unlike difficulty, half of them won before; `only` names the seed that gains."""
    draw = random.Random(seed)
    before: Scores = {}
    after: Scores = {}
    for task in map(str, range(tasks)):
        ease = min(max(draw.gauss(0.5, 0.25), 0.02), 0.98)
        for run in map(str, range(seeds)):
            lift = gain if run == only or not only else 0.0
            before.setdefault(task, {})[run] = float(draw.random() < ease)
            after.setdefault(task, {})[run] = float(draw.random() < ease + lift)
    return before, after


def rule(verdict: PairedVerdict, name: str) -> bool:
    return next(rule.holds for rule in verdict.rules if rule.name == name)


@pytest.mark.parametrize(("tasks", "seeds"), [(200, 1), (100, 2), (50, 4)])
def test_a_real_gain_of_15_points_passes_at_200_pairs_in_most_draws(tasks: int, seeds: int) -> None:
    verdicts = [judge_pairs(*runs(seed, tasks, seeds, 0.15)) for seed in range(30)]
    assert sum(verdict.decision == "promote" for verdict in verdicts) >= 18
    assert all(verdict.pairs == 200 for verdict in verdicts)


def test_a_change_that_does_nothing_passes_in_hardly_a_draw() -> None:
    verdicts = [judge_pairs(*runs(seed, 50, 4, 0.0)) for seed in range(200)]
    assert sum(verdict.decision == "promote" for verdict in verdicts) <= 4
    assert sum(verdict.after > verdict.before for verdict in verdicts) > 60  # where "the mean rose" says yes


def test_a_gain_that_one_seed_alone_shows_is_refused_and_the_seed_is_named() -> None:
    verdicts = [judge_pairs(*runs(seed, 67, 3, 0.45, only="1")) for seed in range(30)]
    assert sum(verdict.decision == "promote" for verdict in verdicts) <= 5
    caught = [verdict for verdict in verdicts if not rule(verdict, "every seed")]
    assert len(caught) >= 20
    assert all("seed 1" in missing for verdict in caught for missing in verdict.missing[-1:])


def test_where_every_seed_gains_the_strongest_of_them_may_gain_more() -> None:
    gains = {str(task): {"0": 0.9, "1": 0.5 if task % 2 else 0.0} for task in range(30)}
    assert every_seed(gains, ("0", "1")).holds
    only = {task: {"0": 0.9, "1": 0.0} for task in gains}
    assert not every_seed(only, ("0", "1")).holds


def test_a_mean_that_rose_by_luck_is_refused_and_the_task_that_got_worse_is_named() -> None:
    before: Scores = {str(task): {"0": 0.0} for task in range(24)}
    before["hard"] = {str(at): 1.0 for at in range(8)}
    after: Scores = {**before, "1": {"0": 1.0}, "2": {"0": 1.0}, "hard": {str(at): 0.0 for at in range(8)}}
    verdict = judge_pairs(before, after)
    assert verdict.after > verdict.before
    assert verdict.decision == "hold"
    assert [(change.task, change.before, change.after) for change in verdict.worse] == [("hard", 1.0, 0.0)]
    assert (verdict.better, verdict.even) == (2, 22)
    assert not verdict.worse[0].sure  # 1 in 256, times 25 tasks


def test_the_best_of_many_that_do_nothing_passes_unless_it_is_charged_for_the_choice() -> None:
    lucky = []
    for world in range(40):
        candidates = [runs(1000 * world + at, 60, 1, 0.0) for at in range(30)]
        lucky.append(max(candidates, key=lambda sides: sum(each["0"] or 0 for each in sides[1].values())))
    assert sum(judge_pairs(*sides).decision == "promote" for sides in lucky) >= 2  # chance is 1 in 100
    assert not any(judge_pairs(*sides, choices=30).decision == "promote" for sides in lucky)


def test_lost_runs_and_runs_without_a_partner_are_counted_and_decide_nothing() -> None:
    before: Scores = {"a": {"0": 1.0, "1": None}, "b": {"0": 0.0, "9": 1.0}, "gone": {"0": 1.0}}
    after: Scores = {"a": {"0": 1.0, "1": 1.0}, "b": {"0": 0.0}, "new": {"0": 0.0, "1": 1.0}}
    verdict = judge_pairs(before, after)
    assert (verdict.pairs, verdict.void, verdict.unpaired) == (2, 1, 4)
    assert (verdict.decision, verdict.figures.difference) == ("reject", 0)


def test_no_pair_at_all_promotes_nothing() -> None:
    verdict = judge_pairs({"a": {"0": 1.0}}, {"b": {"0": 1.0}})
    assert (verdict.pairs, verdict.decision) == (0, "hold")


def test_a_gain_that_is_not_shown_yet_says_how_many_tasks_would_do() -> None:
    verdict = judge_pairs(*runs(5, 40, 1, 0.15))
    assert verdict.decision == "hold"
    needed = [rule.needed for rule in verdict.rules if rule.needed]
    assert needed
    assert all(each.known == 40 < each.needed for each in needed)
