"""The division of tasks into explore, sealed and audit, which nobody can roll again."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from events.types.score import Split
    from strategies.episodes.episode import EpisodeRecord

Shares = tuple[tuple["Split", float], ...]

REPLAY_SHARES: Final[Shares] = (("explore", 0.5), ("sealed", 0.3), ("audit", 0.2))
ROLLOUT_SHARES: Final[Shares] = (("explore", 0.3), ("sealed", 0.5), ("audit", 0.2))
"""Task sets for rollouts are smaller, and the gate needs its tasks most."""
OF_A_SET: Final = "set:"
"""How the name of a group begins that a task set formed, before any log showed its task."""


class Linked(Protocol):
    """What links a task with others: an episode, or the header of one."""

    @property
    def task(self) -> str:
        """The key of the task."""
        ...

    @property
    def prompt_key(self) -> str:
        """The key of the prompt, "" for none."""
        ...

    @property
    def answer_key(self) -> str:
        """The key of a winning answer, "" for none."""
        ...


@dataclass(frozen=True)
class Division:
    """Episodes by the split of their task, each once, ordered by content hash."""

    explore: tuple[EpisodeRecord, ...]
    sealed: tuple[EpisodeRecord, ...]
    audit: tuple[EpisodeRecord, ...]

    @property
    def everything(self) -> tuple[EpisodeRecord, ...]:
        """All episodes: for what nobody decides by, such as which signals show at all."""
        return self.explore + self.sealed + self.audit


class _Groups:
    """Disjoint sets of tasks in which two groups of earlier scans never become one."""

    def __init__(self, known: Mapping[str, str]) -> None:
        self._parent: dict[str, str] = {group: group for group in known.values()}
        self._parent.update(known)
        self._settled = set(known.values())

    def find(self, task: str) -> str:
        """Name the group of a task; a new task begins as a group of its own."""
        root = self._parent.setdefault(task, task)
        while root != self._parent[root]:
            root = self._parent[root]
        while task != root:
            task, self._parent[task] = self._parent[task], root
        return root

    def join(self, task: str, other: str) -> None:
        """Make the groups of two tasks one, unless both were there before this scan."""
        kept, joined = sorted((self.find(task), self.find(other)), key=lambda g: (g not in self._settled, g))
        if joined not in self._settled:
            self._parent[joined] = kept


def form_groups(known: Mapping[str, str], records: Iterable[Linked]) -> dict[str, str]:
    """Extend the map of task key to split group by the tasks of new episodes.

    Tasks with the same prompt or an identical winning final action form one group, named after its smallest
    task key. A known task keeps its group for ever: what would link two known groups links nothing.
    Shapes: records are all episodes known so far, old ones too, since a new task may share with an old one.
    """
    links: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    tasks: set[str] = set()
    for record in records:
        tasks.add(record.task)
        for kind, key in (("prompt", record.prompt_key), ("answer", record.answer_key)):
            if key:
                links[kind, key].add(record.task)
    groups = _Groups(known)
    for linked in sorted(tuple(sorted(shared)) for shared in links.values() if len(shared) > 1):
        for task in linked[1:]:
            groups.join(linked[0], task)
    return {task: groups.find(task) for task in sorted(tasks | known.keys())}


def split_of(group: str, split_key: str) -> Split:
    """Tell the split of a group: a keyed hash of its name, so that it stays for ever without being stored.

    A group that a task set formed has the shares of task sets, one that logs formed those of logs.
    """
    shares = ROLLOUT_SHARES if group.startswith(OF_A_SET) else REPLAY_SHARES
    mark = hashlib.sha256(f"{split_key}\x1f{group.removeprefix(OF_A_SET)}".encode()).digest()
    place = int.from_bytes(mark[:6]) / 2**48
    total = 0.0
    for split, share in shares:
        total += share
        if place < total:
            return split
    return shares[-1][0]


def divide(
    records: Iterable[EpisodeRecord],
    groups: Mapping[str, str],
    split_key: str,
) -> Division:
    """Divide episodes by the split of their task's group; an episode counts once, by content hash."""
    places = {group: split_of(group, split_key) for group in set(groups.values())}
    parts: dict[Split, list[EpisodeRecord]] = {"explore": [], "sealed": [], "audit": []}
    for _, record in sorted({record.id: record for record in records}.items()):
        parts[places[groups[record.task]]].append(record)
    return Division(tuple(parts["explore"]), tuple(parts["sealed"]), tuple(parts["audit"]))
