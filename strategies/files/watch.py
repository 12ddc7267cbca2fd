"""Watching folders: events are hints to look, and looking is a scan of `stat` every few seconds anyway.

watchdog lost nine in ten of 40,000 creations under a busy interpreter (measured 2026-11), so nothing
is read off its events. Each look is a full one: an overflow of events loses nothing, and needs nothing of its own.
"""

from __future__ import annotations

import fcntl
import os
import signal
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer

from events.errors import BusyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

LOOK_EVERY_S: Final = 2.0
"""How long a change can stay unseen where the hints fail."""

REST_S: Final = 0.05
"""After a hint: writers write in bursts, and one look sees a burst as well as its first line."""

_CHANGES: Final = frozenset(["created", "modified", "moved", "deleted"])
"""Reading a file is an event too: a look must not wake the next one."""


class _Waker(FileSystemEventHandler):
    """Turns every change into one wake-up."""

    def __init__(self, wake: threading.Event) -> None:
        self._wake = wake

    def on_any_event(self, event: FileSystemEvent) -> None:
        """Wake the loop."""
        if event.event_type in _CHANGES:
            self._wake.set()


def watch(
    paths: Iterable[Path], look: Callable[[], None], stop: threading.Event, *, every_s: float = LOOK_EVERY_S
) -> None:
    """Call `look` at once, after every change below the paths, and every few seconds, until `stop` is set.

    A look that is running is finished first; what it raises ends the watch.
    """
    wake = threading.Event()
    observer = Observer()
    observer.start()
    try:
        for folder, deep in _folders(paths):
            with suppress(OSError):  # one that is closed to us gives no hints; each look tells of it
                observer.schedule(_Waker(wake), str(folder), recursive=deep)
        while not stop.is_set():
            wake.clear()
            look()
            _wait(wake, stop, every_s)
            stop.wait(REST_S)
    finally:
        observer.stop()
        observer.join()


@contextmanager
def only_watcher(lock: Path) -> Iterator[None]:
    """Hold the lock of a registry's one watcher; a killed watcher leaves it free. Raises: BusyError."""
    lock.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            other = os.pread(descriptor, 20, 0).decode(errors="replace").strip()
            raise BusyError(
                f"another watcher, process {other or 'unknown'}, follows logs for this registry",
                hint="one is enough: stop it first, or let it do the work",
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """Give an event that SIGINT and SIGTERM set, so that the batch at hand is finished; main thread only."""
    stop = threading.Event()
    asked = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda *_: stop.set()) for number in asked]
    try:
        yield stop
    finally:
        for number, handler in zip(asked, before, strict=True):
            signal.signal(number, handler)


def _folders(paths: Iterable[Path]) -> Iterator[tuple[Path, bool]]:
    """Give the folders to listen at: a folder itself, with what is below it; of a file the one it lies in."""
    deep, flat = set[Path](), set[Path]()
    for path in paths:
        with suppress(OSError, RuntimeError):  # a path that is closed to us, or a link to itself
            deep |= {path.resolve()} if path.is_dir() else set()
            flat |= set() if path.is_dir() else {path.resolve().parent}
    yield from ((folder, True) for folder in sorted(deep))
    yield from ((folder, False) for folder in sorted(flat - deep) if folder.is_dir())


def _wait(wake: threading.Event, stop: threading.Event, every_s: float) -> None:
    """Wait for a hint or the time; in slices, so that a stop is heard soon."""
    slice_s = 0.1
    for _ in range(max(1, round(every_s / slice_s))):
        if wake.wait(slice_s) or stop.is_set():
            return
