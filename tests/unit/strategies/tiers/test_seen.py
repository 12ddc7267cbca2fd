"""Seen: what a stated bound is worth, and what further sessions do to lines that are false."""

from __future__ import annotations

import random
from statistics import NormalDist

import pytest

from events.types.score import Effect
from events.types.tiers import SeenFigures
from strategies.gate.stats.alpha_spending import nth_share
from strategies.policy.presets import PRESETS
from strategies.tiers.new_evidence import Finding, against_supported, first_sessions, is_due, on_seen
from strategies.tiers.seen import is_offered, seen_figures, seen_in
from tests.worlds import world_with_a_rule
from tests.worlds.seen_worlds import DO_SHOW, World, sessions

PRESET = PRESETS["balanced"]


def line(world: World, draws: random.Random, count: int = 60) -> SeenFigures:
    """What is seen in a world, as often as it takes until that is offered."""
    while True:
        figures = seen_in(DO_SHOW, sessions(world, draws, count))
        assert figures is not None
        if is_offered(figures):
            return figures


def gone(figures: SeenFigures, later: World, draws: random.Random, count: int = 200) -> Finding | None:
    """Look after half of so many further sessions and after all of them; give what took the line back."""
    further = sessions(later, draws, count, name="further")
    for size in (count // 2, count):
        finding = on_seen(DO_SHOW, figures, further[:size], PRESET, 0.0)
        if finding is not None and finding.again is None:
            return finding
    return None


@pytest.mark.parametrize(("alternatives", "of_a_task"), [(1, 1), (1, 4), (8, 1), (8, 4)])
def test_a_stated_bound_holds_in_95_of_100_placebo_lines(alternatives: int, of_a_task: int) -> None:
    """400 lines, each the best looking of so many that all work equally often; sessions of a task are alike."""
    draws, held = random.Random(f"{alternatives} {of_a_task}"), 0
    for _ in range(400):
        chance, lines = draws.choice([0.3, 0.5, 0.7, 0.9]), []
        for _ in range(alternatives):
            tasks = [(f"t{number}", draws.betavariate(2 * chance, 2 - 2 * chance)) for number in range(12)]
            each = [(task, own if of_a_task > 1 else chance) for task, own in tasks]
            hits = [(task, draws.random() < own) for task, own in each for _ in range(of_a_task)]
            lines.append(seen_figures(hits, compared=alternatives))
        held += max(figures.low for figures in lines) <= chance
    assert held >= 0.95 * 400


FALSE = {
    "no better than anything else": (World(0.7, 0.7), World(0.7, 0.7)),
    "worse than anything else": (World(0.6, 0.8), World(0.6, 0.8)),
    "it works no longer, and all do it": (World(0.8, 0.3), World(0.3, 0.3, obeying=0.95)),
}


def test_false_seen_lines_are_taken_back_by_200_further_sessions() -> None:
    taken = {}
    for name, (now, later) in FALSE.items():
        draws = random.Random(name)
        taken[name] = sum(gone(line(now, draws), later, draws) is not None for _ in range(22))
    assert sum(taken.values()) >= 0.9 * 22 * len(FALSE), taken


def test_true_seen_lines_stay_and_say_that_they_were_seen_again() -> None:
    draws, again = random.Random("true"), 0
    for _ in range(30):
        figures = line(World(0.9, 0.4), draws)
        finding = on_seen(DO_SHOW, figures, sessions(World(0.9, 0.4), draws, 200, name="further"), PRESET, 0.0)
        again += finding is not None and finding.again is not None
    assert again >= 27


def test_a_line_that_no_log_can_count_goes_when_its_time_is_over() -> None:
    figures = SeenFigures(worked=4, tried=4, low=0.47)
    assert on_seen(None, figures, [], PRESET, 89.0) is None
    over = on_seen(None, figures, [], PRESET, 90.0)
    assert over is not None
    assert over.again is None


def test_looks_come_at_25_and_then_at_twice_as_many() -> None:
    further = sessions(World(0.9, 0.4), random.Random(1), 130)
    assert [len(first_sessions(further[:size])) for size in (24, 25, 49, 50, 99, 130)] == [0, 25, 25, 50, 50, 100]


GROWING = [int(60 * 1.25**at) // 2 for at in range(20)]
"""Decisions on either side, each time that the logs of a registry have grown by a quarter."""
EFFECTS = [
    Effect(
        risk_difference=0.0,
        low=-0.1,
        high=0.1,
        obeyed=side,
        disobeyed=side,
        tasks=side,
        p=0.5,
        e_value=1.0,
        endpoint="outcome",
        scope=(),
    )
    for side in GROWING
]


def climbs(draws: random.Random, *, spending: bool, lines: int = 8) -> bool:
    """Whether any of some lines without effect climbs while logs grow.

    `spending` asks as the code does; else whenever logs grew, for the next share again and again.
    """
    policy, sent, before = PRESET.policy(), 0, 0
    totals, asked_on = [0.0] * lines, [0] * lines
    for effect in EFFECTS:
        decisions = effect.obeyed + effect.disobeyed
        for at in range(lines):
            totals[at] += draws.gauss(0.0, (decisions - before) ** 0.5)
            if spending and not is_due(effect, asked_on[at], policy):
                continue
            asked_on[at] = decisions
            sent += 1
            if NormalDist().cdf(-totals[at] / decisions**0.5) <= nth_share(policy.alpha, sent if spending else 1):
                return True
        before = decisions
    return False


def test_lines_without_effect_that_are_asked_as_logs_grow_climb_in_at_most_one_of_a_hundred_registries() -> None:
    draws = random.Random(1)
    assert sum(climbs(draws, spending=True) for _ in range(600)) <= 13  # of 6 that are allowed, three errors more
    assert sum(climbs(draws, spending=False) for _ in range(60)) >= 10


def test_a_supported_line_falls_where_later_labels_refute_it_and_stays_where_they_do_not() -> None:
    hurt, helped = world_with_a_rule(4, tasks=100, lift=-0.3), world_with_a_rule(4, tasks=100)
    finding = against_supported(DO_SHOW, hurt)
    assert finding is not None
    assert "less often" in finding.reason
    assert against_supported(DO_SHOW, helped) is None
    assert against_supported(DO_SHOW, hurt[:30]) is None
