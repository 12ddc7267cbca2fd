"""The server that agents ask, by the client of its own SDK: every tool, bad input, a registry being written."""

from __future__ import annotations

import json
import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

import pytest

from tests.claude_sessions import sessions
from tests.terminal import MINIMAL, Terminal
from tui.session.open_registry import open_registry
from tui.session.own_command import own_command

if TYPE_CHECKING:
    from pathlib import Path

    from mcp import Client
    from mcp.types import CallToolResult

pytestmark = pytest.mark.skipif(find_spec("mcp") is None, reason="the extra mcp is not installed")
"""Imported by the tests that ask: it takes a second, and one worker in two has no use for it."""

READS: Final = {"find", "why", "lessons", "usage"}
BETTER: Final = MINIMAL.replace("Answer with one query.", "Answer with one query, and name its tables.")

HIDING: Final = BETTER.replace("tables", "tab\u200bles")


def told_in(folder: Path) -> Terminal:
    terminal = Terminal(folder)
    terminal.write("skills/sql-analyst/SKILL.md", MINIMAL)
    sessions(folder / "logs", "sql-analyst", MINIMAL, [True, False], first=1)
    terminal.does("init")
    terminal.does("import", "skills")
    terminal.does("scan", "logs")
    return terminal


@pytest.fixture(scope="module")
def germline(own_folder: Path) -> Terminal:
    """Give a project in which nothing is proposed."""
    return told_in(own_folder)


def client(germline: Terminal, *, proposing: bool = False) -> Client:
    from mcp import Client

    from tui.cli.commands.agents.mcp_server import server_on

    return Client(server_on(str(germline.folder / ".germline/registry.db"), proposing=proposing))


def document(result: CallToolResult) -> Any:  # noqa: ANN401 - JSON
    assert not result.is_error, result.content
    return result.structured_content or json.loads(getattr(result.content[0], "text", ""))


def refusal(result: CallToolResult) -> str:
    assert result.is_error
    return str(getattr(result.content[0], "text", ""))


async def test_an_agent_starts_the_server_and_asks_it_over_stdio(germline: Terminal) -> None:
    from mcp import Client, StdioServerParameters

    command, *words = own_command()
    home = {**os.environ, "HOME": str(germline.folder), "GERMLINE_REGISTRY": "", "XDG_CONFIG_HOME": ""}
    started = StdioServerParameters(command=command, args=[*words, "mcp"], env=home, cwd=str(germline.folder))
    async with Client(started) as asked:
        assert {tool.name for tool in (await asked.list_tools()).tools} == READS
        answer = document(await asked.call_tool("find", {"task": "questions with SQL"}))
    assert answer["schema"] == "germline/find/1"
    assert [skill["name"] for skill in answer["skills"]] == ["sql-analyst"]


async def test_every_question_is_answered_as_the_command_answers_scripts(germline: Terminal) -> None:
    asked_for: dict[str, tuple[dict[str, Any], list[str]]] = {
        "find": ({"task": "questions with SQL"}, ["find", "questions with SQL"]),
        "why": ({"line": "sql-analyst:6"}, ["why", "sql-analyst:6"]),
        "usage": ({"skill": "sql-analyst"}, ["usage", "sql-analyst"]),
    }
    async with client(germline) as asked:
        for tool, (given, typed) in asked_for.items():
            assert document(await asked.call_tool(tool, given)) == germline.does(*typed, "--json").json
        lessons = document(await asked.call_tool("lessons", {}))
    assert lessons["schema"] == "germline/start/1"
    assert lessons["sessions"]


async def test_nothing_is_written_unless_the_person_let_agents_propose(germline: Terminal) -> None:
    before = germline.does("log", "--json").out
    given = {"skill": "sql-analyst", "text": BETTER, "reason": "the tables are asked for"}
    async with client(germline) as asked:
        tools = (await asked.list_tools()).tools
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        assert (await asked.call_tool("propose", given)).is_error
    assert germline.does("log", "--json").out == before


async def test_a_proposal_is_a_candidate_by_an_agent_and_changes_nothing(tmp_path: Path) -> None:
    germline = told_in(tmp_path)
    given = {"skill": "sql-analyst", "text": BETTER, "reason": "the tables are asked for"}
    async with client(germline, proposing=True) as asked:
        names = {tool.name for tool in (await asked.list_tools()).tools}
        assert names == READS | {"propose"}
        proposed = document(await asked.call_tool("propose", given))
        again = refusal(await asked.call_tool("propose", given))
    (candidate,) = germline.does("candidates", "--json").json["candidates"]
    assert candidate["id"] == proposed["candidate"]
    assert (candidate["verdict"], candidate["waits"]) == (None, True)
    assert (germline.folder / "skills/sql-analyst/SKILL.md").read_text() == MINIMAL
    assert "by an agent, over mcp" in germline.does("candidate", "show", candidate["id"]).out
    assert "before" in again or "already" in again
    events = [json.loads(line) for line in germline.does("log", "--json").out.splitlines()]
    assert [event["actor"] for event in events if event["type"] == "CandidateProposed"] == ["agent:mcp"]


@pytest.mark.parametrize(
    ("tool", "given", "words"),
    [
        ("find", {}, "task"),
        ("find", {"task": "x", "top": 0}, "top"),
        ("find", {"task": 7}, "task"),
        ("why", {"line": "no line"}, "line"),
        ("why", {"line": "sql-analyst:999"}, "999"),
        ("why", {"line": "../../etc/passwd:1"}, "passwd"),
        ("usage", {"skill": "sql-analist"}, "sql-analist"),
        ("lessons", {"top": 1_000}, "top"),
        ("propose", {"skill": "sql-analyst", "text": BETTER, "reason": ""}, "reason"),
        ("propose", {"skill": "sql-analyst", "text": "", "reason": "r"}, "sql-analyst"),
        ("propose", {"skill": "sql-analyst", "text": MINIMAL, "reason": "r"}, "nothing to propose"),
        (
            "propose",
            {"skill": "sql-analyst", "text": HIDING, "reason": "r"},
            "ZERO WIDTH",
        ),
        ("promote", {"candidate": "x"}, "promote"),
    ],
)
async def test_bad_input_is_refused_in_words_and_the_server_goes_on(
    germline: Terminal, tool: str, given: dict[str, Any], words: str
) -> None:
    head = germline.does("status", "--json").json["head"]
    async with client(germline, proposing=True) as asked:
        assert words in refusal(await asked.call_tool(tool, given))
        assert document(await asked.call_tool("find", {"task": "SQL"}))
    assert germline.does("status", "--json").json["head"] == head


async def test_questions_are_answered_while_the_registry_is_being_written(germline: Terminal) -> None:
    file = germline.folder / ".germline/registry.db"
    async with client(germline) as asked:
        with open_registry(file, is_own=True) as registry, registry.rehearsal():
            assert document(await asked.call_tool("why", {"line": "sql-analyst:6"}))["skill"] == "sql-analyst"
            assert document(await asked.call_tool("usage", {"skill": "sql-analyst"}))


def test_without_the_sdk_the_command_says_what_to_install(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tui.cli.commands.agents.mcp_server", None)
    answer = germline("mcp")
    assert answer.code == 2
    assert "pip install 'mcp<3,>=2'" in answer.hint
