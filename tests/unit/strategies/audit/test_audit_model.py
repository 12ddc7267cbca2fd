"""A model counts while it agrees with what was made; where it surely errs too often, nothing that it says does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strategies.audit.audit_model import standing_of, without_model
from strategies.audit.audit_verdict import AuditedPair
from strategies.audit.evaluators.evaluator_types import (
    ActionSignal,
    AuditMaterial,
    EvaluatorReport,
    RunRecord,
    TaskRequirements,
)

if TYPE_CHECKING:
    from events.types.audit_events import AuditResult

MATERIAL = AuditMaterial(
    task="a",
    prompt="p",
    workspace={},
    requirements=TaskRequirements(task="a"),
    skill=(),
    with_skill=RunRecord(),
    without_skill=RunRecord(),
)


def pair(made: AuditResult, *asked: AuditResult) -> AuditedPair:
    """A pair with what was computed of what was made, and what a model says."""
    signal = ActionSignal(action="noise", quote="x", reason="r", by_model=True)
    reports = [EvaluatorReport(evaluator="format-compliance", task="a", result=made)]
    reports += [
        EvaluatorReport(evaluator="coverage", task="a", result=result, signals=(signal,), by_model=True)
        for result in asked
    ]
    return AuditedPair(MATERIAL, tuple(reports))


@pytest.mark.parametrize(("wrong", "counts"), [(0, True), (3, True), (8, False)])
def test_a_model_counts_until_it_surely_contradicts_what_was_made(wrong: int, *, counts: bool) -> None:
    pairs = [pair("helped", "hurt")] * wrong + [pair("hurt", "hurt")] * (20 - wrong)
    standing = standing_of(pairs)
    assert (standing.held, standing.wrong, standing.counts) == (20, wrong, counts)


def test_where_nothing_made_says_which_run_is_better_nothing_is_held_against_a_model() -> None:
    standing = standing_of([pair("inert", "hurt", "helped"), pair("null", "hurt"), pair("hurt", "null")])
    assert (standing.held, standing.counts) == (0, True)


def test_what_a_model_says_goes_and_what_was_computed_stays() -> None:
    (counted,) = without_model([pair("helped", "hurt")])
    made, asked = counted.reports
    assert made.result == "helped"
    assert (asked.result, asked.signals) == ("null", ())
    assert "contradicts" in asked.reason
