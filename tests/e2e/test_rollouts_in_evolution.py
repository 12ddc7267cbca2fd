"""Runs of an agent inside a turn of evolution: after the cheap stages, and before anything is promoted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from strategies.evolve.draft import FOR_REVIEW, NOT_RUN
from strategies.evolve.loop import Plan, evolve
from strategies.policy.presets import PRESETS
from strategies.pool.intake import take_in
from strategies.pool.splits import split_of
from strategies.rollouts.compare.in_turn import ConfiguredTrials
from strategies.rollouts.run.runner import RunCaps
from tests.fake_runs import FakeRunner, rig
from tests.registries import NAME
from tests.worlds import world_with_a_rule

if TYPE_CHECKING:
    from registry.registry import Registry
    from strategies.evolve.results import CycleResult

LEARNED = "SHOW"
"""What the learned line names, and the skill did not before."""

pytestmark = pytest.mark.usefixtures("place")


def rated(gain: float) -> FakeRunner:
    """An agent that does so much better once the learned line stands in the skill."""
    return FakeRunner(lambda text, _: 0.3 + gain * (LEARNED in text))


@dataclass
class Story:
    """A registry with logs that teach one line, and an agent to try it out."""

    registry: Registry

    def turn(self, runner: FakeRunner | None, *, deferred: bool = False, review: bool = False) -> CycleResult:
        trials = None
        if runner is not None:
            harness = rig(self.registry, runner).harness
            trials = ConfiguredTrials(lambda _: True, lambda _: harness, deferred)
        plan = Plan(PRESETS["balanced"], seed=7, skill=NAME, cycles=1, review=review, trials=trials)
        return evolve(self.registry, plan).cycles[0]


@pytest.fixture
def story(registry: Registry) -> Story:
    take_in(registry, world_with_a_rule(3))
    return Story(registry)


def test_what_logs_promote_and_runs_confirm_is_promoted_with_the_figures_of_both(story: Story) -> None:
    result = story.turn(rated(0.6))
    assert result.verdict == "promote"
    assert result.effect is not None
    assert result.rollouts is not None
    assert result.rollouts.difference > 0.4
    assert result.delta is not None
    assert result.delta.value == pytest.approx(result.rollouts.difference)
    assert story.registry.capsule(NAME).version == 2


def test_what_logs_promote_and_runs_refute_is_rejected(story: Story) -> None:
    result = story.turn(rated(-0.2))
    assert result.verdict == "reject"
    assert result.effect is not None
    assert story.registry.capsule(NAME).version == 1
    again = story.turn(rated(0.6))
    assert again.remembered or again.candidate is None


def test_a_failure_in_a_cheap_stage_is_rejected_before_a_run_is_paid_for(registry: Registry) -> None:
    helps, harms = world_with_a_rule(3), world_with_a_rule(3, lift=-0.2)
    key = registry.about().split_key
    seen = [split_of(record.task, key) == "explore" for record in helps]
    take_in(
        registry,
        [helpful if explore else other for helpful, other, explore in zip(helps, harms, seen, strict=True)],
    )
    runner = rated(0.6)
    result = Story(registry).turn(runner)
    assert result.verdict == "reject"
    assert not runner.seen


def test_where_nobody_pays_for_runs_the_candidate_waits_and_evolve_goes_on_from_there(story: Story) -> None:
    held = story.turn(rated(0.6), deferred=True)
    assert (held.verdict, held.reasons[0]) == ("hold", NOT_RUN)
    still = story.turn(rated(0.6), deferred=True)
    assert (still.verdict, still.remembered) == ("hold", True)
    result = story.turn(rated(0.6))
    assert (result.verdict, story.registry.capsule(NAME).version) == ("promote", 2)


def test_a_candidate_held_for_review_before_its_runs_is_not_promoted_without_them(story: Story) -> None:
    held = story.turn(None, review=True)
    assert FOR_REVIEW in held.reasons
    assert story.turn(rated(0.6), deferred=True).verdict == "hold"
    result = story.turn(rated(-0.2))
    assert result.verdict == "reject"


def test_what_runs_let_through_for_review_is_promoted_later_without_running_again(story: Story) -> None:
    held = story.turn(rated(0.6), review=True)
    assert (held.verdict, held.reasons[0]) == ("hold", FOR_REVIEW)
    runner = rated(0.6)
    result = story.turn(runner)
    assert (result.verdict, runner.seen) == ("promote", [])


def test_an_interrupted_turn_goes_on_from_its_finished_runs(story: Story) -> None:
    class Interrupted(FakeRunner):
        def __call__(self, job: object) -> object:  # type: ignore[override]
            if len(self.seen) == 15:
                raise KeyboardInterrupt
            return super().__call__(job)  # type: ignore[arg-type]

    first = Interrupted(rated(0.6).rate)
    with pytest.raises(KeyboardInterrupt):
        story.turn(first)
    again = rated(0.6)
    result = story.turn(again)
    assert result.verdict == "promote"
    assert result.rollouts is not None
    assert result.rollouts.reused >= 13
    assert not set(again.seen) & set(first.seen[:13])


def test_caps_are_held_against_all_that_one_command_runs(story: Story) -> None:
    subject = rig(story.registry, rated(0.6), caps=RunCaps(cost_usd=0.5))
    trials = ConfiguredTrials(lambda _: True, lambda _: subject.harness)
    trials.meter.cost_usd = 0.45  # what candidates before this one cost
    plan = Plan(PRESETS["balanced"], seed=7, skill=NAME, cycles=1, trials=trials)
    (result,) = evolve(story.registry, plan).cycles
    assert result.verdict == "hold"
    assert "cost cap of 0.5 USD" in result.reasons[0]
