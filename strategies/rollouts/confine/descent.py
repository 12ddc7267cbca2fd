"""Which processes a command has started, as /proc shows them, and their end."""

from __future__ import annotations

import os
import signal


def all_others() -> list[int]:
    """List every process of these namespaces but the first."""
    return [pid for pid in _numbers() if pid != 1]


def descendants() -> list[int]:
    """List the processes that descend from this one; orphans that it adopted are its children."""
    children: dict[int, list[int]] = {}
    for pid in _numbers():
        try:
            with open(f"/proc/{pid}/stat", encoding="latin-1") as stream:  # noqa: PTH123 - pathlib costs milliseconds
                parent = int(stream.read().rpartition(")")[2].split()[1])
        except OSError:
            continue  # it has ended
        children.setdefault(parent, []).append(pid)
    found, left = [], [os.getpid()]
    while left:
        begot = children.get(left.pop(), [])
        found += begot
        left += begot
    return found


def end_descendants() -> None:
    """Kill until nobody is left: whoever forks meanwhile is found in the next round."""
    while found := descendants():
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        while _reaped():
            pass


def _reaped() -> bool:
    try:
        return os.waitpid(-1, os.WNOHANG)[0] > 0
    except ChildProcessError:
        return False


def _numbers() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208 - pathlib costs milliseconds
