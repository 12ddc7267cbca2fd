"""Task sets and logs divided alike: the split of a task is looked up by its content, whichever came first.

A proposer reads the logs of explore. If a set of tasks drew its splits by itself, a log could show the answer to
a task that decides.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.episodes.episode_records import header_in
from strategies.pool.moved_logs import body_of, map_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from registry.query.library import Library
    from registry.registry import Registry

_NAME: Final = "task-sets"
"""The stored map from the tasks of sets that runs were judged on, by prompt, name and content, to their group."""


class SplitBook(NamedTuple):
    """What decides the split of a task: the registry's key, and what it was before.

    Shapes: `logged` are the groups that logs show, by task and prompt; `of_sets` those of sets that were judged
    on, by prompt, name and content.
    """

    split_key: str
    logged: Mapping[str, str] = {}
    of_sets: Mapping[str, str] = {}


class SetTask(NamedTuple):
    """A task of a set, linked with the logs that show it; `task` is the key of its prompt or of its name."""

    task: str
    prompt_key: str
    answer_key: str = ""


def split_book(library: Library, groups: Mapping[str, str]) -> SplitBook:
    """Look up the groups of all tasks that logs show; `groups` are the stored ones, by task."""
    headers = (header_in(episode.body) for episode in library.log.episodes())
    prompts = {
        header.prompt_key: groups[header.task] for header in headers if header.prompt_key and header.task in groups
    }
    return SplitBook(library.about().split_key, {**prompts, **groups}, set_groups(library))


def set_groups(library: Library) -> dict[str, str]:
    """Return the group of each task of a set that runs were judged on, by the keys of prompt, name and content."""
    return map_in(library.log.get_map(_NAME))


def keep_set_groups(registry: Registry, groups: Mapping[str, str]) -> None:
    """Keep the groups of a set for ever, so that logs of its tasks follow them; inside a transaction."""
    if groups:
        registry.log.put_map(_NAME, body_of({**groups, **set_groups(registry)}))


def set_tasks(groups: Mapping[str, str]) -> Iterator[SetTask]:
    """Give the tasks of sets as what links logs with them."""
    return (SetTask(key, key) for key in groups)
