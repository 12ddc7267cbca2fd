"""`germline log --follow`: each event once, in order, while others append; clean when it is stopped."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.terminal import MINIMAL, Terminal
from tui.cli.output.invocation import Invocation

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "import sys; from tui.cli.main import main; sys.exit(main())"


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    germline = Terminal(tmp_path)
    germline.does("init")
    germline.write("sql-analyst/SKILL.md", MINIMAL)
    germline.does("import", "sql-analyst")
    return germline


@pytest.fixture
def following(germline: Terminal) -> Iterator[subprocess.Popen[str]]:
    """Follow all events of a registry from the first one, in a process of its own."""
    command = [sys.executable, "-c", COMMAND, "log", "--follow", "--after", "0", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, cwd=germline.folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        yield process
        process.kill()


def test_events_are_told_as_another_process_appends_them_until_it_is_interrupted(
    germline: Terminal, following: subprocess.Popen[str]
) -> None:
    assert following.stdout
    assert following.stderr
    before = germline.does("log", "--json").out.splitlines()
    seen = [following.stdout.readline() for _ in before]
    germline.does("alias", "set", "sql-analyst", "stable", "1")
    germline.does("alias", "set", "sql-analyst", "canary", "1")
    seen += [following.stdout.readline() for _ in range(2)]
    following.send_signal(signal.SIGINT)
    assert following.wait(timeout=30) == 0
    assert following.stdout.read() == ""
    last = len(before) + 2
    assert (
        following.stderr.read() == f"stopped    behind event {last}; go on: germline log --follow --after {last}\n"
    )
    after = germline.does("log", "--json").out.splitlines()
    assert [line.rstrip("\n") for line in seen] == after[::-1]
    assert [json.loads(line)["position"] for line in seen] == list(range(1, last + 1))


def test_what_was_told_when_the_interrupt_came_is_not_told_again(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    say = Invocation.say

    def interrupted(call: Invocation, text: str = "") -> None:
        say(call, text)
        if json.loads(text)["position"] == 2:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(Invocation, "say", interrupted)
    answer = germline("log", "--follow", "--after", "0", "--json")
    assert [json.loads(line)["position"] for line in answer.out.splitlines()] == [1, 2]
    assert answer.err == "stopped    behind event 2; go on: germline log --follow --after 2\n"


def test_only_what_is_wanted_is_told_and_a_limit_ends_it(germline: Terminal) -> None:
    germline.does("alias", "set", "sql-analyst", "stable", "1")
    output = germline.does("log", "--follow", "--after", "0", "--type", "AliasMoved", "--limit", "1").out
    assert output.count("\n") == 1
    assert "AliasMoved" in output
    skill = germline.does("log", "sql-analyst", "--follow", "--after", "0", "--limit", "2", "--json").out
    assert [json.loads(line)["skill"] for line in skill.splitlines()] == ["sql-analyst"] * 2


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (("--after", "3"), "germline log --follow --after 3"),
        (("--follow", "--since", "2026-11-01"), "germline log --follow --after 0"),
        (("nobody", "--follow"), "germline status lists the skills"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_next_command(
    germline: Terminal, words: tuple[str, ...], hint: str
) -> None:
    answer = germline("log", *words)
    assert (answer.code, answer.hint) == (2, hint)
