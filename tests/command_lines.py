"""Command lines: every command by its path, and runs on the registry of `tests/story.py` that must go well."""

from __future__ import annotations

import json
from importlib import import_module
from typing import TYPE_CHECKING, Final

import typer

from tests import story
from tests.terminal import Terminal
from tui.cli.commands_table import COMMANDS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STEPS: Final = "".join(
    f'{{"type":"episode","episode":"e{n}","task":"t{n}","run":"r"}}\n'
    f'{{"type":"step","episode":"e{n}","tool":"sql","text":"SELECT 1","result":"1"}}\n'
    f'{{"type":"outcome","episode":"e{n}","value":1,"source":"tests"}}\n'
    for n in range(3)
)


LISTS: Final = frozenset({"signals"})
"""Groups that list things where no command of theirs is typed."""


def told_in(folder: Path) -> Terminal:
    """Tell the story in a folder, and lay beside it what the runs below name."""
    story.tell(folder)
    terminal = Terminal(folder, GERMLINE_REGISTRY=str(folder / "registry.db"))
    terminal.write("steps.jsonl", STEPS)
    terminal.write("more/notes/SKILL.md", "---\nname: notes\ndescription: Notes.\n---\n\nWrite them down.\n")
    terminal.write("genes.json", json.dumps({"type": "Gene", "id": "gene_a", "strategy": ["Look first."]}))
    return terminal


def callbacks() -> dict[str, Callable[..., None]]:
    """Give the function of every command by what is typed; the commands inside a group are spelled out."""
    functions: dict[str, Callable[..., None]] = {}
    for name, entry in COMMANDS.items():
        command = import_module(f"tui.cli.commands.{entry.module}").COMMANDS[name]
        if isinstance(command, typer.Typer):
            by_itself = command.registered_callback
            if name in LISTS and by_itself and by_itself.callback:
                functions[name] = by_itself.callback
            for inner in command.registered_commands:
                assert inner.callback is not None
                functions[f"{name} {inner.name}"] = inner.callback
        else:
            functions[name] = command
    return functions


PATHS: Final = tuple(callbacks())

READS: Final[dict[str, str]] = {
    "status": "status",
    "signals": "signals",
    "signals show": "signals show error_template:T",
    "candidates": "candidates",
    "candidate show": "candidate show c1c1c1",
    "gate explain": "gate explain c1c1c1",
    "judge show": "judge show",
    "log": "log sql-analyst --limit 3",
    "show": "show sql-analyst",
    "diff": "diff sql-analyst 1 2",
    "why": "why sql-analyst:8",
    "find": "find tables",
    "search": "search tables",
    "usage": "usage sql-analyst",
    "trial status": "trial status",
    "alias list": "alias list",
    "alias log": "alias log sql-analyst",
    "preset list": "preset list",
    "preset show": "preset show balanced",
    "preset preview": "preset preview harden",
    "config": "config",
    "verify": "verify",
    "checkpoint": "checkpoint",
    "export review": "export review",
    "evidence show": "evidence show",
}
"""Runs that only read, by what is typed."""

WRITES: Final[dict[str, str]] = {
    "init": "init new",
    "import": "import more",
    "scan": "scan steps.jsonl",
    "advise": "advise sql-analyst --logs steps.jsonl",
    "evolve": "evolve sql-analyst --logs steps.jsonl --cycles 1",
    "signals assign": "signals assign error_template:t sql-analyst",
    "signals unassign": "signals unassign error_template:t",
    "candidate approve": "candidate approve c4c4c4 --reason r",
    "candidate reject": "candidate reject c4c4c4 --reason r",
    "candidate agree": "candidate agree c1c1c1 --reason r",
    "candidate disagree": "candidate disagree c1c1c1 --reason r",
    "revert": "revert sql-analyst --to 1 --reason r",
    "pick": "pick sql-analyst --seed 1",
    "trial step": "trial step sql-analyst",
    "alias set": "alias set sql-analyst canary 2",
    "protect": "protect sql-analyst:9 --reason r",
    "preset use": "preset use harden --reason r",
    "project": "project sql-analyst",
    "backup": "backup kept.db",
    "export skill": "export skill sql-analyst -o out",
    "export events": "export events -o events.jsonl",
    "import-gep": "import-gep genes.json",
}
"""Runs that write; with `--dry-run` they change nothing."""
