"""What the command line looks like: 80 columns, colours, plain terminals, the pager."""

from __future__ import annotations

import io
import os
import pty
import re
import select
from contextlib import chdir, redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from tests.command_lines import READS, WRITES, told_in
from tests.forked import ForkedCommand
from tui.cli.main import main

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terminal import Terminal

VERBATIM = {"show sql-analyst", "checkpoint", "diff sql-analyst 1 2"}
"""What prints texts as they are, whatever their width: a skill, its changes, a checkpoint to keep."""
RUNS = [
    *(words for words in READS.values() if words not in {*VERBATIM, "evidence show"}),
    *(f"{words} --dry-run" for words in WRITES.values()),
    *("config --origins", "doctor", "show sql-analyst --blame", "why sql-analyst:12 --all", "why ticket-triage:6"),
    *("signals --quality", "gate explain c4c4c4", "search Before", "search absent", "demo --help"),
]
_WHOLE_ID = re.compile(r"\b[0-9a-f]{64}\b")
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def germline(own_folder: Path) -> Terminal:
    return told_in(own_folder)


@pytest.mark.parametrize("words", RUNS)
def test_every_line_fits_80_columns_but_for_paths_and_the_lines_of_a_skill(germline: Terminal, words: str) -> None:
    answer = germline(*words.split())
    skill = germline.does("show", "sql-analyst").out.splitlines()
    printed = (answer.out + answer.err).splitlines()
    assert printed
    for line in printed:
        path = str(germline.folder) in line or ".germline/registry.db" in line
        text = any(row and row in line for row in skill)
        assert len(line) <= 80 or path or text, line
        assert not _WHOLE_ID.search(line), line


def test_nothing_is_counted_in_the_wrong_number(germline: Terminal) -> None:
    for words in RUNS:
        assert not re.search(
            r"(?<![\d.,])1 [a-z]+s\b(?<!1 is)(?<!1 was)(?<!1 has)", germline(*words.split()).out
        ), words


def test_colour_is_forced_and_forbidden_by_the_variables_that_others_honour(germline: Terminal) -> None:
    with patch.dict(germline._env, {"CLICOLOR_FORCE": "1"}):
        coloured = germline.does("candidates").out
    with patch.dict(germline._env, {"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}):
        plain = germline.does("candidates").out
    assert _ESCAPE.search(coloured)
    assert _ESCAPE.sub("", coloured) == plain == germline.does("candidates").out


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
@pytest.mark.parametrize("words", ["why sql-analyst:12", "status", "candidates", "search Before", "show nobody"])
def test_a_terminal_without_unicode_gets_signs_of_ascii(germline: Terminal, words: str, encoding: str) -> None:
    kept_out, kept_err = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(kept, encoding=encoding) for kept in (kept_out, kept_err))
    with chdir(germline.folder), patch.dict(os.environ, germline._env), redirect_stdout(out), redirect_stderr(err):
        code = main(words.split())
    out.flush()
    err.flush()
    output = kept_out.getvalue() + kept_err.getvalue()
    assert code == (2 if "nobody" in words else 0)
    assert output.decode("ascii" if encoding == "ascii" else "latin-1")
    assert b"UnicodeEncodeError" not in output


def test_json_and_a_skill_in_a_file_lose_nothing_where_stdout_is_no_unicode(germline: Terminal) -> None:
    def printed(*words: str) -> bytes:
        kept = io.BytesIO()
        out = io.TextIOWrapper(kept, encoding="ascii")
        with chdir(germline.folder), patch.dict(os.environ, germline._env), redirect_stdout(out):
            assert main(["--quiet", *words]) == 0
        out.flush()
        return kept.getvalue()

    assert b'"text": "After \\"Table \\u2026 doesn\'t exist' in printed("show", "sql-analyst", "--json")
    assert "After \"Table … doesn't exist".encode() in printed("show", "sql-analyst")


def on_a_terminal(words: list[str], germline: Terminal, **env: str) -> str:
    """Run a command with a terminal as stdout, and return what appears there."""
    seen, end = pty.openpty()
    environment = {**os.environ, **germline._env, **env, "TERM": "xterm"}
    with ForkedCommand(words, cwd=germline.folder, env=environment, terminal=end) as process:
        os.close(end)
        output = b""
        while select.select([seen], [], [], 30)[0]:
            try:
                part = os.read(seen, 65_536)
            except OSError:  # Linux says so where the other end was closed
                break
            if not part:
                break
            output += part
        process.wait(30)
    os.close(seen)
    return output.decode()


def test_long_answers_go_through_the_pager_on_a_terminal_and_nowhere_else(germline: Terminal) -> None:
    pager = "sed s/^/paged:/"
    watched = on_a_terminal(["log"], germline, PAGER=pager)
    assert all(line.startswith("paged:") for line in watched.splitlines() if line.strip())
    assert "paged:" in watched
    assert "paged:" not in on_a_terminal(["status"], germline, PAGER=pager)
    with patch.dict(germline._env, {"PAGER": pager}):
        assert "paged:" not in germline.does("log").out
