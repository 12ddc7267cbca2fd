"""Readings: what a line of instructions asks for that logs can hold, and what is never read into one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest

from events.types.claims import AnytimeBefore, FinishWith, Instead, Never, StartWith
from strategies.usage.action_names import ActionNames
from strategies.usage.handwritten_lines import reading_of, stating
from tests.worlds import call, episode
from tests.worlds.instructions import UNWITNESSED, planted

if TYPE_CHECKING:
    from events.types.claims import Claim

NAMES: Final = ActionNames.of(
    [
        episode([call("Bash:git commit"), call("Bash:pytest"), call("Read"), call("Edit")]),
        episode([call("Bash:make lint"), call("Bash:ls"), call("Bash:pytest"), call("Bash:npm ci")]),
        episode([call("sql:SELECT"), call("sql:SHOW"), call("mcp__db__query"), call("Bash:npm test")]),
    ]
)
TESTS_FIRST = AnytimeBefore(action="Bash:git commit", do="Bash:pytest")
LINT_FIRST = AnytimeBefore(action="Bash:git commit", do="Bash:make lint")
RG = Instead(do="Bash:rg", avoid="Bash:grep")
PNPM = Instead(do="Bash:pnpm", avoid="Bash:npm")


@pytest.mark.parametrize(
    ("line", "claim"),
    [
        ("- Always run tests before commit.", TESTS_FIRST),
        ("Run `pytest -q` before you `git commit`.", TESTS_FIRST),
        ("**Never** commit before running the tests!", TESTS_FIRST),
        ("Tests must pass before you commit", TESTS_FIRST),
        ("Commit only after successful tests.", TESTS_FIRST),
        ("1. Run the tests first, then commit.", TESTS_FIRST),
        ("Before committing, always run `make lint`.", LINT_FIRST),
        ("Don't commit without running the linter.", LINT_FIRST),
        ("Use pnpm, not npm.", PNPM),
        ("Never use npm. Use pnpm instead.", PNPM),
        ("Package manager: pnpm, not npm", PNPM),
        ("Replace `npm` with `pnpm`", PNPM),
        ("* Use `rg` instead of `grep` for searching.", RG),
        ("Prefer rg to grep.", RG),
        ("Instead of grep, use rg.", RG),
        ("Don't use `cat`; use Read.", Instead(do="Read", avoid="Bash:cat")),
        ("Use the query tool, not Bash.", Instead(do="mcp__db__query", avoid="Bash")),
        ("Run `SHOW` before `SELECT`.", AnytimeBefore(action="sql:SELECT", do="sql:SHOW")),
        ("Never use npm.", Never(avoid="Bash:npm")),
        ("Do not run `rm` yourself.", Never(avoid="Bash:rm")),
        ("Start every task with `ls`.", StartWith(do="Bash:ls")),
        ("Before you finish, run `pytest`.", FinishWith(do="Bash:pytest")),
    ],
)
def test_an_order_or_a_choice_of_two_is_read_whatever_its_form(line: str, claim: Claim) -> None:
    assert reading_of(line, NAMES) == claim


@pytest.mark.parametrize(
    "line",
    [
        *UNWITNESSED,
        "Never run `git push --force`.",  # the class of an action holds no option
        "Run `npm run build` before `git commit -m wip`.",
        "Use pnpm, not npm, unless the lockfile is npm's.",
        "If the tests fail, run `make lint` before `pytest`.",
        "Add tests before you commit.",
        "Read the file before you edit it.",
        "Use early returns, not npm-style callbacks.",
        "Run tests before tests.",
        "`pytest`",
    ],
)
def test_a_line_that_asks_for_something_else_or_for_more_is_not_read(line: str) -> None:
    assert reading_of(line, NAMES) is None


def test_every_line_that_is_planted_to_be_witnessed_is_read_and_no_other() -> None:
    for seed in range(20):
        lines = planted(seed)
        names = ActionNames.of(
            [episode([call(f"Bash:{name}") for line in lines for name in (*line.obeyed, *line.ignored)])]
        )
        read = {line.text for line in lines if reading_of(line.text, names)}
        assert read == {line.text for line in lines if line.kind != "unwitnessed"}


def test_without_logs_nothing_is_read() -> None:
    assert reading_of("Use pnpm, not npm.", ActionNames.of([])) is None


def test_a_person_who_corrects_a_reading_may_use_names_that_are_words() -> None:
    assert reading_of("make before edit", NAMES) is None
    assert reading_of("run ls before Edit", NAMES, names_alone=True) == AnytimeBefore(action="Edit", do="Bash:ls")


def test_headings_rules_and_code_state_nothing() -> None:
    texts = ["# Title", "", "Be kind.", "---", "```", "npm ci", "```", "<!-- note -->", "- Use pnpm, not npm."]
    assert [texts[at] for at in stating(texts)] == ["Be kind.", "- Use pnpm, not npm."]
