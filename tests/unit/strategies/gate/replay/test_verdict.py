from __future__ import annotations

import dataclasses

import pytest
from pydantic import ValidationError

from events.types.claims import AfterError
from strategies.gate.replay.measure import Figures, candidate_id, canonical_claims, evaluator_id
from strategies.gate.verdict import judge, judge_inert
from strategies.policy.written_rules import WRITTEN_RULE, GatePolicy, policy_text
from strategies.pool.splits import Division
from tests.registries import PAIRED, SHOWN
from tests.worlds import call, episode

GOOD = Figures(SHOWN, PAIRED)


def with_effect(**changes: float) -> Figures:
    return Figures(SHOWN.model_copy(update=changes), PAIRED)


def test_what_meets_the_written_rule_is_promoted_and_names_its_ground() -> None:
    verdict = judge(GOOD, WRITTEN_RULE, 1)
    assert verdict.decision == "promote"
    assert verdict.reasons[-1] == "scope: run=gpt-3.5_10_turns"
    assert verdict.scope == ("gpt-3.5_10_turns",)


def test_where_many_runs_carry_a_figure_and_none_much_of_it_the_reason_says_so() -> None:
    verdict = judge(Figures(SHOWN.model_copy(update={"scope": ()}), PAIRED), WRITTEN_RULE, 1)
    assert verdict.reasons[-1] == "scope: many runs, none with 5% of the weight"
    assert verdict.scope == ()


@pytest.mark.parametrize(
    ("figures", "missing"),
    [
        (with_effect(p=0.006), "p 0.006"),
        (with_effect(risk_difference=0.019), "risk difference +0.019"),
        (Figures(SHOWN, PAIRED.model_copy(update={"value": 0.0})), "paired delta is +0.0000"),
        (Figures(SHOWN, None), "paired delta is unknown"),
        (with_effect(obeyed=19), "19 obedient"),
        (with_effect(disobeyed=19), "19 disobedient"),
        (with_effect(tasks=9), "9 tasks"),
        (dataclasses.replace(GOOD, contradicted=(AfterError(template="t", do="x"),)), "a live claim"),
        (Figures(None, PAIRED), "no sealed stratum"),
        (dataclasses.replace(GOOD, heuristic=True), "for review"),
    ],
)
def test_each_missing_condition_holds_the_candidate_and_is_named(figures: Figures, missing: str) -> None:
    verdict = judge(figures, WRITTEN_RULE, 1)
    assert verdict.decision == "hold"
    assert missing in verdict.reasons[0]


@pytest.mark.parametrize(
    "figures",
    [
        with_effect(p=0.005),
        with_effect(risk_difference=0.02),
        with_effect(risk_difference=0.02, low=0.01, high=0.02),
        with_effect(obeyed=20, disobeyed=20),
        with_effect(tasks=10),
        dataclasses.replace(GOOD, outcome=SHOWN.model_copy(update={"risk_difference": 0.0})),
    ],
)
def test_a_figure_that_is_just_what_the_rule_asks_for_is_enough(figures: Figures) -> None:
    assert judge(figures, WRITTEN_RULE, 1).decision == "promote"


# Figures of the inverse: a claim that lowers outcomes a little at most, and never by the least that matters.
INERT = SHOWN.model_copy(
    update={"risk_difference": 0.01, "low": -0.019, "high": 0.06, "obeyed": 30, "disobeyed": 40}
)


@pytest.mark.parametrize(
    ("changes", "decision", "reason"),
    [
        ({}, "promote", "inert: risk difference -0.010 [-0.060, +0.019] lies below +0.020"),
        ({"low": -0.02}, "hold", "it may matter"),
        ({"low": -0.06, "high": 0.01}, "hold", "it may matter"),
        ({"obeyed": 19}, "hold", "40 obedient and 19 disobedient episodes"),
        ({"disobeyed": 19}, "hold", "19 obedient and 30 disobedient episodes"),
    ],
)
def test_a_live_claim_is_inert_where_it_surely_gains_less_than_matters(
    changes: dict[str, float], decision: str, reason: str
) -> None:
    verdict = judge_inert(Figures(INERT.model_copy(update=changes), None), WRITTEN_RULE)
    assert (verdict.decision, reason in verdict.reasons[0]) == (decision, True), verdict.reasons


def test_every_further_claim_that_is_sent_makes_the_bar_higher() -> None:
    figures = with_effect(p=0.0016)
    assert [judge(figures, WRITTEN_RULE, sent).decision for sent in (1, 2, 3)] == ["promote", "promote", "hold"]


@pytest.mark.parametrize(
    "figures", [with_effect(risk_difference=0.0), with_effect(risk_difference=0.005, low=-0.01, high=0.019)]
)
def test_no_gain_or_surely_too_small_a_gain_is_rejected(figures: Figures) -> None:
    verdict = judge(figures, WRITTEN_RULE, 1)
    assert verdict.decision == "reject"
    assert verdict.reasons[-1].startswith("scope: ")


@pytest.mark.parametrize(
    "looser",
    [{"alpha": 0.05}, {"least_difference": 0.01}, {"least_arm": 19}, {"least_tasks": 5}],
)
def test_no_policy_is_looser_than_the_written_rule(looser: dict[str, float]) -> None:
    with pytest.raises(ValidationError):
        GatePolicy.model_validate(looser)


SEALED = tuple(episode([call("a")], task=f"s{i}", outcome=float(i % 2)) for i in range(4))
AUDIT = (episode([call("a")], task="audit"),)
EXPLORE = (episode([call("a")], task="explore"),)
DIVISION = Division(EXPLORE, SEALED, AUDIT)


def test_an_evaluator_is_the_same_for_the_same_episodes_in_any_order() -> None:
    assert evaluator_id(DIVISION, "key") == evaluator_id(Division((), SEALED[::-1], AUDIT), "key")


@pytest.mark.parametrize(
    "other",
    [
        Division(EXPLORE, SEALED[:3], AUDIT),
        Division(EXPLORE, (*SEALED[:3], episode([call("a")], task="s3", outcome=0.5)), AUDIT),
        Division(EXPLORE, SEALED, ()),
    ],
)
def test_an_evaluator_changes_with_its_episodes_and_their_outcomes(other: Division) -> None:
    assert evaluator_id(DIVISION, "key") != evaluator_id(other, "key")


def test_an_evaluator_changes_with_the_split_key() -> None:
    assert evaluator_id(DIVISION, "key") != evaluator_id(DIVISION, "another")


def test_the_policy_of_an_evaluator_is_the_written_rule() -> None:
    assert '"alpha":0.01' in policy_text()


def test_candidates_and_evaluators_keep_their_names_from_one_germline_to_the_next() -> None:
    """Else what was rejected would be asked once more, and no score be compared with those before."""
    name = candidate_id("sql-analyst", [AfterError(template="t", do="x")], "e1")
    assert name == "457a2de30bf527f6699bc39a9255c733daf73fff949620adbfcbe07ea14187a9"
    empty = evaluator_id(Division((), (), ()), "key")
    assert empty == "357821a359c4028e5e370b468c35715504cdc5e396cbd999d29956bcad7dacd0"


def test_a_candidate_is_named_by_what_is_asked_not_by_how_it_is_written() -> None:
    do, avoid = AfterError(template="t", do="x"), AfterError(template="t", avoid="y")
    name = candidate_id("skill", [do, avoid], "e1")
    assert name == candidate_id("skill", [avoid, do, do], "e1")
    assert len({name, candidate_id("skill", [do], "e1"), candidate_id("other", [do, avoid], "e1")}) == 3
    assert name != candidate_id("skill", [do, avoid], "e2")
    assert canonical_claims([do]) == canonical_claims(
        [AfterError(kind="after_error", template="t", do="x", avoid=None)]
    )
