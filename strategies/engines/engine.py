"""Engines: where work is done that other processes can do: on this machine, or on a cluster.

A scan hands whole files to an `Executor`, evolution claims and refits, a comparison whole runs. What comes out
is the same on every engine: answers are put back in their order, and runs are distinguished by place, never by who
was done first.
"""

from __future__ import annotations

import os
import signal
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from strategies.engines.forks import LOADED, forks
from strategies.engines.share import Sharing, Workers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager

    from strategies.engines.engine_settings import EngineSettings

_T = TypeVar("_T")

_WORTH_BYTES: Final = 64_000_000
"""Less is read by one process before others have started (what they are forked from imports for 0.3 s)."""


class Elsewhere(Protocol):
    """Other machines, or processes, that make single calls; asked from several threads at once."""

    @property
    def places(self) -> int:
        """How many calls are made at once; raises EngineError."""
        ...

    @property
    def session(self) -> str:
        """What the calls of this command are known by where they are made; raises EngineError."""
        ...

    def call(self, function: Callable[[], _T]) -> _T:
        """Make a call and wait for it, again where its worker dies. Raises: EngineError; what it raises."""
        ...

    def end(self, ending: Callable[[str], object]) -> None:
        """Take back every call that is not done, and call `ending` with the session on each worker."""
        ...

    def close(self) -> None:
        """Let go of the workers; the next call finds some again."""
        ...


@dataclass(frozen=True)
class Engine:
    """Where work is done.

    `files` gives an executor to share files of these sizes among, None where they are best read here. `workers`
    work out what episodes show. `elsewhere` makes the runs of agents; None where they are made here.
    """

    files: Callable[[Sequence[int]], AbstractContextManager[Executor | None]]
    workers: Workers
    elsewhere: Elsewhere | None = None

    def sharing(self) -> Sharing:
        """Give a command what shares its mining and replay; workers last from the first large work to its end."""
        return Sharing(self.workers)


def engine_of(
    settings: EngineSettings, *, processes: int = 0, forget: Callable[[], object] | None = None
) -> Engine:
    """Give the engine that settings ask for; nothing is started or reached before it is used.

    `processes` share work on this machine, 0 is one for each core. `forget` lets go of what workers elsewhere keep
    of episodes. Raises: UsageError where the extra is missing.
    """
    if settings.name == "local":
        places = processes or os.cpu_count() or 1
        return Engine(partial(_for_files, places), Workers(lambda: places, partial(_processes, places)))
    from strategies.engines.dask_engine import DaskWorkers  # noqa: PLC0415 - only where it is asked for

    workers = DaskWorkers(settings, forget=forget)
    return Engine(workers.files, Workers(lambda: workers.places, workers.calls), workers)


@contextmanager
def _for_files(places: int, sizes: Sequence[int]) -> Iterator[Executor | None]:
    """Start processes to share files among, where there are enough files and bytes to be worth it; else None."""
    wanted = min(places, len(sizes))
    if wanted < 2 or sum(sizes) < _WORTH_BYTES:  # noqa: PLR2004 - one file is read by one process
        yield None
        return
    with _processes(wanted) as executor:
        yield executor


@contextmanager
def _processes(number: int) -> Iterator[Executor]:
    """Start processes, and end them: what has not begun by then is never done."""
    executor = ProcessPoolExecutor(number, forks(*LOADED), initializer=_die_of_ctrl_c)
    try:
        yield executor
    finally:
        executor.shutdown(cancel_futures=True)


def _die_of_ctrl_c() -> None:
    """Let Ctrl-C, which reaches every process of a terminal, end a worker at once and without a word."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
