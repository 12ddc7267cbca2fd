"""What judge and proposer are shown of a run, a golden file a format: GERMLINE_WRITE_PROMPTS=1 writes them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from events.model_errors import DeclinedError
from strategies.judge.ask_criteria import MOST_RUN_CHARS, RunScorer
from strategies.logs.formats_table import READERS
from strategies.logs.scan import scan
from strategies.logs.transcripts import read_transcripts
from strategies.models.protocol import TextBlock
from strategies.models.tasks.ask_reflection import MOST_EPISODE_CHARS, ReflectionCase, ShownEpisode, reflect
from strategies.models.transcript_text import EpisodeTranscript, written
from tests.agent_sessions import SESSIONS
from tests.inspect_stand_in import json_log, stand_in
from tests.sample_logs import SAMPLES
from tests.trace_exports import TRACES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.logs.transcripts import Transcript
    from strategies.models.protocol import Request

PROMPTS = Path(__file__).resolve().parent.parent / "golden" / "prompts"
FORMATS = tuple(reader.name for reader in READERS)
INSPECT = {
    "id": "a",
    "epoch": 1,
    "messages": [
        {"role": "user", "content": "Run the tests"},
        {"role": "assistant", "tool_calls": [{"id": "1", "function": "bash", "arguments": {"cmd": "pytest -q"}}]},
        {
            "role": "tool",
            "tool_call_id": "1",
            "content": "",
            "error": {"type": "timeout", "message": "1 failed: é"},
        },
        {"role": "assistant", "tool_calls": [{"id": "2", "function": "read", "arguments": {"path": "a.py"}}]},
        {"role": "tool", "tool_call_id": "2", "content": "x = 1"},
    ],
    "scores": {"includes": {"value": "I"}},
}


class Parts(NamedTuple):
    """What a prompt must hold: the task, an argument of a call, a result, and the error of a call that failed."""

    task: str
    argument: str
    result: str
    error: str


SAME_STORY = Parts("Run the tests", "pytest -q", "x = 1", "1 failed: é")
PARTS = dict.fromkeys(FORMATS, SAME_STORY) | {
    "steps": Parts("Which?", "PRAGMA x", "ok", "no such table: é"),
    "claude-code": Parts("List the files", "git status -s", "ok", "fatal: not a git repository"),
    "action-observation": Parts('Who is "first"?', "FROM t", "again", "Table 'x.t' doesn't exist"),
    "swe-agent": Parts("Fix the bug", "edit 1:2", "diff", "ValueError: x"),
    "codex": Parts("Run the tests", "pytest -q", "Success.", "1 failed: é"),
    "openhands": Parts("Fix it", "git status", "", "fatal: not a git repository: é"),
    "chat": Parts("Book a flight", '{"to": "é"}', "", "Error: payment 12 does not add up"),
    "atif": Parts("Run the tests", "pytest -q", "x = 1", "ValueError: é"),
    "cursor": Parts("Run the tests", "pytest -q", "", ""),  # neither results nor errors are in its logs
    "mini-swe-agent": Parts("Fix the bug", "pytest -q", "<returncode>0</returncode>", "1 failed: é"),
    "openai-responses": SAME_STORY._replace(result="Done!"),
    "claude-stream": SAME_STORY._replace(task="(not in the log)"),
    "copilot-store": Parts("Run the tests", "a.py", "", ""),  # as those of Cursor
    "plain-text": Parts("(not in the log)", "", "", "FAILED tests/test_load.py::test_rows"),
}


class Recorder:
    """A model that takes down what it is asked, and declines."""

    def __init__(self) -> None:
        self.asked: list[Request[Any]] = []

    def ask_all(self, requests: Sequence[Request[Any]]) -> list[Any]:
        """Take questions down."""
        self.asked += requests
        return [DeclinedError("declined") for _ in requests]

    def texts(self) -> str:
        """Give what the user says in all questions."""
        parts = [part for request in self.asked for message in request.messages for part in message.parts]
        return "\n".join(part.text for part in parts if isinstance(part, TextBlock))


def transcript_of(folder: Path, log_format: str) -> Transcript:
    """Read the first episode of a format's sample, as it is kept and read again."""
    if log_format == "inspect":
        path = json_log(folder, INSPECT)
    else:
        # Of traces the export of a tool tells more than the smallest one does.
        samples = (*TRACES, *SAMPLES, *SESSIONS)
        sample = next(sample for sample in samples if sample.format == log_format)
        path = folder / sample.name
        path.write_bytes(sample.body)
    (transcript, *_) = read_transcripts(scan([path], log_format=log_format).records, frozenset())
    assert transcript is not None
    return transcript


def judge_prompt(transcript: Transcript) -> str:
    model = Recorder()
    RunScorer(model, "judge").score([EpisodeTranscript(written(transcript, MOST_RUN_CHARS), 0, ())])  # type: ignore[arg-type]
    return model.texts()


def proposer_prompt(transcript: Transcript) -> str:
    model = Recorder()
    shown = ShownEpisode(written(transcript, MOST_EPISODE_CHARS), 0.0, ())
    reflect(model, ReflectionCase("skill", "repair", "error", 1, "", "", "", "", 3, ((shown,),)))  # type: ignore[arg-type]
    return model.texts()


@pytest.mark.parametrize("log_format", FORMATS)
def test_judge_and_proposer_are_shown_what_the_golden_file_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, log_format: str
) -> None:
    stand_in(monkeypatch)
    transcript = transcript_of(tmp_path, log_format)
    prompts = f"=== judge ===\n{judge_prompt(transcript)}\n=== proposer ===\n{proposer_prompt(transcript)}\n"
    golden = PROMPTS / f"{log_format}.txt"
    if os.environ.get("GERMLINE_WRITE_PROMPTS"):
        golden.write_text(prompts, encoding="utf-8")
    assert prompts == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("log_format", FORMATS)
def test_every_prompt_holds_the_task_and_a_call_with_what_came_back(log_format: str) -> None:
    prompts = (PROMPTS / f"{log_format}.txt").read_text(encoding="utf-8").split("=== proposer ===")
    assert len(prompts) == 2
    for prompt in prompts:
        for part in PARTS[log_format]:
            assert part in prompt
        failing = [line for line in prompt.splitlines() if line.startswith("[") and line.endswith(", failed")]
        assert bool(failing) == bool(PARTS[log_format].error)


def test_no_golden_file_is_left_of_a_format_that_is_gone() -> None:
    assert sorted(path.stem for path in PROMPTS.iterdir()) == sorted(FORMATS)
