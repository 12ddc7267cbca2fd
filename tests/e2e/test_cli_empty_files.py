"""Zero is never silent: a file that gave no episode is named, with the reason, and every reader can be asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.agent_sessions import CURSOR, GEMINI
from tests.sample_logs import jsonl
from tests.terminal import Terminal
from tests.trace_exports import langfuse_observation

if TYPE_CHECKING:
    from pathlib import Path

ODD = jsonl({"role": "owner", "content": "x"}, {"role": "owner", "content": "y"})
SPAN = jsonl(langfuse_observation("SPAN", 1, name="x"))
BENT = jsonl({"role": "user", "content": 7})


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    terminal = Terminal(tmp_path)
    terminal.does("init")
    terminal.write("logs/gemini.jsonl", GEMINI)
    return terminal


@pytest.mark.parametrize(
    ("body", "read_as", "reason"),
    [
        (ODD, "chat", "its records are of kinds that are not known: role owner"),
        (SPAN, "langfuse", "it holds no step of an agent (records: 1)"),
        (BENT, "chat", "line 1 does not fit"),
    ],
)
def test_a_file_without_an_episode_is_named_with_the_reason(
    germline: Terminal, body: bytes, read_as: str, reason: str
) -> None:
    germline.write("logs/odd.jsonl", body)
    answer = germline.does("scan", "logs")
    assert f"odd.jsonl: read as {read_as}, {reason}" in answer.out
    assert "germline scan FILE --explain" in answer.out
    assert germline.does("scan", "logs").out.count("read as") == 0


def test_strict_ends_with_one_where_a_file_gave_nothing_and_with_zero_where_all_did(germline: Terminal) -> None:
    assert germline("scan", "logs", "--strict").code == 0
    germline.write("logs/odd.jsonl", ODD)
    assert germline("scan", "logs", "--strict").code == 1


def test_json_names_the_files_that_gave_nothing(germline: Terminal) -> None:
    germline.write("logs/odd.jsonl", ODD)
    (empty,) = germline.does("scan", "logs", "--json").json["empty"]
    assert (empty["format"], empty["why_empty"]) == (
        "chat",
        "its records are of kinds that are not known: role owner",
    )


def test_explain_says_what_each_reader_makes_of_a_file_and_keeps_nothing(germline: Terminal) -> None:
    germline.write("logs/cursor.jsonl", CURSOR)
    before = germline.does("log").out
    shown = germline.does("scan", "logs/cursor.jsonl", "--explain").out
    assert "cursor             reads it: 1 episode, 5 steps, 1 failing" in shown
    assert "chat               would read it: 0 episodes" in shown
    assert "not theirs: steps, gemini-cli" in shown
    assert max(map(len, shown.splitlines()[2:])) <= 80
    (explained,) = germline.does("scan", "logs/cursor.jsonl", "--explain", "--json").json["explained"]
    assert [row["format"] for row in explained["readers"] if row["chosen"]] == ["cursor"]
    assert germline.does("log").out == before


def test_explain_tells_a_file_that_no_reader_takes(germline: Terminal) -> None:
    germline.write("logs/notes.md", b"# Error: none")
    assert "its name is that of a source or a text" in germline.does("scan", "logs/notes.md", "--explain").out
