"""Task sets: which tasks proposers may see, and which ones decide."""
# ruff: noqa: TC001, TC003 - typer reads annotations when it builds a command

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import typer

from strategies.pool.known_episodes import split_groups
from strategies.pool.task_sets import split_book
from strategies.rollouts.compare.task_division import divide_tasks
from strategies.rollouts.tasks.load import load_tasks
from tui.cli.output.color import column, width
from tui.cli.output.invocation import invocation
from tui.cli.output.options import AsJson
from tui.documents.measurements import TaskRow, TasksListDocument
from tui.session.bootstrap import find_registry, open_library
from tui.text.numbers import count
from tui.text.terminal_text import clip, clip_middle, one_line

_SPLIT: Final = 8
"""Columns of the name of a split."""
_BESIDE: Final = 40
"""Columns of what stands beside an id, and of that with some words of the prompt."""

tasks = typer.Typer(help="List the tasks of a set, with their splits.", rich_markup_mode=None)


class _Split(StrEnum):
    """What a task is for."""

    EXPLORE = "explore"
    SEALED = "sealed"
    AUDIT = "audit"


@tasks.command("list")
def list_tasks(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="A task set: TOML, JSONL, or a folder of Harbor's tasks.")
    ],
    *,
    split: Annotated[_Split | None, typer.Option("--split", help="Only the tasks of this split.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the tasks of a set by split: proposers see explore, sealed decides, audit only informs.

    A task that logs show, by its prompt or by the names of set and task, has the split that it has there.
    """
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        task_set = load_tasks(file.expanduser())
        divided = divide_tasks(task_set, split_book(library, split_groups(library)))
    call.note(*task_set.notes)
    parts = {_Split.EXPLORE: divided.explore, _Split.SEALED: divided.sealed, _Split.AUDIT: divided.audit}
    rows = tuple(
        TaskRow(task=task.id, split=part.value, in_logs=task.id in divided.logged, prompt=task.prompt)
        for part, members in parts.items()
        for task in members
        if split in {None, part}
    )
    if as_json:
        call.answer(TasksListDocument(tasks=rows, **{part.value: len(members) for part, members in parts.items()}))
        return
    sizes = ", ".join(f"{len(members):,} {part.value}" for part, members in parts.items())
    shown = f"; {len(divided.logged):,} of them as logs that show them" if divided.logged else ""
    call.say(f"{count(sum(map(len, parts.values())), 'task')}: {sizes}{shown}\n")
    ids = column([row.task for row in rows], 12, _BESIDE)
    for row in rows:
        mark = "in logs" if row.in_logs else ""
        head = f"  {row.split:<{_SPLIT}} {clip_middle(row.task, ids):<{ids}} {mark:<7} "
        call.say((head + clip(one_line(row.prompt), max(width() - len(head), 8))).rstrip())
    call.say("next       germline candidate test    docs/rollouts.md")


COMMANDS: Final = {"tasks": tasks}
