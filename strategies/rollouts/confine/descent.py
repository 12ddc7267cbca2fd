"""Which processes a command has started, as /proc shows them, and their end."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Final

_SIGKILL: Final = 9
"""As everywhere on Linux; the module `signal` makes enumerations of all of them, which costs each start 5 ms."""


def all_others() -> list[int]:
    """List every process of these namespaces but the first."""
    return [pid for pid in _numbers() if pid != 1]


def descendants() -> list[int]:
    """List the processes that descend from this one; orphans that it adopted are its children.

    Who comes or goes meanwhile may be missed. Where the kernel tells of children, this takes microseconds for each
    process below this one, else some 0.1 ms for each process of the machine (measured).
    """
    own = os.getpid()
    told = os.path.exists(f"/proc/self/task/{own}/children")  # noqa: PTH110 - pathlib costs milliseconds
    everyone = {} if told else _by_parent()
    found, left = [], [own]
    while left:
        parent = left.pop()
        begot = _told_children(parent) if told else everyone.get(parent, [])
        found += begot
        left += begot
    return found


def end_descendants() -> None:
    """Kill until nobody is left: whoever forks meanwhile is found in the next round.

    Orphans are adopted, so that whoever has no child has no descendant.
    """
    while not _childless():
        found = descendants()
        for pid in found:
            try:
                os.kill(pid, _SIGKILL)
            except ProcessLookupError:
                continue
        if found:  # a child among them: looking again and again could keep it from the time that its end takes
            os.waitpid(-1, 0)


def _childless() -> bool:
    """Reap whoever has ended, and tell whether no child is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def _told_children(pid: int) -> list[int]:
    """Read the children of a process from the lists that the kernel keeps, one for each thread."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - pathlib costs milliseconds
    except OSError:
        return []  # it has ended, and its children have another parent
    found: list[int] = []
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as stream:  # noqa: PTH123 - the same
                found += map(int, stream.read().split())
        except OSError:
            continue  # a thread that has ended
    return found


def _by_parent() -> dict[int, list[int]]:
    """List the processes of the machine by their parents."""
    children: dict[int, list[int]] = {}
    for pid in _numbers():
        try:
            with open(f"/proc/{pid}/stat", encoding="latin-1") as stream:  # noqa: PTH123 - pathlib costs milliseconds
                parent = int(stream.read().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended
        children.setdefault(parent, []).append(pid)
    return children


def _numbers() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - pathlib costs milliseconds
