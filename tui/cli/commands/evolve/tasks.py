"""Task sets: which tasks proposers may see, and which ones decide; the same tasks for tools that read evals."""
# ruff: noqa: TC001 - typer reads annotations when it builds a command

from __future__ import annotations

from enum import StrEnum
from functools import partial
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import RefusedError, UsageError
from strategies.pool.known_episodes import split_groups
from strategies.pool.task_sets import split_book
from strategies.rollouts.compare.task_division import divide_tasks
from strategies.rollouts.tasks.evals_file import evals_place, write_evals
from strategies.rollouts.tasks.load import load_tasks
from strategies.sandbox.container_program import container_program
from tui.cli.config.config import read_config
from tui.cli.output.color import column, width
from tui.cli.output.facts import say_folded
from tui.cli.output.invocation import Invocation, invocation
from tui.cli.output.options import AsJson, Rehearse, Skill
from tui.documents.measurements import TaskRow, TasksExportDocument, TasksListDocument
from tui.session.open_registry import find_registry, open_library
from tui.text.numbers import count
from tui.text.terminal_text import clip, clip_middle, one_line

if TYPE_CHECKING:
    from registry.query.library import Library
    from strategies.rollouts.compare.task_division import DividedTasks
    from strategies.rollouts.tasks.task import RolloutTask

_SPLIT: Final = 8
"""Columns of the name of a split."""
_BESIDE: Final = 40
"""Columns of what stands beside an id, and of that with some words of the prompt."""

_File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A task set: TOML, JSONL, or a folder of Harbor's tasks.")
]

tasks = typer.Typer(help="List the tasks of a set by split; write them as evals.", rich_markup_mode=None)


class _Split(StrEnum):
    """What a task is for."""

    EXPLORE = "explore"
    SEALED = "sealed"
    AUDIT = "audit"


@tasks.command("list")
def list_tasks(
    ctx: typer.Context,
    file: _File,
    *,
    split: Annotated[_Split | None, typer.Option("--split", help="Only the tasks of this split.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the tasks of a set by split: proposers see explore, sealed decides, audit only informs.

    A task that logs show, by its prompt or by the names of set and task, has the split that it has there.
    """
    call = invocation(ctx)
    with open_library(find_registry(call.registry)) as library:
        divided = _divided(library, call, file)
    parts = _parts(divided)
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


@tasks.command("export")
def export_tasks(
    ctx: typer.Context,
    file: _File,
    skill: Skill,
    *,
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FOLDER", help="It gets evals/evals.json, and evals/files.")
    ],
    split: Annotated[_Split | None, typer.Option("--split", help="Only the tasks of this split.")] = None,
    dry_run: Rehearse = False,
    as_json: AsJson = False,
) -> None:
    """Write the tasks of a set as the evals of a skill, for tools of the Agent Skills format.

    What graders ask for becomes sentences. In the folder of the skill itself only explore tasks are written: its
    readers would know what decides.
    """
    call = invocation(ctx)
    folder = output.expanduser()
    with open_library(find_registry(call.registry)) as library:
        own = library.capsule(skill).source
        divided = _divided(library, call, file)
    chosen = [task for part, members in _parts(divided).items() for task in members if split in {None, part}]
    if split is not _Split.EXPLORE and own and folder.resolve().is_relative_to(Path(own).resolve()):
        raise RefusedError(
            f"{folder} is in the folder of {skill}: agents would read there what decides",
            hint="--split explore    or -o ANOTHER-FOLDER",
        )
    if not chosen:
        raise UsageError(f"{file} has no {split} task", hint=f"germline tasks list {quote(str(file))}")
    place = evals_place(folder) if dry_run else write_evals(folder, skill, chosen)
    files = sum(len(task.files) for task in chosen)
    if as_json:
        document = TasksExportDocument(
            dry_run=dry_run, skill=skill, place=str(place), tasks=len(chosen), files=files
        )
        call.answer(document)
        return
    what = f"{count(len(chosen), 'task')} and {count(files, 'file')} for {skill}, in {place}"
    say_folded(call, f"{'would be' if dry_run else 'wrote':<10} ", what)
    call.say(f"next       germline audit {skill} --tasks {quote(str(place))} --agent CMD")


def _divided(library: Library, call: Invocation, file: Path) -> DividedTasks:
    containers = partial(container_program, read_config().rollouts.every.container)
    task_set = load_tasks(file.expanduser(), containers=containers)
    call.note(*task_set.notes)
    return divide_tasks(task_set, split_book(library, split_groups(library)))


def _parts(divided: DividedTasks) -> dict[_Split, tuple[RolloutTask, ...]]:
    return {_Split.EXPLORE: divided.explore, _Split.SEALED: divided.sealed, _Split.AUDIT: divided.audit}


COMMANDS: Final = {"tasks": tasks}
