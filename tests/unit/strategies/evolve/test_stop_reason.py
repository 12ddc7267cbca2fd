from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.types.runs import AgainstNoSkill
from strategies.evolve.results import CycleResult
from strategies.evolve.stop_reason import harm_of, stop_of
from tests.registries import SHOWN, measured, proposal, rollouts
from tests.worlds import asking, skill_with

if TYPE_CHECKING:
    from events.types.candidate_events import CandidateScored

SIGNAL = asking(()).signal


def turn(harm: str = "") -> CycleResult:
    return CycleResult(strategy="repair", signal=SIGNAL, capsule="skill", harm=harm)


def test_a_run_settles_when_nothing_is_left_and_nothing_just_tried_would_hurt() -> None:
    stop = stop_of([turn("bad"), turn(), turn()], limit=10, capped=False)
    assert stop.settled
    assert stop.why.startswith("settled: no eligible signal is left")
    assert stop_of([], limit=10, capped=False).settled


@pytest.mark.parametrize(
    ("turns", "when"),
    [((turn(), turn("bad")), "the last turn tried"), ((turn("bad"), turn()), "the last turn but one")],
)
def test_a_hurt_verdict_in_the_last_two_turns_keeps_a_run_from_settling(
    turns: tuple[CycleResult, ...], when: str
) -> None:
    stop = stop_of(turns, limit=10, capped=False)
    assert not stop.settled
    assert when in stop.why
    assert stop.why.endswith("bad")


def test_the_cap_says_so_and_settles_nothing() -> None:
    assert stop_of([turn()], limit=1, capped=True) == ("the limit of 1 cycle was reached", False)


def scored(**changes: object) -> CandidateScored:
    return measured(proposal(skill_with(()))).model_copy(update=changes)


def test_harm_is_an_estimate_below_zero_wherever_it_was_measured() -> None:
    worse = SHOWN.model_copy(update={"risk_difference": -0.1})
    hurts = AgainstNoSkill(effect="hurt", difference=-0.1, low=-0.2, high=0.0, tasks=40, nulls=0)
    assert harm_of(None) == ""
    assert harm_of(scored(effect=SHOWN)) == ""
    assert "-0.100" in harm_of(scored(effect=worse))
    assert "-0.100" in harm_of(scored(effect=SHOWN, outcome_effect=worse))
    assert harm_of(scored(rollouts=rollouts(low=-0.1))) == ""
    assert "no skill" in harm_of(scored(rollouts=rollouts(no_skill=hurts)))
    assert "file is there" in harm_of(scored(rollouts=rollouts(lost_anchors=("file is there",))))
    assert "-0.050" in harm_of(scored(rollouts=rollouts(difference=-0.05, low=-0.2)))
