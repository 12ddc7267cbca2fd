from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from events.types.judgements import FailureFigures
from strategies.advice.advice_rules import advise
from strategies.advice.failure_stats import failure_figures
from strategies.advice.ladder import RoundBegun, ladder_state
from strategies.episodes.episode import moment_s
from strategies.episodes.step_marks import TIMEOUT
from tests.worlds import call, episode

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.judgements import Rung, Track
    from strategies.episodes.episode import EpisodeRecord

NO_TABLE = "Table <*> doesn't exist"
SYNTAX = "You have an error in your SQL syntax"


def figures(**changed: Any) -> FailureFigures:  # noqa: ANN401 - any field of the figures
    """Runs that fail half of the time, for no cause that can be measured."""
    plain = {
        "runs": 200,
        "failed": 100,
        "mean": 0.5,
        "persistent": 0.1,
        "rounds": 3,
        "repeated": 40,
        "despite_skill": 0.2,
        "knowledge_gap": 0.1,
        "good_knowledge_gap": 0.0,
        "tool_faults": 0.0,
        "good_tool_faults": 0.0,
        "one_type": 0.3,
        "good_one_type": 0.2,
        "type_name": "hard",
        "examples": 100,
    }
    return FailureFigures.model_validate({**plain, **changed})


def run(
    number: int,
    outcome: float | None,
    *,
    error: str = "",
    skills: Sequence[str] = (),
    labels: dict[str, str] | None = None,
    began: str | None = None,
    task: str = "",
) -> EpisodeRecord:
    steps = [call("sql:SELECT", error), call("submit")]
    record = episode(steps, outcome=outcome, task=task or f"t{number}", trial=number)
    versions = tuple((name, "1") for name in skills)
    return msgspec.structs.replace(record, skills=versions, labels=labels or {}, started_at=began)


@pytest.mark.parametrize(
    ("changed", "track"),
    [
        ({"mean": 0.85}, "none"),
        ({"mean": 0.84}, "prompt"),
        ({"runs": 19}, "none"),
        ({"failed": 0, "mean": 0.8}, "none"),
        ({"despite_skill": 0.31, "one_type": 0.3}, "both"),
        ({"despite_skill": 0.6}, "skill"),
        ({"despite_skill": 0.3}, "prompt"),
        ({"despite_skill": None, "one_type": 0.51}, "skill"),
        ({"despite_skill": None, "one_type": 0.5}, "prompt"),
        ({"despite_skill": 0.2, "one_type": 0.51}, "both"),
        ({"knowledge_gap": 0.41}, "knowledge"),
        ({"knowledge_gap": 0.4}, "prompt"),
        ({"tool_faults": 0.41}, "code"),
        ({"tool_faults": 0.9, "knowledge_gap": 0.9}, "code"),
        ({"persistent": 0.41, "examples": 500}, "fine-tune"),
        ({"persistent": 0.4, "examples": 500}, "prompt"),
        ({"persistent": 0.41, "examples": 499}, "prompt"),
        ({"persistent": 0.41, "examples": 500, "knowledge_gap": 0.41}, "knowledge + fine-tune"),
        ({"persistent": 0.41, "examples": 499, "knowledge_gap": 0.41}, "knowledge"),
        ({"persistent": None, "examples": 9_999}, "prompt"),
    ],
)
def test_each_threshold_leads_to_its_track(changed: dict[str, Any], track: Track) -> None:
    assert advise(figures(**changed)).track == track


WORKED_EXAMPLE = {
    "runs": 40,
    "failed": 37,
    "mean": 0.18,
    "persistent": 0.6,
    "repeated": 20,
    "despite_skill": 0.2,
    "knowledge_gap": 0.7,
    "one_type": 0.4,
    "examples": 350,
    "corpus": True,
}
"""The guide's: 40 runs of which 37 failed, a corpus that is there, 350 examples."""


@pytest.mark.parametrize(
    ("changed", "track", "rung"),
    [
        ({}, "knowledge", "knowledge"),
        ({"examples": 499}, "knowledge", "knowledge"),
        ({"examples": 500}, "knowledge + fine-tune", "knowledge"),
        ({"examples": 500, "persistent": 0.4}, "knowledge", "knowledge"),
        ({"knowledge_gap": 0.4}, "prompt", "prompt"),
        ({"knowledge_gap": 0.4, "despite_skill": 0.3}, "prompt", "prompt"),
        ({"knowledge_gap": 0.4, "despite_skill": 0.31}, "both", "skill"),
        ({"knowledge_gap": 0.4, "one_type": 0.5}, "prompt", "prompt"),
        ({"knowledge_gap": 0.4, "one_type": 0.51}, "both", "skill"),
        ({"knowledge_gap": 0.4, "examples": 500}, "fine-tune", "fine-tune"),
        ({"tool_faults": 0.41}, "code", "code"),
        ({"mean": 0.85}, "none", None),
        ({"runs": 19}, "none", None),
    ],
)
def test_the_worked_example_ends_with_knowledge_and_each_threshold_alone_changes_it(
    changed: dict[str, Any], track: Track, rung: Rung | None
) -> None:
    measured = figures(**{**WORKED_EXAMPLE, **changed})
    advice = advise(measured)
    assert advice.track == track
    assert ladder_state(advice.track, measured, []).rung == rung


def test_in_the_worked_example_training_is_blocked_and_the_corpus_is_what_to_extend() -> None:
    with_corpus, without = (
        advise(figures(**WORKED_EXAMPLE)),
        advise(figures(**{**WORKED_EXAMPLE, "corpus": False})),
    )
    assert "training would need 500 examples, there are 350: not that" in with_corpus.reasons
    assert with_corpus.reasons[-1].startswith("the skill has knowledge already")
    assert without.reasons[-1].startswith("the skill has no knowledge yet")
    assert (with_corpus.assessment.effort, without.assessment.effort) == ("low", "medium")
    assert with_corpus.assessment.risk == "low"


def test_confidence_falls_towards_a_threshold_and_with_fewer_runs() -> None:
    def sure(share: float, failed: int) -> float:
        changed = {"runs": 2 * failed, "failed": failed, "knowledge_gap": share}
        return advise(figures(**changed)).assessment.confidence

    assert sure(0.9, 100) > 0.99
    assert 0.5 < sure(0.42, 100) < 0.75 < sure(0.5, 100) < sure(0.5, 400)
    assert advise(figures(runs=19)).assessment.confidence == 0.0
    assert advise(figures(mean=0.99)).assessment.confidence > 0.99


def test_a_rung_whose_rounds_bring_too_little_is_left_for_the_next_one_and_says_so() -> None:
    now = figures(despite_skill=0.6, mean=0.5)
    begun = [RoundBegun("skill", mean) for mean in (0.49, 0.49, 0.5)]
    assert ladder_state("skill", now, begun[:2])[:2] == ("skill", 2)
    assert ladder_state("skill", now, [RoundBegun("skill", 0.4), *begun[1:]])[:2] == ("skill", 3)
    climbed = ladder_state("skill", now, begun)
    assert climbed == ("code", 0, "skill: 3 rounds brought +0.010")
    code = [RoundBegun("code", 0.5)] * 3
    assert ladder_state("skill", now, [*begun, *code]).rung == "knowledge"
    known = [RoundBegun("knowledge", 0.5)] * 3
    blocked = ladder_state("skill", now, [*begun, *code, *known])
    assert blocked.rung is None
    assert blocked.why.endswith("fine-tune is blocked: 100 of 500 examples")
    enough = figures(despite_skill=0.6, mean=0.5, examples=500)
    assert ladder_state("skill", enough, [*begun, *code, *known]).rung == "fine-tune"


def test_what_rounds_above_brought_is_not_credited_to_the_rung_below() -> None:
    begun = [RoundBegun("skill", 0.4)] * 3 + [RoundBegun("code", 0.4)]
    assert ladder_state("skill", figures(mean=0.6), begun)[:2] == ("code", 1)


def test_good_enough_stops_the_ladder() -> None:
    good = figures(mean=0.85)
    assert ladder_state(advise(good).track, good, []) == (None, 0, "runs end in 0.85 on average: it stops")


def test_fewer_than_500_examples_block_training_and_it_is_said() -> None:
    advice = advise(figures(persistent=0.8, examples=120))
    assert advice.track == "prompt"
    assert advice.reasons[-1] == "training would need 500 examples, there are 120: not that"


def test_what_good_runs_show_about_as_often_explains_no_failure() -> None:
    assert advise(figures(knowledge_gap=0.6, good_knowledge_gap=0.51)).track == "prompt"
    assert advise(figures(knowledge_gap=0.6, good_knowledge_gap=0.49)).track == "knowledge"
    assert advise(figures(tool_faults=0.6, good_tool_faults=0.7)).track == "prompt"
    assert advise(figures(despite_skill=None, one_type=0.7, good_one_type=0.7)).track == "prompt"


def test_reasons_carry_the_figures_they_rest_on() -> None:
    advice = advise(figures(despite_skill=0.4, one_type=0.8))
    assert advice.reasons == (
        "40% of the failures came although the skill was used",
        "80% of the failures are on tasks of the type hard, 20% of the good runs as well",
        "60% of the failures came without the skill being used",
    )


def test_every_signal_is_told_with_its_threshold_whether_or_not_it_fires() -> None:
    checks = {check.name: (check.threshold, check.fires) for check in advise(figures(despite_skill=None)).checks}
    assert checks == {
        "persistent": (0.4, False),
        "despite skill": (0.3, False),
        "skill unused": (0.5, False),
        "knowledge gap": (0.4, False),
        "tool faults": (0.4, False),
        "one type": (0.5, False),
        "examples": (500, False),
    }


def test_a_run_fails_under_point_seven_and_is_an_example_from_point_eight() -> None:
    failures = failure_figures(
        [run(at, outcome) for at, outcome in enumerate((0.0, 0.69, 0.7, 0.79, 0.8, 1.0, None))]
    )
    assert (failures.runs, failures.failed, failures.examples) == (6, 2, 2)
    assert failures.mean == pytest.approx(3.98 / 6)


def test_outcomes_that_are_guessed_from_signals_are_left_out() -> None:
    record = run(1, 0.0)
    assert record.outcome is not None
    guessed = msgspec.structs.replace(record, outcome=msgspec.structs.replace(record.outcome, source="heuristic"))
    assert failure_figures([guessed]).runs == 0


def test_a_name_that_is_not_there_is_a_knowledge_gap_and_bad_syntax_is_none() -> None:
    records = [
        *(run(at, 0.0, error=NO_TABLE) for at in range(3)),
        *(run(at, 0.0, error=SYNTAX) for at in range(3, 8)),
        *(run(at, 1.0, error=NO_TABLE) for at in range(8, 9)),
        *(run(at, 1.0) for at in range(9, 12)),
    ]
    failures = failure_figures(records)
    assert (failures.knowledge_gap, failures.good_knowledge_gap) == (3 / 8, 1 / 4)
    assert failures.tool_faults == 0.0


@pytest.mark.parametrize(
    ("template", "gap", "fault"),
    [
        ("Unknown column <*> in <*>", 1.0, 0.0),
        ("pathspec <*> did not match any file(s) known to git", 1.0, 0.0),
        ("no such table: <*>", 1.0, 0.0),
        ("NameError: name <*> is not defined", 1.0, 0.0),
        ("payment method <*> not found", 1.0, 0.0),
        ("Traceback (most recent call last):", 0.0, 1.0),
        ("502 Bad Gateway", 0.0, 1.0),
        ("connection refused", 0.0, 1.0),
        ("payment amount does not add up", 0.0, 0.0),
        ("Column <*> in <*> <*> is ambiguous", 0.0, 0.0),
    ],
)
def test_errors_of_real_tools_are_told_apart(template: str, gap: float, fault: float) -> None:
    failures = failure_figures([run(1, 0.0, error=template)])
    assert (failures.knowledge_gap, failures.tool_faults) == (gap, fault)


def test_a_timeout_is_a_fault_of_the_tool_by_its_mark() -> None:
    record = run(1, 0.0)
    marked = msgspec.structs.replace(record.steps[0], marks=(TIMEOUT,))
    assert failure_figures([msgspec.structs.replace(record, steps=(marked,))]).tool_faults == 1.0


def test_use_of_a_skill_is_unknown_where_no_log_tells_of_any() -> None:
    assert failure_figures([run(1, 0.0), run(2, 1.0)], "desk").despite_skill is None
    failures = failure_figures([run(1, 0.0, skills=["desk"]), run(2, 0.0, skills=["other"]), run(3, 1.0)], "desk")
    assert failures.despite_skill == 0.5


def test_the_type_that_fails_most_comes_from_labels_or_from_how_hard_a_task_is() -> None:
    records = [run(at, 0.0, labels={"type": "refund"}) for at in range(3)]
    records += [run(at, 0.0, labels={"type": "order"}) for at in range(3, 4)]
    failures = failure_figures([*records, *(run(at, 1.0, labels={"type": "order"}) for at in range(4, 8))])
    assert (failures.type_name, failures.one_type, failures.good_one_type) == ("refund", 0.75, 0.0)


def test_tasks_of_one_type_tell_nothing_apart() -> None:
    assert failure_figures([run(1, 0.0), run(2, 1.0)]).one_type is None


def turns(*times: str) -> list[float]:
    return [at for time in times if (at := moment_s(time)) is not None]


THREE = turns("2026-11-02T00:00:00Z", "2026-11-03T00:00:00Z", "2026-11-04T00:00:00Z")


def test_failures_persist_where_tasks_still_fail_after_three_turns() -> None:
    before = [run(at, 0.0, began="2026-11-01T00:00:00Z", task=f"t{at}") for at in range(12)]
    won = [run(90, 1.0, began="2026-11-01T00:00:00Z", task="t90")]
    after = [
        run(100 + at, 1.0 if at < 3 else 0.0, began="2026-11-05T00:00:00Z", task=f"t{at}") for at in range(12)
    ]
    late = [run(190, 0.0, began="2026-11-05T00:00:00Z", task="t90")]
    failures = failure_figures([*before, *won, *after, *late], turns_s=THREE)
    assert (failures.rounds, failures.repeated, failures.persistent) == (3, 12, 0.75)


def test_two_turns_or_few_repeated_tasks_do_not_show_persistence() -> None:
    before = [run(at, 0.0, began="2026-11-01T00:00:00Z", task=f"t{at}") for at in range(9)]
    after = [run(100 + at, 0.0, began="2026-11-05T00:00:00Z", task=f"t{at}") for at in range(9)]
    assert failure_figures([*before, *after], turns_s=THREE[:2]).persistent is None
    few = failure_figures([*before, *after], turns_s=THREE)
    assert (few.repeated, few.persistent) == (9, None)


def test_runs_without_a_time_show_no_persistence() -> None:
    assert failure_figures([run(at, 0.0) for at in range(40)], turns_s=THREE).persistent is None


def test_no_runs_are_no_division_by_zero() -> None:
    failures = failure_figures([])
    assert (failures.runs, failures.knowledge_gap, failures.one_type) == (0, None, None)
    assert advise(failures).track == "none"
