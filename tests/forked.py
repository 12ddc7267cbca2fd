"""Commands and calls in processes of their own that need not load germline: each is forked from one that has.

A start takes half a second of a processor, most of it imports. Where how a process starts is what is tested, it is
started as ever.
"""

from __future__ import annotations

import atexit
import fcntl
import gc
import importlib
import json
import os
import random
import select
import signal
import socket
import subprocess
import sys
import termios
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryFile, mkdtemp
from typing import IO, TYPE_CHECKING, Any, Final, NoReturn, Self

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROOT: Final = Path(__file__).resolve().parent.parent
_LOADED: Final = (
    "tui.cli.typer_app",
    "tui.cli.commands.logs.watch",
    "tui.cli.commands.evolve.evolve",
    "tui.cli.commands.registry.trust",
)
"""What is loaded once; a command loads what else it needs."""


class ForkedCommand:
    """A `germline` command in a process of its own, with pipes as `stdout` and `stderr`, and what else Popen has.

    With `terminal`, a descriptor, it runs there instead. `given` is what it reads from its stdin. `called` names
    another function of the words, `module:function`, as the one to call; its module is loaded once.
    """

    def __init__(
        self,
        words: Sequence[str | Path],
        *,
        cwd: Path = ROOT,
        env: Mapping[str, str] = os.environ,
        terminal: int | None = None,
        given: str = "",
        called: str = "tui.cli.main:main",
    ) -> None:
        pipes = [os.pipe() for _ in range(3)]
        passed = [_holding(given) if terminal is None else os.dup(terminal)]
        passed += [ends for _, ends in pipes]
        asked = {
            "words": [*map(str, words)],
            "cwd": str(cwd),
            "env": dict(env),
            "terminal": terminal is not None,
            "called": called,
        }
        with socket.socket(socket.AF_UNIX) as line, TemporaryFile("w+", encoding="utf-8") as letter:
            json.dump(asked, letter)
            letter.seek(0)
            line.connect(_loaded_process())
            socket.send_fds(line, [b"."], [letter.fileno(), *passed])
        for descriptor in passed:
            os.close(descriptor)
        self.stdout, self.stderr, self._told = (os.fdopen(read_end, encoding="utf-8") for read_end, _ in pipes)
        self.pid = int(self._told.readline())
        self.returncode: int | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        self.wait()
        for stream in (self.stdout, self.stderr, self._told):
            stream.close()

    def send_signal(self, number: int) -> None:
        """Send it a signal, where it has not ended."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> None:
        """End it at once."""
        if self.returncode is None:
            self.send_signal(signal.SIGKILL)

    def wait(self, timeout: float = 60.0) -> int:
        """Wait for its exit code, negative for a signal; raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            if not select.select([self._told.fileno()], [], [], timeout)[0]:
                raise subprocess.TimeoutExpired("germline", timeout)
            self.returncode = int(self._told.readline())
        return self.returncode


def _holding(text: str) -> int:
    """Give a descriptor to read this text from."""
    with TemporaryFile("w+", encoding="utf-8") as held:
        held.write(text)
        held.seek(0)
        return os.dup(held.fileno())


@cache
def _loaded_process() -> str:
    """Start the process that the others are forked from, once; it ends with this one."""
    place = f"{mkdtemp(prefix='germline-forked-')}/line"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(place)
    listener.listen()
    code = f"from tests.forked import serve; serve({listener.fileno()})"
    started = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdin=subprocess.PIPE, pass_fds=[listener.fileno()]
    )
    listener.close()

    def end() -> None:
        started.communicate()
        Path(place).unlink()
        Path(place).parent.rmdir()

    atexit.register(end)
    return place


def serve(descriptor: int) -> None:
    """Load germline, then fork for each request until the pipe closes; a child exits with its command's code."""
    for name in _LOADED:
        importlib.import_module(name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who forked a command waits for it
    listener = socket.socket(fileno=descriptor)
    while 0 not in select.select([0, listener.fileno()], [], [])[0]:
        line, _ = listener.accept()
        _, passed, _, _ = socket.recv_fds(line, 1, 5)
        line.close()
        with os.fdopen(passed[0], encoding="utf-8") as letter:
            asked = json.load(letter)
        importlib.import_module(asked["called"].partition(":")[0])
        if os.fork() == 0:
            listener.close()
            _run(asked, passed[1:])
        for passed_descriptor in passed[1:]:
            os.close(passed_descriptor)


def _run(asked: Mapping[str, Any], passed: Sequence[int]) -> None:
    """Fork the command, tell its number and how it ended; only the command returns from here, by SystemExit."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    *streams, tells = passed
    if (child := os.fork()) == 0:
        os.close(tells)
        _become(asked, streams)
    for stream in streams:
        os.close(stream)
    os.write(tells, f"{child}\n".encode())
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    with suppress(BrokenPipeError):
        os.write(tells, f"{ended}\n".encode())
    os._exit(0)


def _become(asked: Mapping[str, Any], streams: Sequence[int]) -> NoReturn:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if asked["terminal"]:
        os.setsid()
        fcntl.ioctl(streams[0], termios.TIOCSCTTY, 0)
        streams = [streams[0]] * 3
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.chdir(asked["cwd"])
    os.environ.clear()
    os.environ.update(asked["env"])
    sys.path[:0] = [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place]
    sys.argv = ["germline", *asked["words"]]
    random.seed()
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)  # type: ignore[misc] # noqa: SIM115
    sys.stdout = sys.__stdout__ = _writing(1)  # type: ignore[misc, assignment]
    sys.stderr = sys.__stderr__ = _writing(2)  # type: ignore[misc, assignment]
    module, _, name = asked["called"].partition(":")
    sys.exit(getattr(sys.modules[module], name)(asked["words"]))


def _writing(descriptor: int) -> IO[str]:
    """Open a stream as Python does at its start."""
    by_line = descriptor == 2 or os.isatty(descriptor)
    return open(descriptor, "w", encoding="utf-8", closefd=False, buffering=1 if by_line else -1)
