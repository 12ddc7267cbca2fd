"""Witnesses of lines: a claim, an anchor that the line names, what an evaluator quoted, or what would be one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.types.audit_events import AuditTaskInterpreted, EvaluatorReported, TaskReport
from registry.decide.commands import RecordFact
from strategies.audit.audit_record import ANCHORS, REPORTS
from strategies.audit.evaluators.evaluator_types import ActionSignal, EvaluatorReport
from strategies.rollouts.tasks.check_types import FileExists
from strategies.usage.line_witnesses import audit_traces, witness_of
from tests.registries import DO, NAME

if TYPE_CHECKING:
    from registry.registry import Registry

REPORT = EvaluatorReport(
    evaluator="error-robustness",
    task="orders",
    result="hurt",
    signals=(ActionSignal(action="harmful", quote="Read `data/order.csv`.", reason="it is not there"),),
    protected=("Round nothing.",),
)


@pytest.fixture
def audited(registry: Registry) -> Registry:
    """Record what an audit of the skill leaves: one task with an anchor, one evaluator with two quotes."""
    anchors = registry.log.put_blob(
        ANCHORS.dump_json((FileExists(name="report", path="out/report.csv"),)), kind="audit"
    )
    reports = registry.log.put_blob(REPORTS.dump_json((REPORT,)), kind="audit")
    interpreted = AuditTaskInterpreted(
        task="orders", digest="d", requirements=anchors, anchors=anchors, kept=("report",)
    )
    reported = EvaluatorReported(
        audit="a",
        capsule=NAME,
        iteration=0,
        draft="d",
        evaluator="error-robustness",
        tasks=(TaskReport(task="orders", result="hurt", reason="it is not there"),),
        signals=1,
        void=0,
        by_model=0,
        material="m",
        report=reports,
    )
    registry.execute(RecordFact((interpreted, reported)))
    return registry


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        ("- Read `data/order.csv`.\n", "evaluator", "error-robustness reported on it in orders"),
        ("- Round nothing.\n", "evaluator", "error-robustness"),
        ("- Write `out/report.csv`.\n", "anchor", "report"),
        ("- Write `x/out/report.csv`.\n", "", "asks for x/out/report.csv"),
        ("- Be kind.\n", "", "in 1 no step and no file showed it"),
    ],
)
def test_the_strongest_witness_is_named_or_what_would_be_one(
    audited: Registry, text: str, kind: str, words: str
) -> None:
    witness = witness_of(text, None, audit_traces(audited, NAME))
    assert witness.kind == kind
    assert words in witness.what


def test_a_claim_goes_before_what_an_audit_saw(audited: Registry) -> None:
    assert witness_of("- Round nothing.\n", DO, audit_traces(audited, NAME)).kind == "claim"


def test_audits_of_another_skill_are_no_witnesses(audited: Registry) -> None:
    witness = witness_of("- Round nothing.\n", None, audit_traces(audited, "other"))
    assert (witness.kind, "an audit" in witness.what) == ("", True)
