"""List, count and end the processes that descend from this one, and sum up the memory they hold."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Final

_SIGKILL: Final = 9
"""As everywhere on Linux; the module `signal` makes enumerations of all of them, which costs each start 5 ms."""
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_FILE_IN_MEMORY_BYTES: Final = 1_024
"""What a file in memory takes of the kernel beside its content (ext4's and tmpfs' inodes: 700 to 1,100)."""
_SEGMENTS: Final = "/proc/sysvipc/shm"
_RESIDENT: Final = 14
"""The column of `_SEGMENTS` that tells how many bytes of a segment are there."""


def on_the_machine() -> int:
    """Count all processes and threads that there are; the kernel counts a user's against their limit."""
    return int(_read("/proc/loadavg").split()[3].partition(b"/")[2])


def threads_of(pid: int) -> int:
    """Count the threads of a process; 0 where it has ended."""
    try:
        return os.stat(f"/proc/{pid}/task").st_nlink - 2  # noqa: PTH116 - pathlib costs the child 3 ms
    except OSError:
        return 0


def holds_more(most_bytes: int, running: Iterable[int], files: str) -> bool:
    """Return whether processes, and files in memory below `files` ("" for none), hold more than so much together.

    Pages that processes share count once for each, until that is too much; then the kernel is asked for their
    parts, which takes it milliseconds. Memory of the kernel itself, as buffers of sockets, is not counted.
    """
    running = list(running)
    held = _in_files(files) if files else 0
    if held + sum(map(_resident, running)) <= most_bytes:
        return False
    return held + sum(map(_share, running)) > most_bytes


def _in_files(folder: str) -> int:
    """Sum up a file system in memory, and the shared segments of these namespaces, attached or not."""
    there = os.statvfs(folder)
    files = (there.f_files - there.f_ffree) * _FILE_IN_MEMORY_BYTES
    held = (there.f_blocks - there.f_bfree) * there.f_frsize + files
    try:
        segments = _read(_SEGMENTS).splitlines()[1:]
    except OSError:
        return held  # a kernel without them
    return held + sum(int(segment.split()[_RESIDENT]) for segment in segments)


def _resident(pid: int) -> int:
    try:
        return int(_read(f"/proc/{pid}/statm").split()[1]) * _PAGE_BYTES
    except (OSError, IndexError):
        return 0  # it has ended


def _share(pid: int) -> int:
    """Return the part of the memory that is this process's, all of it where the kernel does not tell us."""
    try:
        for line in _read(f"/proc/{pid}/smaps_rollup").splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1_024
    except OSError:
        pass  # it has ended, or hides its memory
    return _resident(pid)


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as stream:  # noqa: PTH123 - pathlib costs milliseconds
        return stream.read()


def all_others() -> list[int]:
    """List every process of these namespaces but the first."""
    return [pid for pid in _numbers() if pid != 1]


def descendants() -> list[int]:
    """List the processes that descend from this one; orphans that it adopted are its children.

    Processes that start or end meanwhile may be missed. Where the kernel lists children, this takes
    microseconds for each process below this one, else some 0.1 ms for each process of the machine (measured).
    """
    own = os.getpid()
    listed = os.path.exists(f"/proc/self/task/{own}/children")  # noqa: PTH110 - pathlib costs milliseconds
    by_parent = {} if listed else _by_parent()
    below: list[int] = []
    left = [own]
    while left:
        parent = left.pop()
        children = _listed_children(parent) if listed else by_parent.get(parent, [])
        below += children
        left += children
    return below


def end(others: Callable[[], list[int]]) -> None:
    """Kill until no descendant is left: what is forked meanwhile is found in the next round.

    Orphans are adopted, so that a process without a child has no descendant.
    """
    while not _childless():
        left = others()
        for pid in left:
            try:
                os.kill(pid, _SIGKILL)
            except ProcessLookupError:
                continue
        if left:  # a child among them: looking again and again could keep it from the time that its end takes
            os.waitpid(-1, 0)


def _childless() -> bool:
    """Reap what has ended, and return whether no child is left."""
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        return True
    return False


def _listed_children(pid: int) -> list[int]:
    """Read the children of a process from the lists that the kernel keeps, one for each thread."""
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # noqa: PTH208 - pathlib costs milliseconds
    except OSError:
        return []  # it has ended, and its children have another parent
    children: list[int] = []
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as stream:  # noqa: PTH123 - the same
                children += map(int, stream.read().split())
        except OSError:
            continue  # a thread that has ended
    return children


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
