"""A trial of Harbor or Terminal-Bench is one episode: what its agent logged, with what its result says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from strategies.episodes.episode import EpisodeOutcome
from strategies.episodes.longer_readings import replaced
from strategies.logs.scan import scan, scan_on
from tests.agent_sessions import ATIF, CLAUDE_STREAM
from tests.sample_logs import CLAUDE

if TYPE_CHECKING:
    from pathlib import Path


def result(**fields: object) -> dict[str, object]:
    """Write the result of a trial: Harbor's documentation, "Run evals"."""
    return {
        "id": "7f",
        "task_name": "fix-git",
        "trial_name": "fix-git__AbC",
        "trial_uri": "file:///jobs/j/fix-git__AbC",
        "source": "terminal-bench",
        "agent_info": {"name": "agent-x", "version": "1", "model_info": {"name": "model-y", "provider": "p"}},
        "agent_result": {"n_input_tokens": 10, "n_output_tokens": 2, "cost_usd": 0.1},
        "verifier_result": {"rewards": {"reward": 1.0}},
        "exception_info": None,
        "started_at": "2026-01-01T12:00:00",
        "finished_at": "2026-01-01T12:01:00",
        **fields,
    }


def trial(folder: Path, logs: dict[str, bytes], ending: dict[str, object] | None) -> Path:
    """Write a trial; of one that still runs there is no result."""
    where = folder / "jobs" / "j" / "fix-git__AbC"
    for name, body in {
        **logs,
        "config.json": b'{"trial_name": "fix-git__AbC", "task": {"path": "fix-git"}}',
        "trial.log": b"2026-01-01 12:00:00 ERROR container was slow\n",
        "verifier/test-stdout.txt": b"2026-01-01 12:00:00 1 failed\n",
        "verifier/reward.txt": b"1\n",
    }.items():
        (where / name).parent.mkdir(parents=True, exist_ok=True)
        (where / name).write_bytes(body)
    (where.parent / "result.json").write_text(json.dumps({"id": "j", "n_total_trials": 1, "stats": {}}))
    if ending is not None:
        (where / "result.json").write_text(json.dumps(ending))
    return where


@pytest.mark.parametrize(
    ("logs", "log_format", "steps"),
    [
        (
            {
                "agent/trajectory.json": ATIF,
                "agent/claude-code.txt": CLAUDE_STREAM,
                "agent/sessions/projects/-app/s1.jsonl": CLAUDE,
                "agent/command-0/stdout.txt": b"2026-01-01 12:00:00 ERROR x\n",
            },
            "atif",
            5,
        ),
        (
            {"agent/claude-code.txt": CLAUDE_STREAM, "agent/sessions/projects/-app/s1.jsonl": CLAUDE},
            "claude-stream",
            4,
        ),
        ({"agent/sessions/projects/-app/s1.jsonl": CLAUDE}, "claude-code", 5),
    ],
)
def test_a_trial_is_one_episode_with_the_task_and_the_outcome_of_its_result(
    tmp_path: Path, logs: dict[str, bytes], log_format: str, steps: int
) -> None:
    where = trial(tmp_path, logs, result())
    (record,) = scan([tmp_path]).records
    assert (record.format, len(record.steps), record.outcome) == (log_format, steps, EpisodeOutcome(1, "reward"))
    assert record.run in {"model-x", "model-y"}
    assert (record.labels["trial"], record.labels["agent"]) == ("fix-git__AbC", "agent-x")
    other = trial(tmp_path / "other", logs, result(verifier_result={"rewards": {"reward": 0}}))
    (failed,) = scan([other]).records
    assert (failed.task, failed.outcome) == (record.task, EpisodeOutcome(0, "reward"))
    assert [episode.id for episode in scan([where / "result.json"]).records] == [record.id]
    assert [episode.id for episode in scan_on([tmp_path / "jobs"], {}).records] == [record.id]


@pytest.mark.parametrize(
    ("ending", "outcome", "ended_by", "unknown"),
    [
        (result(verifier_result=None, exception_info={"exception_type": "DaytonaError"}), None, "environment", {}),
        (
            result(exception_info={"exception_type": "AgentTimeoutError"}),
            EpisodeOutcome(1, "reward"),
            "limit",
            {},
        ),
        (result(verifier_result={"rewards": {"score": 0.5}}), EpisodeOutcome(0.5, "reward"), "agent", {}),
        (result(verifier_result={"rewards": {"a": 1, "b": 0}}), None, "agent", {}),
        (result(verifier_result={"rewards": {"reward": 7}}), None, "agent", {"outcome outside 0 to 1": 1}),
    ],
)
def test_a_trial_that_broke_says_nothing_of_its_task_and_a_reward_beyond_one_is_counted(
    tmp_path: Path,
    ending: dict[str, object],
    outcome: EpisodeOutcome | None,
    ended_by: str,
    unknown: dict[str, int],
) -> None:
    logs_scan = scan([trial(tmp_path, {"agent/trajectory.json": ATIF}, ending)])
    assert [(record.outcome, record.ended_by) for record in logs_scan.records] == [(outcome, ended_by)]
    assert logs_scan.unknown == unknown


@pytest.mark.parametrize(("name", "body"), [("trajectory.json", ATIF), ("sessions/s1.jsonl", CLAUDE)])
def test_a_result_that_comes_after_the_log_was_read_reaches_its_episode(
    tmp_path: Path, name: str, body: bytes
) -> None:
    where = trial(tmp_path, {f"agent/{name}": body}, None)
    running = scan_on([tmp_path], {})
    (before,) = running.records
    assert before.outcome is None
    (where / "result.json").write_text(json.dumps(result()))
    ended = scan_on([tmp_path], running.offsets)
    (after,) = ended.records
    assert after.outcome == EpisodeOutcome(1, "reward")
    assert replaced([before], [after]) == {before.id: after.id}
    assert len(scan_on([tmp_path], ended.offsets).unchanged) == 1


def test_a_trial_without_a_log_that_is_known_is_named_with_the_reason(tmp_path: Path) -> None:
    broke = result(verifier_result=None, exception_info={"exception_type": "AgentSetupTimeoutError"})
    where = trial(tmp_path, {"agent/oracle.txt": b"done\n"}, broke)
    logs_scan = scan([tmp_path])
    assert logs_scan.records == ()
    (empty,) = logs_scan.empty
    assert empty.source == str(where / "result.json")
    assert "AgentSetupTimeoutError" in empty.why_empty


def test_what_sub_agents_did_in_a_trial_gets_no_outcome(tmp_path: Path) -> None:
    aside = b'{"type":"assistant","session_id":"st1","parent_tool_use_id":"t","message":{"content":"x"}}\n'
    logs_scan = scan([trial(tmp_path, {"agent/claude-code.txt": CLAUDE_STREAM + aside}, result())])
    assert [record.outcome for record in logs_scan.records] == [EpisodeOutcome(1, "reward"), None]


def test_an_old_run_of_terminal_bench_says_whether_its_task_was_resolved(tmp_path: Path) -> None:
    where = tmp_path / "runs" / "r" / "fix-git" / "fix-git.1-of-1.r"
    (where / "agent-logs").mkdir(parents=True)
    (where / "agent-logs" / "session.jsonl").write_bytes(CLAUDE)
    ending = {
        "task_id": "fix-git",
        "trial_name": where.name,
        "is_resolved": False,
        "failure_mode": "agent_timeout",
    }
    (where / "results.json").write_text(json.dumps(ending))
    (where.parent.parent / "results.json").write_text(json.dumps({"results": [ending], "n_resolved": 0}))
    (record,) = scan([tmp_path]).records
    assert (record.outcome, record.ended_by) == (EpisodeOutcome(0, "reward"), "limit")
