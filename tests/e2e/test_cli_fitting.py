"""Rows with a long path, a long name or a long value fit the terminal, and how they end can be read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from unittest.mock import patch

import pytest

from tests.command_lines import told_in
from tests.terminal import recordings
from tui.text.terminal_text import clip_path, columns

if TYPE_CHECKING:
    from pathlib import Path

    from tests.terminal import Answer, Terminal

_TYPED = re.compile(r" germline |germline\.toml|\b[0-9a-f]{64}$")
"""Commands, what goes into the settings, and whole ids, all of them to be copied as they are."""
WIDTHS = (60, 80, 100, 140)
FOLDER = "a-folder-of-a-team-that-gives-long-names-to-everything"
LOG = "-".join(["runs-of-an-agent-that-was-left-alone-for-a-night"] * 2)
SKILL = "a-skill-whose-name-goes-on-for-as-long-as-the-rules-of-them-let"
ROWS = (
    *("status", "config", "config --origins", "evidence show", "signals", "candidates", "candidate show c1c1c1"),
    *("log", "search tables", "why sql-analyst:12 --all", "alias list", "verify", "doctor", "gate explain c1c1c1"),
    *(f"project {SKILL} --dry-run", "backup kept.db --dry-run", "copy registry.db other.db --dry-run"),
    *(
        "export skill sql-analyst -o out --dry-run",
        "import-gep genes.json --dry-run",
        "report -o r.html --dry-run",
        "preset show balanced",
        "preset preview harden",
        "show sql-analyst --blame",
        "init sub --dry-run",
        "import more --dry-run",
    ),
    *("preset list", "signals --quality", "judge show", "advise sql-analyst --dry-run", "log sql-analyst"),
)


@pytest.fixture(scope="module")
def germline(own_folder: Path) -> Terminal:
    """The story, far down in folders; a skill and a log with long names, and settings of that skill."""
    folder = own_folder / FOLDER / FOLDER
    folder.mkdir(parents=True)
    germline = told_in(folder)
    log = germline.write(f"logs/{LOG}/{LOG}.jsonl.gz", (recordings() / "careful.jsonl.gz").read_bytes())
    germline.write(
        "germline.toml", f'[scan]\npaths = ["{log.parent}", "{log}"]\n[rollouts.{SKILL}]\ntasks = "{log}"\n'
    )
    germline.write(f"more/{SKILL}/SKILL.md", f"---\nname: {SKILL}\ndescription: D.\n---\n\nDo it.\n")
    germline.does("import", f"more/{SKILL}")
    germline.does("scan", log)
    return germline


def answer_at(germline: Terminal, words: str, width: int) -> Answer:
    if words == "evidence show":
        words = f"evidence show {evidence_of(germline)}"
    with patch.dict(germline._env, {"COLUMNS": str(width)}):
        return germline(*words.split())


def evidence_of(germline: Terminal) -> str:
    signals = germline.does("signals", "--json").json["signals"]
    return str(next(signal["evidence"][0] for signal in signals if "no such table" in signal["template"]))


@pytest.mark.parametrize("words", ROWS)
def test_no_row_is_wider_than_the_terminal_but_for_commands_to_type_and_the_lines_of_a_skill(
    germline: Terminal, words: str
) -> None:
    skill = germline.does("show", "sql-analyst").out.splitlines()
    for width in WIDTHS:
        answer = answer_at(germline, words, width)
        assert answer.code in {0, 3}, answer.err
        for line in (answer.out + answer.err).splitlines():
            typed = line.startswith(("next", "hint")) or _TYPED.search(line)
            quoted = any(text and text in line for text in skill) or line.startswith("  description:")
            assert columns(line) <= width or typed or quoted, (width, line)


@pytest.mark.parametrize("words", ["config", "config --origins", "evidence show"])
@pytest.mark.parametrize("width", WIDTHS)
def test_folding_loses_nothing_of_a_path(germline: Terminal, words: str, width: int) -> None:
    kept = f"{germline.folder}/{f'logs/{LOG}/{LOG}.jsonl.gz' if words == 'evidence show' else 'registry.db'}"
    joined = "".join(line.strip() for line in answer_at(germline, words, width).out.splitlines())
    assert kept in joined
    assert f"{LOG}/{LOG}.jsonl.gz" in joined or not words.startswith("config")


def test_json_has_every_path_whole(germline: Terminal) -> None:
    kept = str(germline.folder / "registry.db")
    with patch.dict(germline._env, {"COLUMNS": "60"}):
        assert germline.does("status", "--json").json["registry"] == kept
        settings = {
            setting["key"]: setting["value"] for setting in germline.does("config", "--json").json["settings"]
        }
        shown = germline.does("evidence", "show", evidence_of(germline), "--json").json
    assert (settings["registry"], settings["scan.paths"][1]) == (
        kept,
        f"{germline.folder}/logs/{LOG}/{LOG}.jsonl.gz",
    )
    assert shown["file"].startswith(str(germline.folder))


def test_status_keeps_how_paths_and_names_end(germline: Terminal) -> None:
    for width in WIDTHS:
        rows = answer_at(germline, "status", width).out.splitlines()
        assert "/registry.db" in rows[0]
        assert "head " in rows[0] + rows[1]
        assert "@1 " in next(row for row in rows if "a-skill-" in row)
        assert width < 80 or any(row.endswith("production→3") for row in rows if " sql-analyst@3 " in row)


def test_a_path_is_cut_to_its_first_folder_and_the_last_ones_that_fit() -> None:
    path = "/home/ada/of-a-team/that-has-many/there/.germline/registry.db"
    assert clip_path(path, 61) == path
    assert clip_path(path, 40) == "/home/…/there/.germline/registry.db"
    assert clip_path(path, 34) == "/home/…/.germline/registry.db"
    assert clip_path("/srv/" + "x" * 40, 20) == "/srv/xxxxx…xxxxxxxxx"
