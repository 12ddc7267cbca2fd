"""Verdicts told rule by rule: the same rules as the verdict, and what would be enough."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import pytest

from events.types.claims import AfterError
from events.types.parts import Edit
from events.types.runs import AgainstNoSkill
from events.types.score import Censoring, Effect, Unmeasured
from registry.state.line import SkillLine
from strategies.gate.explain import Explanation, explain
from strategies.gate.replay.measure import Figures
from strategies.gate.rule import NeededTasks, Rule, failed
from strategies.gate.rules import p_words, replay_rules
from strategies.gate.verdict import judge
from strategies.policy.presets import PRESETS
from strategies.policy.written_rules import WRITTEN_RULE
from tests.registries import DO, PAIRED, SHOWN, measured, proposal, rollouts
from tests.worlds import skill_with

if TYPE_CHECKING:
    from registry.state.capsule import Capsule

OTHER = AfterError(template=DO.template, do="sql:DESC")


def figures(**changes: object) -> Figures:
    effect = {key: value for key, value in changes.items() if key in Effect.model_fields}
    rest = {key: value for key, value in changes.items() if key not in effect}
    return dataclasses.replace(Figures(SHOWN.model_copy(update=effect), PAIRED), **rest)  # type: ignore[arg-type]


CASES = [
    figures(),
    figures(p=0.02),
    figures(risk_difference=-0.1, low=-0.2, high=0.0),
    figures(obeyed=5),
    figures(delta=None),
    figures(heuristic=True, p=0.5),
    figures(hints=("last_check",)),
    figures(contradicted=(OTHER,)),
    figures(outcome=SHOWN.model_copy(update={"risk_difference": -0.1})),
    figures(censoring=Censoring(obeyed=0.5, disobeyed=0.1)),
    Figures(None, None),
]


@pytest.mark.parametrize("case", CASES)
def test_the_steps_come_to_the_verdict_and_name_the_same_reasons(case: Figures) -> None:
    verdict = judge(case, WRITTEN_RULE, 2)
    decision, missing = failed(replay_rules(case, WRITTEN_RULE, 2))
    assert decision == verdict.decision
    assert verdict.reasons[: len(missing)] == missing


def step(rules: tuple[Rule, ...], name: str) -> Rule:
    return next(rule for rule in rules if rule.name == name)


def test_each_step_says_its_figure_what_the_preset_asks_and_what_would_be_enough() -> None:
    policy = PRESETS["harden"].policy()
    rules = tuple(replay_rules(figures(p=0.01, tasks=50, obeyed=10), policy, 5))
    chance = step(rules, "chance")
    assert (chance.holds, chance.asks) == (False, "at most 0.00017, share 5 of alpha 0.005")
    assert chance.needed_tasks == pytest.approx(50 * (3.588 / 2.326) ** 2, abs=1)  # z of 0.005/30 and of 0.01
    arms = step(rules, "arms")
    assert (arms.holds, arms.needed_tasks) == (False, 100)  # 20 obedient need twice the tasks
    assert step(rules, "size").needed_tasks is None


def test_what_no_number_of_tasks_would_mend_is_not_counted_in_tasks() -> None:
    few = Explanation("replay", tuple(replay_rules(figures(tasks=9), WRITTEN_RULE, 1)))
    assert few.needed == NeededTasks(9, 10)
    weak = Explanation("replay", tuple(replay_rules(figures(tasks=9, risk_difference=0.01), WRITTEN_RULE, 1)))
    assert weak.needed is None
    assert Explanation("replay", tuple(replay_rules(figures(), WRITTEN_RULE, 1))).needed is None


def skill(claims: tuple[AfterError, ...]) -> Capsule:
    """A skill with these claims and a front matter that holds."""
    texts = ("---\n", "name: skill\n", "description: Answers with SQL.\n", "---\n")
    front = tuple(SkillLine(place, text, 1, 1) for place, text in enumerate(texts, 1))
    return dataclasses.replace(skill_with(claims), front=front, next_front=5)


def explained(capsule_claims: tuple[AfterError, ...] = (), *, method: str = "", **scored: object) -> Explanation:
    capsule = skill(capsule_claims)
    edit = Edit(op="append", gene=capsule.genes[0].id, text=("Look first.\n",))
    proposed = proposal(capsule, edit, claims=(DO,))
    measurement = measured(proposed).model_copy(update={"effect": SHOWN, "sent": 3, **scored})
    return explain(proposed, measurement, capsule, capsule_claims, PRESETS["balanced"], method=method)


def test_a_stored_candidate_is_explained_from_its_figures_and_its_text() -> None:
    explanation = explained()
    assert (explanation.way, explanation.decision) == ("replay", "promote")
    assert all(rule.holds for rule in explanation.steps)
    assert step(explanation.steps, "chance").asks == "at most 0.00083, share 3 of alpha 0.01"


def test_a_stored_candidate_that_a_live_claim_contradicts_is_held_for_it() -> None:
    explanation = explained((OTHER,))
    assert explanation.decision == "hold"
    assert [rule.name for rule in explanation.steps if not rule.holds] == ["agreement"]


def test_guessed_outcomes_stay_guessed_when_the_figures_are_read_again() -> None:
    assert not step(explained(heuristic=True).steps, "outcomes").holds


def test_hints_stay_hints_when_the_figures_are_read_again() -> None:
    explanation = explained(hints=("last_check", "commit"))
    assert step(explanation.steps, "labels").figure == "hints from the world: last_check, commit"
    assert explanation.decision == "hold"


def test_outcomes_that_nobody_knows_are_not_called_known() -> None:
    def figure(case: Figures) -> str:
        return step(tuple(replay_rules(case, WRITTEN_RULE, 1)), "outcomes").figure

    assert figure(figures()) == "known"
    assert figure(figures(endpoint="recovered")) == figure(Figures(None, None)) == "none known"
    assert figure(figures(endpoint="recovered", outcome=SHOWN)) == "known"
    assert figure(figures(heuristic=True)) == "guessed from signals"


def test_a_candidate_without_a_claim_is_for_a_person() -> None:
    capsule = skill(())
    proposed = proposal(capsule, Edit(op="delete", gene=capsule.genes[0].id, target=(1,)))
    nothing = {"after": Unmeasured(reason="no claim"), "before": Unmeasured(reason="no claim"), "delta": None}
    explanation = explain(
        proposed, measured(proposed).model_copy(update=nothing), capsule, (), PRESETS["balanced"]
    )
    assert (explanation.way, explanation.decision) == ("person", "hold")


def test_a_removal_passes_only_by_the_rule_for_what_explore_took_it_for() -> None:
    capsule = skill((DO,))
    edit = Edit(op="delete", gene=capsule.genes[0].id, target=(1,))
    hurtful = proposal(capsule, edit).model_copy(update={"removes": (DO,)})
    inert = hurtful.model_copy(update={"inert": True})
    does_nothing = SHOWN.model_copy(update={"risk_difference": 0.015, "low": -0.01, "high": 0.04, "p": 0.2})
    decisions = {}
    for what, proposed, effect in (
        ("nothing, inert", inert, does_nothing),
        ("nothing, hurtful", hurtful, does_nothing),
        ("hurts, inert", inert, SHOWN),
        ("hurts, hurtful", hurtful, SHOWN),
    ):
        scored = measured(proposed).model_copy(update={"effect": effect})
        decisions[what] = explain(proposed, scored, capsule, (), PRESETS["balanced"]).decision
    assert decisions == {
        "nothing, inert": "promote",
        "nothing, hurtful": "hold",
        "hurts, inert": "promote",
        "hurts, hurtful": "promote",
    }


def test_runs_are_explained_by_their_vetoes_and_by_the_paired_rule() -> None:
    assert explained(rollouts=rollouts()).decision == "promote"
    hurts = AgainstNoSkill(effect="hurt", difference=-0.1, low=-0.2, high=0.0, tasks=40, nulls=0)
    explanation = explained(rollouts=rollouts(no_skill=hurts))
    assert (explanation.way, explanation.decision) == ("rollouts", "reject")
    weak = explained(rollouts=rollouts(evidence=3.0))
    assert [rule.name for rule in weak.steps if not rule.holds] == ["evidence"]


def test_a_verdict_goes_by_the_bar_of_the_method_that_judged_it() -> None:
    failed_rules = {
        method: [
            rule.name
            for rule in explained(rollouts=rollouts(evidence=12.0), method=method).steps
            if not rule.holds
        ]
        for method in ("rollout-3", "")
    }
    assert failed_rules == {"rollout-3": [], "": ["evidence"]}


def test_a_removal_is_explained_by_the_rule_of_the_method_that_judged_it() -> None:
    capsule = skill(())
    proposed = proposal(capsule, Edit(op="delete", gene=capsule.genes[0].id, target=(1,)))
    shown = rollouts(evidence=0.9, p=0.5, difference=0.0, low=-0.02, high=0.02, rounds=3)
    scored = measured(proposed).model_copy(update={"rollouts": shown, "effect": None})
    by_method = {
        method: explain(proposed, scored, capsule, (), PRESETS["balanced"], (), method)
        for method in ("rollout-1", "rollout-2", "")
    }
    gain_asked = {
        method: "evidence" in [rule.name for rule in explanation.steps]
        for method, explanation in by_method.items()
    }
    assert gain_asked == {"rollout-1": True, "rollout-2": False, "": False}


def test_a_p_is_never_said_to_be_zero() -> None:
    assert [p_words(p) for p in (0.0, 1e-200, 0.04)] == ["p below 1e-300", "p 1e-200", "p 0.04"]
