from __future__ import annotations

from strategies.gate.track_record import TrackRecord
from tests.registries import score
from tui.reads.trend_series import ScorePoint, Size, TaskRun, heat_map, obedience, panels

ONE, OTHER = "a" * 64, "b" * 64


def measured(position: int, version: int, value: float, evaluator: str = ONE, split: str = "sealed") -> ScorePoint:
    return ScorePoint(position, version, score(value, evaluator).model_copy(update={"split": split}))


def ran(task: str, version: int, ends: str) -> list[TaskRun]:
    """Runs of a task under a version: "+-" is one that passed and one that did not."""
    return [
        TaskRun(task, version, end == "+", f"{task}/{version}/{at}", "r1", f"e{at}", "logs/a.jsonl")
        for at, end in enumerate(ends)
    ]


def test_scores_of_two_evaluators_never_share_a_panel() -> None:
    shown = panels([measured(5, 1, 0.4), measured(9, 2, 0.5, OTHER), measured(7, 2, 0.45)])
    assert [(panel.evaluator, panel.versions) for panel in shown] == [(ONE, (1, 2)), (OTHER, (2,))]
    assert [panel.score("sealed", 2) for panel in shown] == [score(0.45, ONE), score(0.5, OTHER)]


def test_sealed_and_audit_are_lines_of_one_panel_and_explore_is_none() -> None:
    (panel,) = panels(
        [measured(5, 1, 0.4), measured(5, 1, 0.41, split="audit"), measured(5, 1, 0.9, split="explore")]
    )
    assert [series.split for series in panel.series] == ["sealed", "audit"]
    assert panel.score("audit", 2) is None


def test_what_was_measured_for_its_own_sake_counts_before_what_was_measured_as_a_base() -> None:
    own, base = measured(5, 2, 0.45), measured(9, 2, 0.3)._replace(as_base=True)
    for order in ([own, base], [base, own]):
        (panel,) = panels(order)
        assert panel.score("sealed", 2) == own.score


def test_the_last_of_several_measurements_counts() -> None:
    (panel,) = panels([measured(9, 1, 0.5), measured(5, 1, 0.4)])
    assert panel.score("sealed", 1) == score(0.5, ONE)


def test_a_cell_is_mixed_where_some_runs_passed() -> None:
    heat = heat_map([*ran("t", 1, "++"), *ran("t", 2, "+-"), *ran("t", 4, "-")], range(1, 5), most_tasks=9)
    (row,) = heat.rows
    assert {version: cell.mark for version, cell in row.cells.items()} == {1: "passed", 2: "mixed", 4: "failed"}
    assert heat.versions == (1, 2, 4)
    assert row.changes == 2


def test_tasks_that_changed_most_come_first_and_those_without_room_are_counted() -> None:
    runs = [
        *ran("calm", 1, "+"), *ran("calm", 2, "+"),
        *ran("turned", 1, "+"), *ran("turned", 2, "-"),
        *ran("torn", 1, "+-"), *ran("torn", 2, "+-"),
    ]  # fmt: skip
    heat = heat_map(runs, (1, 2), most_tasks=2)
    assert [row.task for row in heat.rows] == ["turned", "torn"]
    assert heat.left_out == 1


def test_runs_under_versions_that_are_not_shown_have_no_cell() -> None:
    assert heat_map(ran("t", 1, "+"), (2, 3), most_tasks=9).rows == ()


def test_obedience_is_told_only_where_an_episode_reached_the_moment_of_a_claim() -> None:
    silent = TrackRecord(episodes=40, ended=40, mean=0.5, exposed=0, obeyed=0)
    reached = TrackRecord(episodes=40, ended=40, mean=0.5, exposed=20, obeyed=15)
    (only,) = obedience({1: silent, 2: reached})
    assert (only.version, only.share) == (2, 0.75)
    assert 0.5 < only.low < 0.75 < only.high < 1


def test_an_empty_version_has_no_share_of_claimed_lines() -> None:
    assert Size(1, 0, 0).share == 0
    assert Size(2, 8, 2).share == 0.25
