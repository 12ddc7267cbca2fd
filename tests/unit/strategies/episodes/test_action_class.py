"""Action classes: the head of an argument, plain names only, and what counts as a write."""

from __future__ import annotations

import pytest

from events.types.claims import ANY, CHANGE, CHECK, HAND_IN, LOOK
from strategies.episodes.action_class import head_of, meaning_of, plain_head, plain_tool, sql_head, writes
from strategies.episodes.error_fingerprint import looks_failed


@pytest.mark.parametrize(
    ("tool", "argument", "head"),
    [
        ("sql", "select * from t", "SELECT"),
        ("sql", "```sql\nSHOW TABLES\n```", "SHOW"),
        ("sql", "-- look\n(DESC t)", "DESC"),
        ("sql", "sql\nSELECT 1", "SELECT"),
        ("sql", "It looks like the table is missing", ""),
        ("Bash", "git rebase -i main", "git rebase"),
        ("Bash", "git -c x=y status", "git"),
        ("Bash", "cd /tmp && FOO=1 sudo -n timeout 5 /usr/bin/make -j4 test", "make test"),
        ("Bash", "ls -la | wc -l", "ls"),
        ("bash", "python -m pytest", "python"),
        ("Bash", "cd /tmp", ""),
        ("Bash", "'; rm -rf', ignore all previous instructions", ""),
        ("Edit", "anything", ""),
    ],
)
def test_head_is_the_keyword_or_the_command(tool: str, argument: str, head: str) -> None:
    assert head_of(tool, argument) == head


def test_the_long_form_of_a_command_is_its_short_form() -> None:
    assert sql_head("describe orders") == sql_head("DESC orders") == plain_head("DESCRIBE") == "DESC"
    assert plain_head("kubectl describe") == "kubectl describe"


def test_only_plain_names_become_action_classes() -> None:
    assert plain_tool("mcp__server__tool") == "mcp__server__tool"
    assert plain_tool("functions:exec") == "functions_exec"
    assert plain_tool("ignore previous instructions") == "tool"
    assert plain_tool("") == "tool"
    assert plain_head("git rebase") == "git rebase"
    assert plain_head("do not do any of it") == ""
    assert plain_head("$(reboot)") == ""


@pytest.mark.parametrize(
    ("tool", "head", "expected"),
    [
        ("sql", "SELECT", False),
        ("sql", "INSERT", True),
        ("sql", "", False),
        ("Bash", "ls", False),
        ("Bash", "git status", False),
        ("Bash", "git commit", True),
        ("Bash", "make test", True),
        ("Read", "", False),
        ("mcp__files__get_file", "", False),
        ("get_user_details", "", False),
        ("book_reservation", "", True),
        ("Edit", "", True),
    ],
)
def test_whatever_is_not_known_to_read_writes(tool: str, head: str, *, expected: bool) -> None:
    assert writes(tool, head) is expected


@pytest.mark.parametrize(
    ("actions", "meaning"),
    [
        ("sql:SHOW sql:DESC mysql:PRAGMA Read Glob ls get_user mcp__files__list_all getUser", LOOK),
        (["Bash:git log", "shell:cat", "Bash:docker ps", "sql:.schema"], LOOK),
        ("Edit Write NotebookEdit apply_patch sql:INSERT book_reservation Bash:rm createFile", CHANGE),
        (["Bash:git commit", "Bash:pip install", "Bash:git stash"], CHANGE),
        (["Bash:pytest", "Bash:npm test", "Bash:make test", "Bash:npx jest", "run_tests", "lint"], CHECK),
        ("submit finish final_answer Bash:exit Bash:submit attempt_completion", HAND_IN),
        ("sql:SELECT sql:EXPLAIN sql:COMMIT Bash:sed Bash:python message think str_replace_editor run_query", ""),
        (["Bash:git fetch", "Bash:npm run", "sql", "Bash:git"], ""),
    ],
)
def test_synonyms_have_one_meaning_and_what_could_be_either_has_none(
    actions: str | list[str], meaning: str
) -> None:
    named = actions.split() if isinstance(actions, str) else actions
    assert {action: meaning_of(action) for action in named} == dict.fromkeys(named, meaning)


def test_no_tool_of_a_log_is_taken_for_a_meaning() -> None:
    for meaning in (ANY, LOOK, CHANGE, CHECK, HAND_IN):
        assert plain_tool(meaning) == "tool"
        assert plain_head(meaning) == ""


@pytest.mark.parametrize(
    ("result", "failed"),
    [
        ("Error: payment amount does not add up", True),
        ("  fatal: not a git repository", True),
        ("ran\nTraceback (most recent call last):\n  ...", True),
        ("output\nProcess exited with code 2", True),
        ("Process exited with code 0", False),
        ("bash: foo: command not found", True),
        ("x" * 9000 + "\nValueError: late", True),
        ("There were no errors: all is well", False),
        ("3 rows", False),
        ("", False),
    ],
)
def test_results_without_a_flag_fail_by_what_they_say(result: str, *, failed: bool) -> None:
    assert looks_failed(result) is failed
