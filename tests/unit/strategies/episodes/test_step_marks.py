"""Marks: the forms that say what happened at a step, and the texts that only mention them."""

from __future__ import annotations

import json
from typing import Literal

import msgspec
import pytest

from strategies.episodes import step_marks
from strategies.episodes.episode import Episode, Step
from strategies.episodes.episode_records import encode, record_of
from strategies.episodes.step_marks import TROUBLES, Marker
from strategies.files.log_records import Span

PRIVATE = "secret-project"


def call(tool: str, text: str, *, result: str = "", error: str = "", index: int = 0, error_type: str = "") -> Step:
    return Step(
        index=index,
        turn=index,
        kind="call",
        actor="agent",
        tool=tool,
        text=text,
        result=result,
        error=bool(error or error_type),
        error_text=error,
        error_type=error_type,
        span=Span(0, 1, 1),
    )


def message(text: str, actor: Literal["agent", "user"] = "user") -> Step:
    return Step(index=1, turn=1, kind="message", actor=actor, text=text, span=Span(0, 1, 1))


def marked(step: Step) -> tuple[str, ...]:
    return Marker().learn(step)[0]


def in_json(command: str) -> str:
    return json.dumps({"command": command, "description": "d"})


@pytest.mark.parametrize(
    "command",
    [
        "pytest -q",
        "cd api && uv run pytest tests/x.py | tail -5",
        "PYTHONPATH=. python3 -m unittest discover",
        ".venv/bin/pytest",
        "npm run test:unit",
        "go test ./...",
        "cargo test --all",
        "./gradlew test",
        "make check",
        "timeout 60 npx jest",
    ],
)
def test_test_commands_are_known_bare_and_in_json(command: str) -> None:
    for text in (command, in_json(command)):
        assert marked(call("Bash", text, result="3 passed in 0.1s")) == (step_marks.TESTS_PASSED,)
        assert marked(call("Bash", text, error="Exit code 1")) == (step_marks.TESTS_FAILED,)


@pytest.mark.parametrize(
    "command",
    [
        "pip install pytest",
        "grep -rn pytest .",
        "cat tests/test_a.py",
        "git checkout -b jest",
        "make tests.txt",
        "ls test",
    ],
)
def test_commands_that_mention_tests_are_none(command: str) -> None:
    assert marked(call("Bash", command)) == marked(call("Bash", in_json(command))) == ()


@pytest.mark.parametrize(
    "result",
    [
        "=== 1 failed, 9 passed in 2.0s ===",
        "FAILED (failures=2)",
        "--- FAIL: TestX",
        "test result: FAILED. 1 passed",
        "Tests run: 5, Failures: 1, Errors: 0",
        "x" * 9000 + "\n=== 2 failed ===",
    ],
)
def test_failures_behind_a_pipe_are_seen_in_the_result(result: str) -> None:
    assert marked(call("Bash", "pytest | tail", result=result)) == (step_marks.TESTS_FAILED,)
    assert marked(call("Bash", "cat log.txt", result=result)) == ()


def test_zero_failures_are_a_pass() -> None:
    assert marked(call("Bash", "npm test", result="12 passing\n0 failing")) == (step_marks.TESTS_PASSED,)


@pytest.mark.parametrize(
    ("command", "mark"),
    [
        ("git checkout -- src/a.py", step_marks.REVERT),
        ("git checkout HEAD~1 -- a.py", step_marks.REVERT),
        ("git checkout .", step_marks.REVERT),
        ("git restore a.py", step_marks.REVERT),
        ("git reset --hard HEAD~1", step_marks.REVERT),
        ("git revert abc123", step_marks.REVERT),
        ("sed -i s/a/b/ f.py", step_marks.EDIT),
        ("cat > a.py <<'EOF'\nx\nEOF", step_marks.EDIT),
        ("edit 3:4\nx\nend_of_edit", step_marks.EDIT),
        ("apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.py\nEOF", step_marks.EDIT),
        ("git checkout main", None),
        ("git checkout -b fix/x", None),
        ("git restore --staged a.py", None),
        ("git reset HEAD a.py", None),
        ("git stash", None),
        ("sed -n 1,5p f.py", None),
        ("cat a.py > /dev/null", None),
    ],
)
def test_edits_and_reverts_of_the_shell_are_known(command: str, mark: str | None) -> None:
    expected = (mark,) if mark else ()
    assert marked(call("Bash", command)) == marked(call("Bash", in_json(command))) == expected
    assert marked(call("sql", command)) == ()


def edited(path: str, old: str, new: str, index: int = 0) -> Step:
    text = json.dumps({"file_path": path, "old_string": old, "new_string": new})
    return call("Edit", text, index=index)


def test_edits_are_known_by_tool_and_the_file_by_its_first_change() -> None:
    marker = Marker()
    steps = [edited("/a", "1", "2"), edited("/b", "1", "2", index=1), edited("/a", "3", "4", index=2)]
    assert [marker.learn(step) for step in steps] == [
        ((step_marks.EDIT,), 0),
        ((step_marks.EDIT,), 1),
        ((step_marks.EDIT,), 0),
    ]


def test_edit_that_puts_back_what_stood_there_is_a_revert() -> None:
    marker = Marker()
    marker.learn(edited("/a", "1", "2"))
    assert marker.learn(edited("/b", "2", "1", index=1)) == ((step_marks.EDIT,), 1)
    assert marker.learn(edited("/a", "2", "1", index=2)) == ((step_marks.EDIT, step_marks.REVERT), 0)


def test_editor_with_commands_edits_undoes_and_only_looks() -> None:
    def editor(command: str) -> tuple[str, ...]:
        return marked(call("str_replace_based_edit_tool", json.dumps({"command": command, "path": "/a"})))

    assert editor("str_replace") == (step_marks.EDIT,)
    assert editor("undo_edit") == (step_marks.REVERT,)
    assert editor("view") == ()


def test_edit_that_failed_changed_nothing() -> None:
    assert marked(call("Edit", '{"file_path": "/a"}', error="String to replace not found")) == ()
    assert marked(call("Bash", "sed -i s/a/b/ f", error="no such file")) == ()


@pytest.mark.parametrize(
    ("error", "mark"),
    [
        ("Command timed out after 2m", step_marks.TIMEOUT),
        ("TimeoutError: no answer", step_marks.TIMEOUT),
        ("requests: 429 Too Many Requests", step_marks.RATE_LIMITED),
        ("anthropic.RateLimitError: slow down", step_marks.RATE_LIMITED),
        ("This model's maximum context length is 8192 tokens", step_marks.CONTEXT_OVERFLOW),
        ("prompt is too long: 210000 tokens > 200000", step_marks.CONTEXT_OVERFLOW),
        ("/bin/bash: line 1: rg: command not found", step_marks.MISSING_CAPABILITY),
        ("<tool_use_error>Error: No such tool available: Foo</tool_use_error>", step_marks.MISSING_CAPABILITY),
        ("ModuleNotFoundError: No module named 'yaml'", step_marks.MISSING_CAPABILITY),
        ("FUNCTION orchestra.f does not exist", None),
        ("set the timeout option to a number", None),
        ("expected 429 rows, got 430", None),
    ],
)
def test_typed_troubles_are_known_in_errors_alone(error: str, mark: str | None) -> None:
    assert marked(call("tool", "x", error=error)) == ((mark,) if mark else ())
    assert marked(call("tool", "x", result=error)) == ()


@pytest.mark.parametrize("trouble", sorted(TROUBLES))
def test_error_type_of_a_trouble_is_its_mark_and_hides_every_deed(trouble: str) -> None:
    assert marked(call("Bash", "pytest", error_type=trouble)) == (trouble,)


def test_error_types_that_logs_give_are_read_like_errors() -> None:
    assert marked(call("tool", "x", error_type="timeout")) == (step_marks.TIMEOUT,)
    assert marked(call("tool", "x", error_type="rate_limit_error")) == (step_marks.RATE_LIMITED,)
    assert marked(call("tool", "x", error_type="ValueError")) == ()


@pytest.mark.parametrize(
    ("text", "corrects"),
    [
        ("No, that's the wrong file", True),
        ("no that breaks the build", True),
        ("Revert that please", True),
        ("Don't touch the tests", True),
        ("You forgot the import", True),
        ("I said the other one", True),
        ("That's not what I asked for", True),
        ("It didn't work", True),
        ("Actually, use tabs", True),
        ("that's not what I asked, revert it", True),
        ("use pnpm, not npm. I told you before", True),
        ("It fails again. I already told you to run the linter", True),
        ("Use the new API to list files", False),
        ("No, that's all for now. Thanks!", False),
        ("No problem, go on", False),
        ("no thanks", False),
        ("Now add a test", False),
        ("Note that x is y", False),
        ("Great, and don't forget the docs", False),
        ("###STOP###", False),
        ("Stopwatch app, please", False),
    ],
)
def test_corrections_are_known_by_how_they_open(text: str, corrects: bool) -> None:  # noqa: FBT001 - a table
    assert (step_marks.CORRECTION in marked(message(text))) is corrects
    assert marked(message(text, "agent")) == ()


@pytest.mark.parametrize(
    ("text", "thanks"),
    [
        ("thanks!", True),
        ("Perfect, thank you so much", True),
        ("great work", True),
        ("That's all", True),
        ("Thanks, now add a test for it. It should fail without the fix, and pass with it.", False),
        ("Thanks. Does it work on Windows?", False),
        ("great, and don't forget the docs", False),
    ],
)
def test_thanks_are_known_where_they_are_all_that_is_said(text: str, thanks: bool) -> None:  # noqa: FBT001 - a table
    assert marked(message(text)) == ((step_marks.THANKED,) if thanks else ())
    assert marked(message(text, "agent")) == ()


def test_agent_that_says_it_lacks_a_tool_is_known() -> None:
    lacks = (step_marks.MISSING_CAPABILITY,)
    assert marked(message("I’m sorry, I don’t have a tool for that.", "agent")) == lacks
    assert marked(message("I do not have access to a search tool here", "agent")) == lacks
    assert marked(message("I don't have any questions", "agent")) == ()
    assert marked(message("API Error: 429 rate_limit_error", "agent")) == (step_marks.RATE_LIMITED,)


def test_marks_that_a_reader_gives_are_kept() -> None:
    step = msgspec.structs.replace(call("x", "y"), marks=(step_marks.REVERT,), target="/a")
    assert Marker().learn(step) == ((step_marks.REVERT,), 0)


def test_record_and_marker_keep_no_name_of_a_file() -> None:
    steps = (edited(f"/{PRIVATE}/a", PRIVATE, "x"),)
    record = record_of(Episode(id="1", source="/log", format="x", steps=steps))
    assert record.steps[0].marks == (step_marks.EDIT,)
    assert PRIVATE.encode() not in encode(record)
    marker = Marker()
    marker.learn(steps[0])
    assert PRIVATE.encode() not in msgspec.json.encode(marker)


def test_marks_are_part_of_what_an_episode_was() -> None:
    def record(step: Step) -> str:
        return record_of(Episode(id="1", source="/log", format="x", steps=(step,))).id

    step = call("x", "y")
    assert record(step) != record(msgspec.structs.replace(step, marks=(step_marks.REVERT,)))
