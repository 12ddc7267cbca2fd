"""The tasks of a set by split."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from strategies.episodes.episode_records import named_task, prompt_key
from strategies.policy.canonical_json import digest
from strategies.pool.splits import OF_A_SET, split_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from events.types.score import Split
    from strategies.pool.task_sets import SplitBook
    from strategies.rollouts.tasks.check_types import Fixture
    from strategies.rollouts.tasks.task import RolloutTask, TaskSet


@dataclass(frozen=True)
class DividedTasks:
    """The tasks of a set by split: proposers see `explore`, the gate decides on `sealed`, `audit` only informs.

    `groups` are the split groups of the set, by the keys of prompts and names; `logged` names the tasks whose
    split is that of logs which show them, with the split.
    """

    explore: tuple[RolloutTask, ...]
    sealed: tuple[RolloutTask, ...]
    audit: tuple[RolloutTask, ...]
    groups: Mapping[str, str] = field(default_factory=dict)
    logged: Mapping[str, Split] = field(default_factory=dict)


def divide_tasks(tasks: TaskSet, book: SplitBook) -> DividedTasks:
    """Divide tasks by the registry's split key, 30 / 50 / 20, each split in the order of their ids.

    A task that logs show, by its prompt or its name, has the split of those logs. Tasks with the same prompt and
    the same files are one group, whatever they are called and however they are graded: who has seen one has seen
    the other. Logs do not tell the files: those of a prompt follow its most protected task.
    """
    parts: dict[Split, list[RolloutTask]] = {"explore": [], "sealed": [], "audit": []}
    groups: dict[str, str] = {}
    logged: dict[str, Split] = {}
    for task in sorted(tasks.tasks, key=lambda task: task.id):
        keys = prompt_key(task.prompt), named_task(tasks.name, task.id)
        shown = next((group for key in keys if (group := _of_logs(book, key))), "")
        group = shown or OF_A_SET + _content_of(task)
        split = split_of(group, book.split_key)
        parts[split].append(task)
        if shown:
            logged[task.id] = split
        for key in keys:
            groups[key] = max(group, groups.get(key, group), key=lambda group: _protection(group, book.split_key))
    return DividedTasks(
        tuple(parts["explore"]), tuple(parts["sealed"]), tuple(parts["audit"]), groups=groups, logged=logged
    )


def _of_logs(book: SplitBook, key: str) -> str:
    """Give the group that logs formed around a task; "" where a set was first, or none shows it."""
    group = book.logged.get(key, "")
    return "" if group.startswith(OF_A_SET) else group


def _protection(group: str, split_key: str) -> int:
    return ("explore", "audit", "sealed").index(split_of(group, split_key))


def _content_of(task: RolloutTask) -> str:
    files = {path: _file_content(file) for path, file in task.files.items()}
    return digest(["task", " ".join(task.prompt.split()).casefold(), files])


def _file_content(file: str | Fixture) -> str:
    return file if isinstance(file, str) else file.sha256
