"""Claims about tasks that several tried: what a task asks for and how it ends is taken off, and no more."""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

import msgspec
import pytest

from events.types.claims import HAND_IN, AfterError, AnytimeBefore
from strategies.gate.replay.claimed_episodes import ClaimedEpisodes
from strategies.gate.replay.confounders import confounding
from strategies.gate.replay.decisions import claimed_action, times_done
from strategies.gate.replay.other_attempts import counting_others, goes_with_others, outcomes_of_others
from strategies.gate.stats.conditional_odds import ActionCounts
from strategies.gate.stats.mantel_haenszel import stratifier
from tests.worlds import NO_TABLE, call, episode
from tests.worlds.confounded import ANSWERS, with_rule, with_rules, world

if TYPE_CHECKING:
    from strategies.episodes.episode import EpisodeRecord

LOOK = AfterError(template=NO_TABLE, do="sql:SHOW")
ANYTIME = AnytimeBefore(action=HAND_IN, do="sql:SHOW")


@cache
def lived(name: str, seed: int) -> list[EpisodeRecord]:
    """Live through a world once for all claims."""
    return world(name, seed, episodes=1_200)


@pytest.mark.parametrize("claim", [LOOK, ANYTIME], ids=["after an error", "at any time"])
@pytest.mark.parametrize("name", ["difficulty", "mild difficulty", "local difficulty"])
def test_what_a_task_asks_for_and_how_it_ends_makes_no_effect(
    name: str, claim: AfterError | AnytimeBefore
) -> None:
    zs = []
    for seed in (seeds := range(4)):
        cause = confounding(ClaimedEpisodes(claim, lived(name, seed)))
        zs.append(cause.risk_difference / cause.error)
    assert abs(sum(zs)) < 3 * len(zs) ** 0.5, f"seeds {list(seeds)}: z {zs}"


def test_a_task_that_asks_for_an_action_in_one_place_alone_shows_in_the_other_attempts() -> None:
    cause = confounding(ClaimedEpisodes(LOOK, lived("local difficulty", 1)))
    assert cause.same_task
    assert cause.others is not None
    assert cause.others.value > 3 * cause.others.error


def test_tasks_are_compared_with_each_other_where_nothing_speaks_against_it() -> None:
    cause = confounding(ClaimedEpisodes(LOOK, with_rule(world("null", 4, episodes=1_200), LOOK, 4, lift=0.2)))
    assert not cause.same_task
    assert cause.others is not None
    assert cause.others.value + cause.others.error <= cause.error
    assert cause.error < 0.045  # within tasks .06: half of the sessions tell as much
    assert cause.risk_difference == pytest.approx(0.2, abs=2 * cause.error)


def test_an_action_that_is_done_in_one_place_alone_is_held_against_the_other_attempts() -> None:
    cause = confounding(ClaimedEpisodes(LOOK, with_rules(3, episodes=1_200, answers=ANSWERS)))
    assert cause.same_task  # how often all do it elsewhere, never, says nothing of a task
    assert cause.risk_difference == pytest.approx(0.3, abs=3 * cause.error)


def test_where_each_task_was_tried_once_there_are_no_others() -> None:
    records = [msgspec.structs.replace(r, task=r.id) for r in world("null", 1, episodes=200)]
    assert confounding(ClaimedEpisodes(LOOK, records)).others is None
    assert outcomes_of_others(records, stratifier(records)) == {}


def test_what_others_did_and_came_to_is_counted_without_ones_own() -> None:
    steps = [call("sql:SELECT", NO_TABLE), call("sql:SHOW"), call("sql:SHOW"), call("sql:DESC"), call("submit")]
    own, other = episode(steps, run="a"), episode([call("sql:DESC"), call("sql:SHOW")], run="b", outcome=0.0)
    stranger = episode(steps, run="b", task="t2", outcome=1.0)
    subject = claimed_action(LOOK)
    assert times_done(subject, [own, other]) == [
        (1, 2),
        (1, 1),
    ]  # neither after a failure, nor the first, nor submit
    count = counting_others(subject, [own, other, stranger])
    assert count(own, ActionCounts(1, 1, 1, 2)) == ActionCounts(1, 1, 1, 1)
    assert outcomes_of_others([own, other, stranger], stratifier([own, other])) == {own.id: -0.5, other.id: 0.0}


def test_no_decision_goes_with_how_others_end_where_tasks_are_alike() -> None:
    draws = random.Random(1)
    tasks = [str(number // 3) for number in range(3_000)]
    cause, others = [draws.gauss(0, 1) for _ in tasks], [draws.gauss(0, 1) for _ in tasks]
    luck = goes_with_others(cause, tasks, others)
    assert luck is not None
    assert abs(luck.z) < 3
    assert luck.error == pytest.approx(3_000**-0.5, rel=0.1)
    shared = goes_with_others(
        cause, tasks, [0.5 * left + other for left, other in zip(cause, others, strict=True)]
    )
    assert shared is not None
    assert shared.value == pytest.approx(0.5, abs=3 * shared.error)
    assert goes_with_others(cause, tasks, [None] * len(tasks)) is None
