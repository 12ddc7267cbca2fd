"""The settings in force at the command line: each with its value, and with what said so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.terminal import Terminal
from tui.cli.config.known_settings import KINDS

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    germline = Terminal(tmp_path, GERMLINE_SEED="3").with_skill()
    germline.write("germline.toml", "seed = 2\n[watch]\npromote = true\n")
    germline.write(".config/germline/germline.toml", 'seed = 1\n[scan]\npaths = ["runs"]\n')
    return germline


def row(germline: Terminal, key: str, *before: str) -> dict[str, Any]:
    config = germline.does(*before, "config", "--json").json
    assert config["schema"] == "germline/config/1"
    (setting,) = [entry for entry in config["settings"] if entry["key"] == key]
    return dict(setting)


def test_every_setting_is_there_with_the_layer_that_won(germline: Terminal) -> None:
    config = germline.does("config", "--json").json
    assert {setting["key"] for setting in config["settings"]} == {"registry", *KINDS}
    assert (row(germline, "seed")["value"], row(germline, "seed")["origin"]) == (3, "environment")
    assert row(germline, "watch.promote")["where"] == str(germline.folder / "germline.toml")
    paths = row(germline, "scan.paths")
    own = germline.folder / ".config" / "germline"
    assert (paths["value"], paths["origin"]) == ([str(own / "runs")], "user file")
    assert (row(germline, "scan.workers")["value"], row(germline, "scan.workers")["origin"]) == (0, "default")
    assert config["files"]["user_exists"]


def test_origins_are_told_in_words(germline: Terminal) -> None:
    plain = germline.does("config").out
    assert "GERMLINE_SEED" not in plain
    assert "next" in plain
    output = germline.does("config", "--origins").out
    (line,) = [line for line in output.splitlines() if line.startswith("seed ")]
    assert line.split() == ["seed", "3", "environment", "GERMLINE_SEED"]


def test_the_registry_says_why_it_is_that_one(germline: Terminal, tmp_path: Path) -> None:
    assert row(germline, "registry")["origin"] == "default"
    path = str(germline.folder / ".germline" / "registry.db")
    assert row(germline, "registry", "--registry", path) == {
        "key": "registry", "value": path, "origin": "flag", "where": "--registry",
    }  # fmt: skip
    elsewhere = Terminal(tmp_path, GERMLINE_REGISTRY=path)
    assert row(elsewhere, "registry")["where"] == "GERMLINE_REGISTRY"


def test_without_a_registry_or_a_file_all_are_defaults(tmp_path: Path) -> None:
    config = Terminal(tmp_path).does("config", "--json").json
    assert {setting["origin"] for setting in config["settings"]} == {"default"}
    assert config["files"]["user_exists"] is False


def test_a_misspelt_variable_is_told_beside_the_answer(tmp_path: Path) -> None:
    answer = Terminal(tmp_path, GERMLINE_SEDE="3").does("config")
    assert "GERMLINE_SEDE says nothing to germline; did you mean GERMLINE_SEED?" in answer.err


def test_a_setting_that_cannot_be_is_an_error_that_names_who_said_it(tmp_path: Path) -> None:
    answer = Terminal(tmp_path, GERMLINE_WATCH_PROMOTE="perhaps")("config")
    assert answer.code == 2
    assert "GERMLINE_WATCH_PROMOTE sets watch.promote to 'perhaps'" in answer.err
    assert "true or false" in answer.hint


def test_a_variable_beats_a_file_and_a_flag_beats_both_in_the_command_itself(germline: Terminal) -> None:
    germline.write(".config/germline/runs/a.jsonl", '{"type": "step", "episode": "e", "tool": "ls"}\n')
    assert germline.does("evolve", "sql-analyst", "--json").json["seed"] == 3
    assert germline.does("evolve", "sql-analyst", "--seed", "9", "--json").json["seed"] == 9
