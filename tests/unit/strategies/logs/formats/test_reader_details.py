"""What single readers know about their format beyond the common promises."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from strategies.episodes.episode import Episode, EpisodeOutcome
from strategies.episodes.episode_records import prompt_key, task_key
from strategies.files.log_file import LogFile
from strategies.files.log_records import ReadTally
from strategies.logs.formats_table import reader_named
from strategies.logs.scan import scan
from tests.sample_logs import CHAT, CHAT_LINES, CLAUDE, GOLD, INTERCODE, STEPS, SWE, TALK, jsonl

if TYPE_CHECKING:
    from collections.abc import Callable

    from strategies.episodes.episode import EpisodeRecord

    Read = Callable[..., list[Episode]]
    ReadRecords = Callable[..., list[EpisodeRecord]]

Record = dict[str, object]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Give a function that reads bytes as a format."""

    def reading(log_format: str, body: bytes, name: str = "some.json") -> list[Episode]:
        (tmp_path / name).write_bytes(body)
        episodes = reader_named(log_format).read(LogFile(tmp_path / name), ReadTally())
        return [episode for episode in episodes if isinstance(episode, Episode)]

    return reading


@pytest.fixture
def records(tmp_path: Path) -> ReadRecords:
    """Give a function that reads bytes as a format which is reduced to records while it is read."""

    def reading(log_format: str, body: bytes) -> list[EpisodeRecord]:
        (tmp_path / "some.jsonl").write_bytes(body)
        return list(scan([tmp_path / "some.jsonl"], log_format=log_format).records)

    return reading


def intercode(actions: list[str], rewards: list[float], answered: int | None = None) -> bytes:
    shown = len(actions) if answered is None else answered
    history = {
        "actions": actions,
        "observations": ["[]"] * shown,
        "rewards": rewards,
        "valid_action": [True] * shown,
    }
    run = {
        "environment": "ic_sql",
        "turn_history": history,
        "summary": {"max_reward": max(rewards), "turns_max": 2},
    }
    return json.dumps([run]).encode()


@pytest.mark.parametrize(
    ("actions", "rewards", "answered", "ended_by"),
    [
        (["SELECT 1", "submit"], [0, 0], None, "agent"),
        (["SELECT 1"], [1], None, "environment"),
        (["SELECT 1", "SELECT 2"], [0, 1], None, "environment"),
        (["SELECT 1", "SELECT 2"], [0, 0], None, "limit"),
        (["SELECT 1", "SELECT 2", "submit"], [0, 0, 1], None, "limit"),
        (["SELECT 1", "blocked"], [0, 0], 1, "environment"),
        (["SELECT 1"], [0], None, "unknown"),
    ],
)
def test_action_observation_tells_who_ended_the_episode(
    read: Read, actions: list[str], rewards: list[float], answered: int | None, ended_by: str
) -> None:
    (episode,) = read("action-observation", intercode(actions, rewards, answered))
    assert episode.ended_by == ended_by


def test_what_the_harness_did_is_no_action_of_the_agent(read: Read) -> None:
    (forced,) = read("action-observation", intercode(["SELECT 1", "SELECT 2", "submit"], [0, 0, 1]))
    (blocked,) = read("action-observation", intercode(["SELECT 1", "blocked"], [0, 0], 1))
    assert [step.action for step in forced.steps] == ["sql:SELECT", "sql:SELECT", ""]
    assert [step.action for step in blocked.steps] == ["sql:SELECT", ""]


def test_action_observation_reads_task_run_outcome_and_answer(read: Read) -> None:
    first, second = read("action-observation", INTERCODE, "run_x.json")
    assert (first.dataset, first.task, first.run, first.difficulty) == ("d", "0", "run_x", "easy")
    assert (first.outcome, second.outcome) == (EpisodeOutcome(0.0, "reward"), EpisodeOutcome(1.0, "reward"))
    assert first.answer == "SELECT a\nFROM t"
    assert [step.action for step in first.steps] == ["sql:SELECT", "submit"]
    assert [step.error for step in first.steps] == [True, False]


def test_chat_never_reads_gold_answers(read: Read) -> None:
    assert GOLD["task"]["actions"][0]["name"] == "gold_action"
    assert all("gold_action" not in repr(episode) for episode in read("chat", CHAT))


def test_chat_reads_siblings_calls_and_ends(read: Read) -> None:
    first, second = read("chat", CHAT, "model-x.json")
    assert (first.id, first.task, first.run, first.labels) == ("0/0", "0", "model-x", {"trial": "0"})
    assert (first.outcome, first.ended_by) == (EpisodeOutcome(0.0, "reward"), "environment")
    assert [step.action for step in first.steps] == ["", "book", "message", ""]
    assert first.steps[1].error_text == "Error: payment 12 does not add up"
    assert (second.outcome, second.ended_by) == (EpisodeOutcome(1.0, "reward"), "limit")


@pytest.mark.parametrize(
    ("last", "ended_by"),
    [
        ([{"role": "assistant", "content": "Done."}], "agent"),
        ([{"role": "assistant", "content": "Done.", "finish_reason": "length"}], "limit"),
        ([{"role": "user", "content": "Stop"}], "environment"),
        ([{"role": "assistant", "tool_calls": [{"function": {"name": "submit", "arguments": "{}"}}]}], "agent"),
        ([{"role": "assistant", "tool_calls": [{"function": {"name": "book", "arguments": "{}"}}]}], "unknown"),
    ],
)
def test_chat_tells_who_ended_the_episode(read: Read, last: list[Record], ended_by: str) -> None:
    (episode,) = read("chat", json.dumps(TALK[:2] + last).encode())
    assert episode.ended_by == ended_by


def test_chat_of_anthropic_blocks_is_read_line_by_line(read: Read) -> None:
    openai, anthropic = read("chat", CHAT_LINES, "talks.jsonl")
    assert (openai.task, openai.run, openai.outcome) == ("t", "m", EpisodeOutcome(1.0, "reward"))
    assert [step.action for step in anthropic.steps] == ["", "look"]
    assert anthropic.steps[1].error


def test_chat_of_one_message_a_line_is_one_episode(read: Read) -> None:
    (episode,) = read("chat", jsonl(*TALK), "talk.jsonl")
    assert (episode.prompt, len(episode.steps)) == ("Book a flight", 4)


def test_outcome_outside_its_range_is_counted_and_left_out(tmp_path: Path) -> None:
    path, tally = tmp_path / "x.json", ReadTally()
    path.write_bytes(json.dumps({"messages": TALK, "reward": 7}).encode())
    (episode,) = reader_named("chat").read(LogFile(path), tally)
    assert episode.outcome is None
    assert tally.unknown == {"outcome outside 0 to 1": 1}


def test_swe_agent_reads_commands_failures_and_exit_status(read: Read) -> None:
    (episode,) = read("swe-agent", SWE, "task.traj")
    assert [step.action for step in episode.steps] == ["bash:edit", "bash:git diff", "submit"]
    assert [step.error for step in episode.steps] == [True, False, False]
    assert (episode.ended_by, episode.prompt, episode.steps[1].duration_ms) == ("agent", "Fix the bug", 500)
    (limited,) = read("swe-agent", SWE.replace(b'"submitted"', b'"submitted (exit_cost)"'))
    assert limited.ended_by == "limit"


def test_steps_are_read_as_documented(records: ReadRecords) -> None:
    first, second = records("steps", STEPS)
    assert (first.run, first.difficulty) == ("r", "easy")
    assert first.task == task_key(Episode(id="", source="", format="", dataset="d", task="1"))
    assert (first.outcome, first.ended_by) == (EpisodeOutcome(1.0, "tests"), "agent")
    assert [(step.action, step.turn, step.writes) for step in first.steps] == [
        ("sql:SELECT", 0, False),
        ("sql:PRAGMA", 1, False),
    ]
    assert (second.name, second.outcome, second.steps[0].action) == ("b", None, "message")


def test_what_comes_later_is_never_of_an_earlier_turn(records: ReadRecords) -> None:
    turns = [-3, 0, 5, 1, 1, None, 2, 9, 9]
    lines = [{"type": "step", "episode": "a", "tool": "sql", "turn": turn} for turn in turns]
    (record,) = records("steps", jsonl(*lines))
    assert [step.turn for step in record.steps] == [0, 1, 5, 6, 6, 7, 8, 9, 9]


@pytest.mark.parametrize("turn", [10**22, -(10**22), 2**31])
def test_a_turn_beyond_any_episode_is_a_malformed_line_and_stops_no_other(records: ReadRecords, turn: int) -> None:
    lines = [{"type": "step", "episode": "a", "tool": "sql", "turn": number} for number in (0, turn, 1)]
    (record,) = records("steps", jsonl(*lines))
    assert [step.turn for step in record.steps] == [0, 1]


def test_every_example_line_of_the_steps_page_is_read(records: ReadRecords) -> None:
    page = Path(__file__).resolve().parents[5] / "docs" / "steps.md"
    example = page.read_text().split("```json\n")[1].split("```")[0]
    (episode,) = records("steps", example.encode())
    assert [step.action for step in episode.steps] == ["sql:SELECT", "sql:SELECT", "message"]
    assert (episode.outcome, episode.ended_by) == (EpisodeOutcome(1.0, "tests"), "agent")


def test_claude_code_pairs_calls_issued_together_with_their_results(records: ReadRecords) -> None:
    (episode,) = records("claude-code", CLAUDE)
    assert [(step.action, step.turn, step.error) for step in episode.steps] == [
        ("", 0, False),
        ("", 1, False),
        ("Bash:git status", 1, True),
        ("Read", 1, False),
        ("message", 2, False),
    ]
    assert (episode.run, episode.ended_by) == ("model-x", "agent")
    assert episode.prompt_key == prompt_key("List the files")
    assert episode.steps[2].duration_ms == 1500


def claude(kind: str, content: object, **more: object) -> Record:
    return {"type": kind, "sessionId": "s", "message": {"role": kind, "content": content}, **more}


CALL = claude(
    "assistant", [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "make"}}], uuid="c"
)


def result(content: object, **more: object) -> Record:
    return claude("user", [{"type": "tool_result", "tool_use_id": "t", "content": content}], **more)


@pytest.mark.parametrize(
    ("answer", "template"),
    [
        (result("<tool_use_error>no</tool_use_error>"), "no"),
        (result("The user doesn't want to proceed with this tool use. Rejected."), "permission_denied"),
        (result("[Request interrupted by user for tool use]"), "user_interrupt"),
        (result("half", toolUseResult={"stdout": "half", "interrupted": True}), "user_interrupt"),
    ],
)
def test_claude_code_knows_every_mark_of_failure(records: ReadRecords, answer: Record, template: str) -> None:
    (episode,) = records("claude-code", jsonl(CALL, answer))
    assert episode.steps[0].error
    assert episode.steps[0].template == template


def test_claude_code_does_not_take_quoted_marks_for_failures(records: ReadRecords) -> None:
    quoted = result(
        'log says "is_error":true and [Request interrupted by user]', toolUseResult={"interrupted": False}
    )
    (episode,) = records("claude-code", jsonl(CALL, quoted))
    assert not episode.steps[0].error


def test_claude_code_notes_interrupts_and_compaction(records: ReadRecords) -> None:
    compacted = {"type": "system", "subtype": "compact_boundary", "sessionId": "s"}
    (episode,) = records("claude-code", jsonl(CALL, compacted, claude("user", "[Request interrupted by user]")))
    assert [(step.kind, step.template) for step in episode.steps[1:]] == [
        ("note", "context_overflow"),
        ("note", "user_interrupt"),
    ]
    assert episode.ended_by == "environment"


def test_claude_code_separates_sessions_and_sidechains(records: ReadRecords) -> None:
    side = claude("user", "Search", uuid="x", isSidechain=True)
    follow = claude("assistant", "Found", uuid="y", parentUuid="x", isSidechain=True)
    other = {**claude("user", "Hello"), "sessionId": "z"}
    episodes = records("claude-code", jsonl(CALL, side, other, follow))
    assert [(episode.name, len(episode.steps)) for episode in episodes] == [("s", 1), ("s/x", 2), ("z", 1)]


def test_claude_code_does_not_take_local_commands_for_the_prompt(records: ReadRecords) -> None:
    local = claude("user", "<command-name>clear</command-name>")
    (episode,) = records("claude-code", jsonl(local, claude("user", "Real question"), CALL))
    assert episode.prompt_key == prompt_key("Real question")


@pytest.mark.parametrize(("log_format", "body"), [("steps", STEPS), ("claude-code", CLAUDE)])
def test_record_types_that_nobody_knows_are_counted(tmp_path: Path, log_format: str, body: bytes) -> None:
    path, tally = tmp_path / "x.jsonl", ReadTally()
    path.write_bytes(body + b'{"type":"brand-new","episode":"a","sessionId":"s1"}\n')
    assert len(list(reader_named(log_format).read(LogFile(path), tally))) > 0
    assert (tally.unknown, tally.malformed) == ({"brand-new": 1}, [])


@pytest.mark.parametrize("field", ["is_correct", "passed", "resolved", "success"])
@pytest.mark.parametrize(("given", "value"), [(True, 1), (False, 0), ("failed", 0), (0.5, 0.5)])
def test_the_usual_fields_tell_the_outcome_in_every_general_format(
    tmp_path: Path, field: str, given: object, value: float
) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "ok"}]
    history = {"actions": ["SELECT 1"], "observations": ["1"]}
    (tmp_path / "chat.jsonl").write_bytes(jsonl({"messages": messages, field: given}))
    (tmp_path / "ao.json").write_text(json.dumps([{"turn_history": history, "query": "q", field: given}]))
    step = {"type": "step", "episode": "a", "tool": "x"}
    (tmp_path / "own.jsonl").write_bytes(jsonl(step, {"type": "outcome", "episode": "a", field: given}))
    logs_scan = scan([tmp_path])
    assert [record.outcome.value for record in logs_scan.records if record.outcome] == [value] * 3
