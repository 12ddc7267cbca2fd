from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest
import typer

from tui.cli.commands_table import COMMANDS, GROUPS

DOCS = Path(__file__).resolve().parents[4] / "docs" / "commands.md"


def names() -> list[str]:
    """Every command, with the commands inside a group spelled out."""
    commands = []
    for name, entry in COMMANDS.items():
        command = import_module(f"tui.cli.commands.{entry.module}").COMMANDS[name]
        if isinstance(command, typer.Typer):
            commands += [f"{name} {inner.name}" for inner in command.registered_commands]
        else:
            commands.append(name)
    return commands


@pytest.mark.parametrize("name", names())
def test_every_command_has_a_heading_and_an_example_in_the_docs(name: str) -> None:
    sections = DOCS.read_text(encoding="utf-8").split("\n## ")
    section = next((text for text in sections if text.startswith(f"germline {name}\n")), "")
    assert section, f"docs/commands.md has no section for germline {name}"
    assert f"$ germline {name}" in section or f"$ germline --registry demo.db {name}" in section


@pytest.mark.parametrize("name", COMMANDS)
def test_the_list_of_commands_says_what_the_command_says_of_itself(name: str) -> None:
    entry = COMMANDS[name]
    command = import_module(f"tui.cli.commands.{entry.module}").COMMANDS[name]
    summary = command.info.help if isinstance(command, typer.Typer) else command.__doc__.splitlines()[0]
    assert summary == entry.summary


def test_no_line_of_the_list_of_commands_is_cut_off(capsys: pytest.CaptureFixture[str]) -> None:
    from tui.cli.main import main

    assert main(["--help"]) == 0
    listed = capsys.readouterr().out.partition(f"{next(iter(GROUPS))}:")[2]
    assert listed
    assert "..." not in listed
