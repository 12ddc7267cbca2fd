"""The endpoint for logs without outcomes: does the next attempt of what failed work?"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from events.types.claims import After, AfterCall, AfterError
from events.types.score import Censoring, Score
from strategies.episodes.episode_records import ended
from strategies.gate.replay.measure import MeasurementStamp, claim_evaluator, measure
from strategies.gate.replay.recovery_endpoint import endpoint_for, population, recovered, too_far_apart
from strategies.gate.rules import RECOVERED_ALONE
from strategies.gate.verdict import judge
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.propose.guard import guard
from strategies.propose.proposal import NewLines
from strategies.propose.recovery import recovery
from strategies.propose.transfer import transfer
from tests.worlds import (
    NO_TABLE,
    asking,
    call,
    division_of,
    episode,
    recovering,
    skill_with,
    without_outcomes,
)

if TYPE_CHECKING:
    from strategies.episodes.episode import StepRecord

DO_SHOW = AfterError(template=NO_TABLE, do="sql:SHOW")
NOT_AGAIN = After(action="sql:SELECT", failing=True, avoid="sql:SELECT")
FAILED = call("sql:SELECT", NO_TABLE)
STAMP = MeasurementStamp("base", "2026-01-01T00:00:00.000000Z")


@pytest.mark.parametrize(
    ("later", "works"),
    [
        ([call("sql:SHOW"), call("sql:SELECT")], 1.0),
        ([call("sql:SELECT", NO_TABLE), call("sql:SELECT")], 0.0),
        ([call("sql:SHOW"), call("sql:SELECT", "another error"), call("sql:SELECT")], 0.0),
        ([call("sql:SHOW")] * 4 + [call("sql:SELECT")], 1.0),
        ([call("sql:SHOW")] * 5 + [call("sql:SELECT")], None),
        ([call("sql:SHOW")], None),
    ],
)
def test_only_the_next_attempt_within_five_calls_counts(later: list[StepRecord], works: float | None) -> None:
    assert recovered(DO_SHOW, episode([FAILED, *later])) == works
    assert recovered(NOT_AGAIN, episode([FAILED, *later])) == works


def test_an_attempt_issued_together_with_the_failing_call_is_no_next_attempt() -> None:
    together = episode(
        [call("sql:SELECT", NO_TABLE, turn=0), call("sql:SELECT", turn=0), call("sql:SHOW", turn=1)]
    )
    assert recovered(DO_SHOW, together) is None


def test_episodes_without_a_further_attempt_are_counted_by_arm_and_left_out() -> None:
    records = [
        episode([FAILED, call("sql:SHOW"), call("sql:SELECT")], task="a"),
        episode([FAILED, call("sql:SHOW")], task="b"),
        episode([FAILED, call("sql:SELECT")], task="c"),
        episode([call("sql:SELECT")], task="d"),
    ]
    left, censoring = population(DO_SHOW, records)
    assert [(record.task, record.outcome and record.outcome.value) for record in left] == [("a", 1.0), ("c", 1.0)]
    assert censoring == Censoring(obeyed=0.5, disobeyed=0.0)
    assert too_far_apart(censoring)


def test_ten_points_apart_is_not_more_than_ten() -> None:
    assert not too_far_apart(Censoring(obeyed=4 / 10, disobeyed=3 / 10))
    assert too_far_apart(Censoring(obeyed=41 / 100, disobeyed=3 / 10))


def test_only_claims_about_a_failure_can_be_judged_by_recovery() -> None:
    with pytest.raises(TypeError, match="no failure to recover from"):
        population(After(action="a", avoid="a"), [])
    bare = without_outcomes([episode([FAILED, call("a")])])
    assert endpoint_for(After(action="sql:SELECT", avoid="sql:SELECT"), bare) == "outcome"
    assert endpoint_for(NOT_AGAIN, bare) == "recovered"


def test_of_the_second_failure_the_attempt_after_it_counts() -> None:
    second = NOT_AGAIN.model_copy(update={"k": 2})
    twice = [FAILED, FAILED, call("sql:SHOW")]
    assert recovered(second, episode([*twice, call("sql:SELECT")])) == 1.0
    assert recovered(second, episode([*twice, FAILED])) == 0.0
    assert recovered(second, episode([FAILED, call("sql:SELECT")])) is None


def test_the_outcome_decides_where_half_of_the_episodes_have_one() -> None:
    known = [episode([FAILED, call("a")], task=f"{n}") for n in range(5)]
    bare = without_outcomes(known)
    assert endpoint_for(DO_SHOW, [*known, *bare]) == "outcome"
    assert endpoint_for(DO_SHOW, [*known[1:], *bare]) == "recovered"
    assert endpoint_for(DO_SHOW, [*bare, *(episode([call("a")], task=f"x{n}") for n in range(9))]) == "recovered"


def test_without_outcomes_a_true_rule_is_held_for_its_endpoint_alone() -> None:
    division = division_of(recovering(3), "key")
    proposal = recovery(asking(division.explore, template=NO_TABLE)).proposal
    assert isinstance(proposal, NewLines)
    assert proposal.endpoint == "recovered"
    assert "`recovered` alone" in proposal.reason
    measured = measure(proposal.claims, (), division, STAMP, seed=7, endpoint="recovered")
    verdict = judge(measured.figures, WRITTEN_RULE, 1)
    assert verdict.decision == "hold"
    assert verdict.reasons[:-1] == (RECOVERED_ALONE,)
    before = measured.sealed.before
    assert isinstance(before, Score)
    assert before.endpoint == "recovered"
    assert before.evaluator == claim_evaluator("base", DO_SHOW) != "base"


def test_two_claims_judged_by_recovery_have_two_evaluators() -> None:
    assert claim_evaluator("base", DO_SHOW) != claim_evaluator(
        "base", AfterError(template=NO_TABLE, do="sql:DESC")
    )


def test_a_claim_that_lowers_the_outcome_is_rejected_whatever_it_recovers() -> None:
    bare = recovering(3)
    some = [ended(r, float(r.steps[1].action != "sql:SHOW")) if n % 5 == 0 else r for n, r in enumerate(bare)]
    division = division_of(some, "key")
    measured = measure([DO_SHOW], (), division, STAMP, seed=7, endpoint="recovered")
    assert measured.sealed.effect is not None
    assert measured.sealed.effect.risk_difference > 0.3
    verdict = judge(measured.figures, WRITTEN_RULE, 1)
    assert verdict.decision == "reject"
    assert "lowers the outcome" in verdict.reasons[0]


def test_arms_that_lose_differently_many_episodes_hold() -> None:
    division = division_of(recovering(3), "key")
    measured = measure([DO_SHOW], (), division, STAMP, seed=7, endpoint="recovered")
    torn = replace(measured.figures, censoring=Censoring(obeyed=0.11, disobeyed=0.0))
    verdict = judge(torn, WRITTEN_RULE, 1)
    assert verdict.decision == "hold"
    assert "11% of the obedient" in verdict.reasons[0]
    near = replace(measured.figures, censoring=Censoring(obeyed=0.10, disobeyed=0.0))
    assert judge(near, WRITTEN_RULE, 1).reasons[0] == RECOVERED_ALONE


def test_without_outcomes_hardening_learns_not_to_repeat_what_failed() -> None:
    division = division_of(recovering(3), "key")
    proposal = guard(asking(division.explore, action="sql", kind="tool_failure")).proposal
    assert isinstance(proposal, NewLines)
    assert proposal.endpoint == "recovered"
    assert proposal.claims == (AfterCall(action="sql:SELECT", failing=True, do="sql:SHOW"),)
    assert "`recovered` alone" in proposal.reason
    measured = measure(proposal.claims, (), division, STAMP, seed=7, endpoint="recovered")
    assert judge(measured.figures, WRITTEN_RULE, 1).reasons[0] == RECOVERED_ALONE


def test_what_a_skill_says_already_is_not_proposed_again() -> None:
    ask = asking(division_of(recovering(3), "key").explore, action="sql", kind="tool_failure")
    assert guard(replace(ask, capsule=skill_with([NOT_AGAIN]))).proposal is None
    instead = AfterCall(action="sql:SELECT", failing=True, do="sql:SHOW")
    assert guard(replace(ask, capsule=skill_with([instead]))).proposal is None


def test_without_outcomes_what_helps_another_skill_recover_is_offered_here() -> None:
    ask = asking(division_of(recovering(3), "key").explore, kind="missing_capability", calls_for="innovate")
    other = skill_with([DO_SHOW, NOT_AGAIN], fingerprint=ask.signal.fingerprint)
    proposal = transfer(replace(ask, others=(other,))).proposal
    assert isinstance(proposal, NewLines)
    assert (proposal.endpoint, set(proposal.claims) <= {DO_SHOW, NOT_AGAIN}) == ("recovered", True)
