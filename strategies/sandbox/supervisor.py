"""Start the command, watch what it and its descendants reach for, and end them."""

from __future__ import annotations

import os
import resource
import select
import time

from strategies.sandbox import libc, seccomp
from strategies.sandbox.attempts import reached

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, NoReturn

    from strategies.sandbox.spec import Spec

_SIGKILL: Final = 9
"""As everywhere on Linux; the module `signal` makes enumerations of all of them, which costs each start 5 ms."""
_LOOK_EVERY_MS: Final = 20
"""How often processes are counted (guess: a bomb of forks makes some hundreds in that time)."""
_MOST_ATTEMPTS: Final = 20
_THREADS_EACH: Final = 32
"""Threads that a process may have, over all processes that may be (guess: runtimes take some 20)."""
_LEAST_FILES: Final = 1_000
"""Files that must be left for others to make (guess)."""
_UNREACHABLE: Final = 101
"""ENETUNREACH, what a machine without a network says."""
NOT_STARTED: Final = 127
"""How the child ends that cannot become the command."""


class CommandEnd:
    """How the command ended (`code` as `os.waitstatus_to_exitcode` gives it), and what it tried on the way."""

    def __init__(self) -> None:
        self.ended = "exited"
        self.code = 0
        self.attempts: list[str] = []


def start(spec: Spec, failure: int, keep_inside: Callable[[Spec], None] | None) -> int:
    """Fork the command with its limits, and return its process id; why it cannot start is written to `failure`."""
    pid = os.fork()
    if pid == 0:
        _become(spec, failure, keep_inside)
    return pid


def watch(spec: Spec, command: int, listener: int, report: int, others: Callable[[], list[int]]) -> CommandEnd:
    """Stay with the command until it ends, passes a limit, or nobody is left to read the report.

    `listener` is -1 where the command's calls are not reported. What else it started still runs when this returns;
    the caller ends it.
    """
    seen = CommandEnd()
    began = time.monotonic()  # not by events.clock, whose dates cost each start 4 ms
    deadline, next_count = began + spec.limit_s, began + _LOOK_EVERY_MS / 1000
    waiting = _waiting(command, listener, report)
    while True:
        ready = waiting(_LOOK_EVERY_MS)
        if report in ready:
            return seen
        if listener in ready:
            _answer(spec, listener, seen)
        if _over(command, seen):
            return seen
        now = time.monotonic()
        if now > deadline:
            seen.ended = "limit"
            return seen
        if now >= next_count:  # not at every call of a command that writes a thousand files
            next_count = now + _LOOK_EVERY_MS / 1000
            if _too_many(others(), spec.processes):
                seen.ended = "processes"
                return seen
            if any(_is_full(place, spec.spare_bytes) for place in spec.writable):
                seen.ended = "disk"
                return seen


def _too_many(running: list[int], most: int) -> bool:
    """Return whether there are more processes, or threads of them, than allowed."""
    return len(running) > most or sum(map(_threads, running)) > most * _THREADS_EACH


def _threads(pid: int) -> int:
    try:
        return os.stat(f"/proc/{pid}/task").st_nlink - 2  # noqa: PTH116 - pathlib costs the child 3 ms
    except OSError:
        return 0  # it has ended


def _is_full(place: str, spare_bytes: int) -> bool:
    """Return whether the disk below a folder has less left than must stay."""
    try:
        left = os.statvfs(place)
    except OSError:
        return False  # the command removed its folder
    few = left.f_files > 0 and left.f_favail < _LEAST_FILES  # some file systems make them as they go, and say 0
    return few or left.f_bavail * left.f_frsize < spare_bytes


def _waiting(command: int, listener: int, report: int) -> Callable[[int], list[int]]:
    """Make what waits, at most so many milliseconds, for a call of the command, its end, or the reader's."""
    poll = select.poll()
    poll.register(report, 0)
    if hasattr(os, "pidfd_open"):
        poll.register(os.pidfd_open(command), select.POLLIN)
    if listener >= 0:
        poll.register(listener, select.POLLIN)
    worth = select.POLLIN | select.POLLERR
    return lambda most_ms: [descriptor for descriptor, events in poll.poll(most_ms) if events & worth]


def _over(command: int, seen: CommandEnd) -> bool:
    """Reap what has ended, orphans too, and return whether the command is among it."""
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return True
        if pid == 0:
            return False
        if pid == command:
            seen.code = os.waitstatus_to_exitcode(status)
            return True


def _answer(spec: Spec, listener: int, seen: CommandEnd) -> None:
    call = seccomp.receive(listener)
    if call is None:
        return
    attempt = reached(call, spec)
    new = attempt.text and attempt.text not in seen.attempts and len(seen.attempts) < _MOST_ATTEMPTS
    if new and seccomp.still_waits(listener, call):
        seen.attempts.append(attempt.text)
    seccomp.answer(listener, call, _UNREACHABLE if attempt.refused else 0)


def _become(spec: Spec, failure: int, keep_inside: Callable[[Spec], None] | None) -> NoReturn:
    """Turn this child into the command; never returns."""
    try:
        for name, most in spec.limits.items():
            number = getattr(resource, name)
            hard = resource.getrlimit(number)[1]
            least = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(number, (least, least))
        libc.end_by_pipes()
        if keep_inside:
            keep_inside(spec)
        os.chdir(spec.cwd)
        os.execve(spec.argv[0], spec.argv, spec.environment)  # noqa: S606 - an argument list, no shell
    except BaseException as error:  # noqa: BLE001 - a fork must not go on as its parent, whatever went wrong
        os.write(failure, str(error).encode(errors="replace")[:500])
    os._exit(NOT_STARTED)


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


def end_descendants() -> None:
    """Kill until no descendant is left: what is forked meanwhile is found in the next round.

    Orphans are adopted, so that a process without a child has no descendant.
    """
    while not _childless():
        left = descendants()
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
