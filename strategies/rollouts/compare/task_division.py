"""The tasks of a set by split."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Final

from strategies.episodes.episode_records import named_task, prompt_key
from strategies.policy.canonical_json import digest
from strategies.pool.splits import OF_A_SET, ROLLOUT_SHARES, split_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.types.score import Split
    from strategies.pool.task_sets import SplitBook
    from strategies.rollouts.tasks.check_types import Fixture
    from strategies.rollouts.tasks.task import RolloutTask, TaskSet

_TENTHS: Final = {split: round(10 * share) for split, share in ROLLOUT_SHARES}


@dataclass(frozen=True)
class DividedTasks:
    """The tasks of a set by split: proposers see `explore`, the gate decides on `sealed`, `audit` only informs.

    `groups` are the split groups of the set, by the keys of prompts, names and contents; `logged` names the tasks
    whose split is that of logs which show them, with the split.
    """

    explore: tuple[RolloutTask, ...]
    sealed: tuple[RolloutTask, ...]
    audit: tuple[RolloutTask, ...]
    groups: Mapping[str, str] = field(default_factory=dict)
    logged: Mapping[str, Split] = field(default_factory=dict)

    @property
    def splits(self) -> dict[str, Split]:
        """The split of each task, by its id."""
        parts: tuple[tuple[Split, tuple[RolloutTask, ...]], ...] = (
            ("explore", self.explore),
            ("sealed", self.sealed),
            ("audit", self.audit),
        )
        return {task.id: split for split, tasks in parts for task in tasks}

    @property
    def sealed_tags(self) -> frozenset[str]:
        """The tags that sealed tasks have: what a change can be tested on."""
        return frozenset(tag for task in self.sealed for tag in task.tags)


def divide_tasks(tasks: TaskSet, book: SplitBook) -> DividedTasks:
    """Divide tasks, 30 / 50 / 20 of each tag and of all of them, each split in the order of their ids.

    Which task of a tag goes where is drawn by the registry's split key. A task that logs show, by its prompt or
    its name, has the split of those logs, one of an earlier set that was judged on the split that it had there,
    and new ones fill up what these leave. Tasks with the same prompt and the same files are one group, whatever
    they are called and however they are graded: who has seen one has seen the other. Logs do not tell the files:
    those of a prompt follow its most protected task.
    """
    ordered = sorted(tasks.tasks, key=lambda task: task.id)
    keys = {task.id: (prompt_key(task.prompt), named_task(tasks.name, task.id)) for task in ordered}
    contents = {task.id: OF_A_SET + content_of(task) for task in ordered}
    logged = {task: group for task, names in keys.items() if (group := _of_logs(book, names))}
    of_sets = {content: _of_sets(book, content, keys[task]) for task, content in contents.items()}
    known = {content: group for content, group in of_sets.items() if group}
    balance, new = _Balance(), defaultdict(list)
    for task in ordered:
        settled = logged.get(task.id) or known.get(contents[task.id])
        if settled:
            balance.add((task,), split_of(settled, book.split_key))
        else:
            new[contents[task.id]].append(task)
    for content in sorted(new, key=lambda content: digest(["order", book.split_key, content])):
        split = balance.most_lacking(new[content])
        balance.add(new[content], split)
        known[content] = _named(content, split, book.split_key)
    parts: dict[Split, list[RolloutTask]] = {"explore": [], "sealed": [], "audit": []}
    groups: dict[str, str] = {}
    for task in ordered:
        group = logged.get(task.id) or known[contents[task.id]]
        parts[split_of(group, book.split_key)].append(task)
        for key in (*keys[task.id], contents[task.id]):
            groups[key] = max(group, groups.get(key, group), key=lambda group: _protection(group, book.split_key))
    return DividedTasks(
        tuple(parts["explore"]),
        tuple(parts["sealed"]),
        tuple(parts["audit"]),
        groups=groups,
        logged={task: split_of(group, book.split_key) for task, group in logged.items()},
    )


class _Balance:
    """How many tasks each split has so far, of each tag and of all; in tenths of a task."""

    def __init__(self) -> None:
        self._lacking: defaultdict[tuple[str | None, Split], int] = defaultdict(int)

    def add(self, tasks: Sequence[RolloutTask], split: Split) -> None:
        """Count tasks that a split gets."""
        for task in tasks:
            for tag in (None, *task.tags):
                self._lacking[tag, split] -= 10
                for each, tenths in _TENTHS.items():
                    self._lacking[tag, each] += tenths

    def most_lacking(self, tasks: Sequence[RolloutTask]) -> Split:
        """Give the split that lacks most of what some tasks are, once they are counted."""
        tags = [tag for task in tasks for tag in (None, *task.tags)]
        return max(_TENTHS, key=lambda split: sum(self._lacking[tag, split] + _TENTHS[split] for tag in tags))


def _named(content: str, split: Split, split_key: str) -> str:
    """Name the group of a content so that its split is the one that was drawn."""
    names = (f"{content}.{number}" if number else content for number in count())
    return next(name for name in names if split_of(name, split_key) == split)


def _of_logs(book: SplitBook, keys: Iterable[str]) -> str:
    """Give the group that logs formed around a task; "" where a set was first, or none shows it."""
    groups = (book.logged.get(key, "") for key in keys)
    return next((group for group in groups if group and not group.startswith(OF_A_SET)), "")


def _of_sets(book: SplitBook, content: str, keys: Iterable[str]) -> str:
    """Give the group that a content had in a set that was judged on; "" where it was in none.

    Earlier versions of germline kept it by prompt and by name alone, and named it after the content.
    """
    earlier = content if content in {book.of_sets.get(key) for key in keys} else ""
    return book.of_sets.get(content, earlier)


def _protection(group: str, split_key: str) -> int:
    return ("explore", "audit", "sealed").index(split_of(group, split_key))


def content_of(task: RolloutTask) -> str:
    """Hash what a task is: prompt and files, not its name or its graders."""
    files = {path: _file_content(file) for path, file in task.files.items()}
    return digest(["task", " ".join(task.prompt.split()).casefold(), files])


def _file_content(file: str | Fixture) -> str:
    return file if isinstance(file, str) else file.sha256
