"""The reading thread: the screens ask, it opens the registry and reads, and no key press ever waits for it."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Final, TypeVar

from events.clock import monotonic_s, pause

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from registry.query.library import Library

T = TypeVar("T")

_DRAWN_S: Final = 0.05
"""After a read of a person, until it is drawn: 15 ms of a processor (measured)."""
_MOST_S: Final = 0.2
_AGAIN_S: Final = 0.005


class RightOfWay:
    """Lets reads that a person waits for go first: those that only count wait between their queries.

    Until what was read is drawn, too: of threads that all want to run Python runs none for long, and each row that
    is read hands on.
    """

    def __init__(self) -> None:
        self._first, self._until = 0, 0.0

    @contextmanager
    def taken(self) -> Iterator[None]:
        """Go first."""
        self._first += 1
        try:
            yield
        finally:
            self._first -= 1
            self._until = monotonic_s() + _DRAWN_S

    def given(self) -> None:
        """Wait for those that go first, but not for ever: a list of a million events is read for half a minute."""
        patience = monotonic_s() + _MOST_S
        while (self._first or monotonic_s() < self._until) and monotonic_s() < patience:
            pause(_AGAIN_S)


class ReadThread:
    """Runs reads one after the other, in the one thread that opened the library.

    A log belongs to the thread that opened it, so the library is made there, at the first read. One that
    could not be opened is tried again at the next read: the registry may have come to be meanwhile. Where
    another file lies at its place by now, or none, it is opened again: SQLite goes on reading the file that was
    there. `opened` counts how often. With `give_way` it waits there before each query.
    """

    def __init__(
        self,
        open_library: Callable[[], AbstractContextManager[Library]],
        give_way: Callable[[], None] | None = None,
    ) -> None:
        self._open, self._give_way = open_library, give_way
        self._library: Library | None = None
        self._closing = ExitStack()
        self._file: tuple[int, int] | None = None
        self.opened = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="germline-read")

    async def read(self, ask: Callable[[Library], T]) -> T:
        """Answer a question about the registry; raises what the question or the opening raises."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._answer, ask)

    def close(self) -> None:
        """Let go of the registry, after the read that is under way."""
        self._thread.submit(self._closing.close)
        self._thread.shutdown()

    def _answer(self, ask: Callable[[Library], T]) -> T:
        if self._library is not None and _file_of(self._library) != self._file:
            self._library = None
            self._closing.close()
        if self._library is None:
            self._library = self._closing.enter_context(self._open())
            self._file = _file_of(self._library)
            self.opened += 1
            if self._give_way:
                self._library.log.give_way(self._give_way)
        return ask(self._library)


def _file_of(library: Library) -> tuple[int, int] | None:
    """Tell which file a registry is read from, by its place; None for one on a server."""
    try:
        status = library.log.beside.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
