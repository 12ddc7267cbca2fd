"""What the OpenHands reader knows beyond the common promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from strategies.episodes.episode import Episode, EpisodeOutcome
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally
from strategies.logs.formats.openhands import OpenHandsReader
from tests.sample_logs import OPENHANDS, OPENHANDS_RESULTS, OPENHANDS_SDK, jsonl

if TYPE_CHECKING:
    from pathlib import Path

Record = dict[str, object]
RUN: Record = {"id": 9, "source": "agent", "action": "run", "args": {"command": "ls", "thought": "Look."}}
CALL: Record = {"kind": "ActionEvent", "id": "z", "source": "agent", "tool_name": "look", "tool_call_id": "k9"}


def read(folder: Path, body: bytes) -> tuple[list[Episode], ReadTally]:
    path = folder / "events.jsonl"
    path.write_bytes(body)
    tally = ReadTally()
    return list(OpenHandsReader().read(LogFile(path), tally)), tally


def after(folder: Path, *records: Record) -> Episode:
    (episode,), _ = read(folder, jsonl(*OPENHANDS[:1], *records))
    return episode


def test_both_kinds_of_events_tell_the_same_story(tmp_path: Path) -> None:
    (old,), old_tally = read(tmp_path, jsonl(*OPENHANDS))
    (new,), new_tally = read(tmp_path, jsonl(*OPENHANDS_SDK))
    assert [step.action for step in old.steps] == ["", "execute_bash:git status", "finish"]
    assert [step.action for step in new.steps] == ["", "", "execute_bash:git status"]
    assert old.steps[1].error_text == "fatal: not a git repository: é"
    assert (old.prompt, old.ended_by, new.prompt, new.ended_by) == ("Fix it", "agent", "Fix it", "unknown")
    assert new.skills == (("git-helper", ""),)
    assert (old_tally.unknown, new_tally.unknown) == ({}, {})


def test_results_of_an_evaluation_tell_task_run_and_outcome(tmp_path: Path) -> None:
    (first, second), tally = read(tmp_path, OPENHANDS_RESULTS)
    assert (first.id, first.dataset, first.task, first.run) == ("a__1", "swe", "a__1", "CodeActAgent model-x")
    assert (first.outcome, second.outcome) == (EpisodeOutcome(1.0, "tests"), EpisodeOutcome(0.0, "tests"))
    assert tally.records == 2 * len(OPENHANDS)


def test_old_results_keep_an_action_beside_its_observation(tmp_path: Path) -> None:
    pairs = [OPENHANDS[:1], OPENHANDS[1:3]]
    (episode,), tally = read(tmp_path, jsonl({"instance_id": "a", "history": pairs, "resolved": True}))
    assert [step.error for step in episode.steps] == [False, True]
    assert (episode.outcome, tally.malformed) == (EpisodeOutcome(1.0, "tests"), [])


def test_thought_is_a_note_and_no_part_of_the_argument(tmp_path: Path) -> None:
    episode = after(tmp_path, RUN)
    assert [(step.kind, step.text) for step in episode.steps[1:]] == [
        ("note", "Look."),
        ("call", '{"command":"ls"}'),
    ]


@pytest.mark.parametrize(
    ("observation", "failed", "error_type"),
    [
        ({"observation": "run", "extras": {"exit_code": 0}, "content": "Error: none"}, False, ""),
        ({"observation": "run", "extras": {"metadata": {"exit_code": -1}}, "content": "still running"}, False, ""),
        ({"observation": "edit", "content": "ERROR: no match"}, True, ""),
        ({"observation": "error", "content": "no such tool"}, True, ""),
        ({"observation": "user_rejected", "content": "no"}, True, "permission_denied"),
    ],
)
def test_observation_tells_whether_the_call_failed(
    tmp_path: Path, observation: Record, error_type: str, *, failed: bool
) -> None:
    episode = after(tmp_path, RUN, {"id": 10, "cause": 9, **observation})
    assert (episode.steps[-1].error, episode.steps[-1].error_type) == (failed, error_type)


@pytest.mark.parametrize(
    ("answer", "failed", "error_type"),
    [
        ({"kind": "ObservationEvent", "observation": {"content": "fine", "is_error": False}}, False, ""),
        ({"kind": "ObservationEvent", "observation": {"output": "x", "exit_code": 2}}, True, ""),
        ({"kind": "ObservationEvent", "observation": {"error": "it broke"}}, True, ""),
        ({"kind": "AgentErrorEvent", "error": "no such tool"}, True, ""),
        ({"kind": "UserRejectObservation", "rejection_reason": "no"}, True, "permission_denied"),
    ],
)
def test_answers_of_the_sdk_tell_whether_the_call_failed(
    tmp_path: Path, answer: Record, error_type: str, *, failed: bool
) -> None:
    episode = after(tmp_path, CALL, {**answer, "tool_call_id": "k9"})
    assert (episode.steps[-1].error, episode.steps[-1].error_type) == (failed, error_type)


@pytest.mark.parametrize(
    ("record", "ended_by"),
    [
        ({"observation": "agent_state_changed", "extras": {"agent_state": "finished"}}, "agent"),
        ({"observation": "agent_state_changed", "extras": {"agent_state": "stopped"}}, "environment"),
        (
            {
                "observation": "agent_state_changed",
                "extras": {"agent_state": "error", "reason": "Agent reached maximum iteration."},
            },
            "limit",
        ),
        ({"kind": "ConversationErrorEvent", "code": "MaxIterationsReached", "detail": "MaxIterations"}, "limit"),
        ({"kind": "PauseEvent", "source": "user"}, "environment"),
        ({"observation": "error", "content": "the model is gone"}, "environment"),
        ({"source": "agent", "action": "message", "args": {"content": "What now?"}}, "agent"),
    ],
)
def test_run_tells_who_ended_it(tmp_path: Path, record: Record, ended_by: str) -> None:
    assert after(tmp_path, RUN, record).ended_by == ended_by


def test_unknown_events_are_counted(tmp_path: Path) -> None:
    _, tally = read(tmp_path, jsonl(*OPENHANDS, {"kind": "BrandNewEvent"}, {"id": 77}))
    assert tally.unknown == {"BrandNewEvent": 1, "event without an action": 1}


def test_recalled_skills_are_those_of_the_run(tmp_path: Path) -> None:
    recall = {"observation": "recall", "cause": 0, "extras": {"microagent_knowledge": [{"name": "docker"}]}}
    assert after(tmp_path, recall).skills == (("docker", ""),)
