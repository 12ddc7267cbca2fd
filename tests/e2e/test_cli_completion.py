"""Completion: what a shell is told, and that bash itself completes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.command_lines import PATHS, told_in
from tui.cli.commands.registry.completion_scripts import SCRIPTS
from tui.cli.complete import TAKES
from tui.cli.typer_app import parameters

if TYPE_CHECKING:
    from tests.terminal import Terminal

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def germline(own_folder: Path) -> Terminal:
    return told_in(own_folder)


def completed(germline: Terminal, line: str, breaks: str = "") -> list[str]:
    return germline.does("__complete", "bash", line, breaks).out.splitlines()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("germline cand", ["candidate", "candidates"]),
        ("germline candidate re", ["reject"]),
        ("germline show ", ["sql-analyst", "ticket-triage"]),
        ("germline --quiet why sql-analyst@", ["sql-analyst@3", "sql-analyst@2", "sql-analyst@1"]),
        ("germline revert ticket-triage --to ", ["3", "2", "1", "best"]),
        ("germline diff sql-analyst 1 ", ["3", "2", "1", "best", "production"]),
        ("germline preset use ha", ["harden"]),
        ("germline evolve --preset re", ["repair-only"]),
        ("germline candidate show c1", ["c1c1c1c1c1c1"]),
        ("germline export rollouts --format ", ["grpo", "sft"]),
        ("germline why sql-analyst:8 --a", ["--all"]),
        ("germline help candidate ap", ["approve"]),
        ("germline completion f", ["fish"]),
        ("germline import ", []),
        ("germline show nobody@", []),
        ('germline search "an open quote', []),
        ("germline --registry ", []),
    ],
)
def test_what_may_stand_there_is_offered(germline: Terminal, line: str, expected: list[str]) -> None:
    assert completed(germline, line)[: len(expected) or None] == expected


def test_bash_gets_what_comes_behind_the_signs_at_which_it_breaks_words(germline: Terminal) -> None:
    assert completed(germline, "germline show sql-analyst@3", ":@=") == ["3"]


def test_without_a_registry_nothing_is_said_and_nothing_is_made(tmp_path: Path) -> None:
    from tests.terminal import Terminal as Empty

    empty = Empty(tmp_path)
    for line in ("germline show ", "germline candidate show ", "germline diff a "):
        answer = empty.does("__complete", "bash", line, "")
        assert (answer.out, answer.err) == ("", "")
    assert "balanced" in completed(empty, "germline preset show ")
    assert not list(tmp_path.iterdir())


def test_every_argument_that_is_a_skill_a_preset_or_a_candidate_is_completed() -> None:
    kinds = {"SKILL": "skill", "[SKILL]": "skill", "SKILL[@VERSION]": "version", "SKILL[@V]": "version"}
    for path in PATHS:
        first = next((parameter for parameter in parameters(path) if not parameter.opts[0].startswith("-")), None)
        metavar = getattr(first, "metavar", "")
        if metavar in kinds:
            assert TAKES[path][0] == kinds[metavar], path


def test_commands_are_completed_before_typer_is_loaded() -> None:
    code = (
        "import sys; from tui.cli.main import main; main(sys.argv[1:]);"
        "print(sorted({name.split('.')[0] for name in sys.modules}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "__complete", "words", "sh"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    names, modules = done.stdout.split("\n", 1)
    assert names == "show"
    assert not [
        module for module in ("typer", "pydantic", "sqlite3", "registry", "strategies") if f"'{module}'" in modules
    ]


def test_installing_writes_the_script_and_names_it_in_the_settings_once(tmp_path: Path) -> None:
    from tests.terminal import Terminal as Fresh

    home = Fresh(tmp_path, SHELL="/bin/bash", XDG_DATA_HOME="", ZDOTDIR="")
    home.write(".bashrc", "mine=1")
    assert "would write" in home.does("completion", "--install", "--dry-run").out
    assert (tmp_path / ".bashrc").read_text() == "mine=1"
    for _ in range(2):
        home.does("completion", "--install")
    settings = (tmp_path / ".bashrc").read_text()
    assert settings.startswith("mine=1\n")
    assert settings.count("# germline\n") == 1
    assert (tmp_path / ".local/share/germline/completion.bash").read_text() == SCRIPTS["bash"]
    home.does("completion", "zsh", "--install")
    home.does("completion", "fish", "--install")
    assert (tmp_path / ".config/fish/completions/germline.fish").read_text() == SCRIPTS["fish"]
    answer = home("completion", "tcsh")
    assert answer.code == 2
    assert "germline completion bash" in answer.hint


_IN_BASH = """
. ./script
try() { COMP_LINE="$1"; COMP_POINT=${#1}; COMPREPLY=(); _germline germline; echo "${COMPREPLY[@]}"; }
try 'germline candid'
try 'germline show sql-analyst@'
complete -p germline
"""
_IN_FISH = """
source script
complete -C 'germline show sq'
complete -C 'germline import skills/t'
"""
_IN_ZSH = """
compdef() {}
compadd() { print -rl -- "${(@P)2}" }
_files() { print -r -- files }
source ./script
words=(germline show sq) CURRENT=3; _germline
words=(germline import "") CURRENT=3; _germline
"""


def needs(shell: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not shutil.which(shell), reason=f"{shell} is not there")


def in_shell(germline: Terminal, shell: str, *words: str) -> list[str]:
    """Run a shell that finds the command and its completion script, and give the lines that it prints."""
    germline.write("script", SCRIPTS[shell])
    wrapper = germline.write("bin/germline", f'#!/bin/sh\nexec "{sys.executable}" -m tui.cli.main "$@"\n')
    wrapper.chmod(0o755)
    path = f"{wrapper.parent}:{os.environ['PATH']}"
    env = {**os.environ, **germline._env, "PATH": path, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [shell, *words], cwd=germline.folder, env=env, capture_output=True, text=True, check=True
    )
    return done.stdout.splitlines()


@needs("bash")
def test_bash_completes_commands_and_versions_with_the_installed_script(germline: Terminal) -> None:
    commands, versions, registered = in_shell(germline, "bash", "--norc", "-c", _IN_BASH)
    assert commands.split() == ["candidate", "candidates"]
    assert versions.split()[0].endswith("3")
    assert "-F _germline" in registered


@needs("fish")
def test_fish_completes_skills_and_falls_back_on_files(germline: Terminal) -> None:
    completions = in_shell(germline, "fish", "--no-config", "-c", _IN_FISH)
    assert [line.split("\t")[0] for line in completions] == ["sql-analyst", "skills/ticket-triage/"]


@needs("zsh")
def test_zsh_completes_skills_and_falls_back_on_files(germline: Terminal) -> None:
    assert in_shell(germline, "zsh", "-f", "-c", _IN_ZSH) == ["sql-analyst", "files"]
