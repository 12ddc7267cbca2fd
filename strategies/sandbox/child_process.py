"""Processes that threads wait for: each is a group of its own, known by whom it runs for, and ended with them."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from typing import IO, TYPE_CHECKING, Final, NamedTuple

from events.clock import monotonic_s
from events.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_END_S: Final = 2.0
"""What a process gets to end by itself, once nobody reads what it says (guess: a hundred times what it takes)."""
_CHUNK_BYTES: Final = 65_536
_NULL: Final = Path(os.devnull)
on_behalf_of: Final = ContextVar("on_behalf_of", default="")
"""Whose commands a thread runs, in a process that works for several people."""
RUNNING: Final[dict[int, str]] = {}
"""The process groups that run now, each with the one it runs for."""


def end_all(whose: str = "") -> None:
    """End every command that threads wait for on one person's behalf: Ctrl-C reaches only the main thread."""
    for group, behalf in tuple(RUNNING.items()):
        if behalf == whose:
            RUNNING.pop(group, None)
            _kill(group)


@contextmanager
def waited_for(child: subprocess.Popen[bytes]) -> Iterator[None]:
    """Have `end_all` end a process, the first of its group, while somebody waits for it."""
    RUNNING[child.pid] = on_behalf_of.get()
    try:
        yield
    finally:  # Ctrl-C as well
        RUNNING.pop(child.pid, None)


def was_ended(child: subprocess.Popen[bytes]) -> bool:
    """Tell, of a process that is waited for, whether `end_all` ended it."""
    return child.pid not in RUNNING


def end_group(child: subprocess.Popen[bytes]) -> None:
    """Give a process a moment to end, now that nobody reads what it says; then kill its group."""
    try:
        child.wait(_END_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        _kill(child.pid)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def gathered(streams: Mapping[str, IO[bytes] | None], most_s: float, most_bytes: int) -> dict[str, bytes]:
    """Read until all ends are closed, or time is up; what is past `most_bytes` is read and dropped."""
    written = {name: bytearray() for name in streams}
    deadline = monotonic_s() + most_s
    with selectors.DefaultSelector() as selector:
        for name, stream in streams.items():
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ, name)
        while selector.get_map() and (left := deadline - monotonic_s()) > 0:
            for key, _ in selector.select(left):
                content = os.read(key.fd, _CHUNK_BYTES)
                if not content:
                    selector.unregister(key.fileobj)
                written[key.data] += content[: max(0, most_bytes - len(written[key.data]))]
    return {name: bytes(content) for name, content in written.items()}


class ProgramAnswer(NamedTuple):
    """What a program of this machine printed; its exit code is None past its limit, or where germline ended it."""

    code: int | None
    stdout: str
    stderr: str
    seconds: float
    ended_by_us: bool = False


def ask_program(
    words: Sequence[str],
    *,
    limit_s: float,
    stdin: Path | None = None,
    output: Path | None = None,
    most_bytes: int = 1024**2,
) -> ProgramAnswer:
    """Run a program that is trusted as the person's own, and wait for it; past its limit it is ended.

    It has the person's variables, and what it prints goes to `output` where that is named. Raises: StorageError
    where no process can be started.
    """
    began = monotonic_s()
    with (stdin or _NULL).open("rb") as given, (output or _NULL).open("wb") as kept:
        try:
            child = subprocess.Popen(  # noqa: S603 - an argument list of our own, no shell
                words,
                stdin=given,
                stdout=kept if output else subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise StorageError(f"cannot start {words[0]}: {error}", hint="try again with fewer workers") from error
        with child, waited_for(child):
            try:
                written = gathered({"stdout": child.stdout, "stderr": child.stderr}, limit_s, most_bytes)
                with suppress(subprocess.TimeoutExpired):
                    child.wait(max(0.0, began + limit_s - monotonic_s()))
                ended, code = was_ended(child), child.poll()
            finally:  # what it leaves running by itself is its own: podman keeps helpers
                if child.poll() is None:
                    _kill(child.pid)
    stdout, stderr = (written[name].decode(errors="replace") for name in ("stdout", "stderr"))
    return ProgramAnswer(None if ended else code, stdout, stderr, monotonic_s() - began, ended)
