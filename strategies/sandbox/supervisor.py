"""Start the command, watch what it and its descendants reach for and take, and end them."""

from __future__ import annotations

import _socket
import os
import resource
import select
import sys
import time

from strategies.sandbox import attributes, libc, processes, seccomp
from strategies.sandbox.attempts import AttemptedReach, reached
from strategies.sandbox.disk_use import LEAST_FILES, disk_use, left_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Final, NoReturn

    from strategies.sandbox.spec import Spec

_LOOK_EVERY_MS: Final = 20
"""How often processes are counted, and their memory (guess: a bomb of forks makes some hundreds in that time)."""
_WALK_EVERY_S: Final = 0.5
_WALK_SHARE: Final = 50
"""The disk is walked through at most for this part of the time (guess)."""
_MOST_ATTEMPTS: Final = 20
_THREADS_EACH: Final = 32
"""Threads that a process may have, over all processes that may be (guess: runtimes take some 20)."""
_LESS_URGENT: Final = 5
"""How much nicer than its watcher a command of root's is, which the kernel lets make any number (guess)."""
NOT_STARTED: Final = 127
"""How the child ends that cannot become the command."""
_SHARED_MEMORY: Final = "/dev/shm"  # noqa: S108 - the command's own, in namespaces


class Started:
    """A child that waits to become the command, unless it has `failed`.

    `listener` reports its calls, -1 where the kernel cannot.
    """

    def __init__(self, pid: int, listener: int, line: _socket.socket, *, failed: bool) -> None:
        self.pid = pid
        self.listener = listener
        self.failed = failed
        self._line = line

    def go(self) -> None:
        """Let it become the command."""
        self._line.send(b"g")
        self._line.close()


def start(spec: Spec, failure: int, keep_inside: Callable[[Spec], None] | None, *, apart: bool) -> Started:
    """Fork a child with the command's limits and filter; why it cannot go on is written to `failure`."""
    ours, its = _socket.socketpair()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _become(spec, failure, keep_inside, its, apart=apart)
    its.close()
    message, passed, _, _ = ours.recvmsg(1, _socket.CMSG_SPACE(4))
    listener = int.from_bytes(passed[0][2], "little") if passed else -1
    return Started(pid, listener, ours, failed=not message)


class Watch:
    """Stays with a command, `apart` in namespaces or not, and keeps how it `ended` and what it tried on the way.

    `code` is as `os.waitstatus_to_exitcode` gives it. `others` lists the processes that count as the command's.
    """

    def __init__(self, spec: Spec, command: Started, others: Callable[[], list[int]], *, apart: bool) -> None:
        self.ended = "exited"
        self.code = 0
        self.attempts: list[str] = []
        self._spec = spec
        self._command = command.pid
        self._listener = command.listener
        self._others = others
        self._apart = apart
        self._next_walk = time.monotonic() + _WALK_EVERY_S

    def stay(self, report: int) -> None:
        """Wait until the command ends, passes a limit, or nobody is left to read the report.

        What else it started still runs when this returns; the caller ends it.
        """
        began = time.monotonic()  # not by events.clock, whose dates cost each start 4 ms
        deadline, next_look = began + self._spec.limit_s, began + _LOOK_EVERY_MS / 1000
        waiting = _waiting(self._command, self._listener, report)
        while self.ended == "exited":
            ready = waiting(_LOOK_EVERY_MS)
            if report in ready:
                return
            if self._listener in ready:
                self._answer()
            if self._over():
                return
            now = time.monotonic()
            if now > deadline:
                self.ended = "limit"
            elif now >= next_look:  # not at every call of a command that writes a thousand files
                next_look = now + _LOOK_EVERY_MS / 1000
                self._look(now)

    def _look(self, now: float) -> None:
        """See whether the command takes more than it may."""
        spec, running = self._spec, self._others()
        files = _SHARED_MEMORY if self._apart else ""
        if self._are_too_many(running):
            self.ended = "processes"
        elif processes.holds_more(spec.memory_bytes, running, files):
            self.ended = "memory"
        elif 0 <= left_bytes(spec.writable) < spec.spare_bytes:
            self.ended = "disk" if self._filled_the_disk() else "void"
        elif now >= self._next_walk:
            use = disk_use(spec.writable)
            if use.size > spec.disk_bytes or use.files > spec.disk_files:
                self.ended = "disk"
            ended = time.monotonic()
            self._next_walk = ended + max(_WALK_EVERY_S, (ended - now) * _WALK_SHARE)

    def _are_too_many(self, running: list[int]) -> bool:
        """Return whether there are more processes, or threads of them, than there may be."""
        most = self._spec.processes
        return len(running) > most or sum(map(processes.threads_of, running)) > most * _THREADS_EACH

    def _filled_the_disk(self) -> bool:
        """End everything, and return whether it was this command that took what the disk lacks.

        What it held of files without a name is free once it has ended.
        """
        before = left_bytes(self._spec.writable)
        processes.end(self._others)
        use = disk_use(self._spec.writable)
        freed = left_bytes(self._spec.writable) - before
        too_many = before == 0 and use.files > LEAST_FILES
        return use.unseen > 0 or too_many or use.size + freed > self._spec.spare_bytes

    def _over(self) -> bool:
        """Reap what has ended, orphans too, and return whether the command is among it."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return True
            if pid == 0:
                return False
            if pid == self._command:
                self.code = os.waitstatus_to_exitcode(status)
                return True

    def _answer(self) -> None:
        call = seccomp.receive(self._listener)
        if call is None:
            return
        try:
            attempt = reached(call, self._spec)
        except OSError as error:
            attempt = AttemptedReach(f"tried what cannot be looked at: {error.strerror}", error=attributes.DENIED)
        done = None if self._apart else attributes.carried_out(call, self._spec)
        text = attempt.text or ("tried to change a file outside" if done == attributes.DENIED else "")
        new = text and text not in self.attempts and len(self.attempts) < _MOST_ATTEMPTS
        if new and seccomp.still_waits(self._listener, call):
            self.attempts.append(text)
        seccomp.answer(self._listener, call, attempt.error if done is None else done, done=done == 0)


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


def _become(
    spec: Spec, failure: int, keep_inside: Callable[[Spec], None] | None, line: _socket.socket, *, apart: bool
) -> NoReturn:
    """Turn this child into the command, once it is let go; never returns."""
    try:
        if sys.platform == "linux":
            libc.die_with_parent()
            _limit("RLIMIT_NPROC", processes.on_the_machine() + spec.processes * _THREADS_EACH)
            os.nice(0 if os.getuid() else _LESS_URGENT)
        for name, most in spec.limits.items():
            _limit(name, most)
        libc.end_by_pipes()
        if keep_inside:
            keep_inside(spec)
        _hand_over(spec, line, apart=apart)
        if not line.recv(1):
            os._exit(NOT_STARTED)  # it was not let go
        os.chdir(spec.cwd)
        os.execve(spec.argv[0], spec.argv, spec.environment)  # noqa: S606 - an argument list, no shell
    except BaseException as error:  # noqa: BLE001 - a fork must not go on as its parent, whatever went wrong
        os.write(failure, str(error).encode(errors="replace")[:500])
    os._exit(NOT_STARTED)


def _limit(name: str, most: int) -> None:
    number = getattr(resource, name)
    hard = resource.getrlimit(number)[1]
    least = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(number, (least, least))


def _hand_over(spec: Spec, line: _socket.socket, *, apart: bool) -> None:
    """Filter the calls of this process, and pass what reports them to the watcher, which has no filter itself."""
    try:
        listener = seccomp.install(network=spec.network, apart=apart) if sys.platform == "linux" else -1
    except OSError:
        listener = -1
    if listener < 0:
        line.send(b"n")
        return
    passed = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, listener.to_bytes(4, "little"))
    line.sendmsg([b"y"], [passed])
    os.close(listener)
