"""Work of a command shared among workers: the same answers in the same order, no matter who works them out."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor
from contextlib import ExitStack, suppress
from typing import TYPE_CHECKING, Final, NamedTuple, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Executor
    from contextlib import AbstractContextManager
    from types import TracebackType

_T = TypeVar("_T")
_A = TypeVar("_A")

START_S: Final = 2.0
"""The least work that workers are started for. A pool takes 0.4 s until it answers; the 50,000 episodes of explore
among 100,000 take another 0.8 s to pack and unpack (measured). 6,204 episodes never come to this."""
PART_S: Final = 0.5
"""The least work that a worker is handed, once they run: below that, handing it over is felt (a guess)."""
_TWO: Final = 2
"""Parts from which there is something to share."""


class Workers(NamedTuple):
    """How many calls are made at once, and who makes them; both are asked only when there is enough work.

    The executor lasts as long as its context. What it is handed must be fit to be sent to another process.
    """

    places: Callable[[], int]
    started: Callable[[], AbstractContextManager[Executor]]


class Sharing:
    """Shares work among workers, which are started by the first that is worth it and let go at the end.

    Where a worker of this machine dies, its parts and all further work are done here.
    """

    def __init__(self, workers: Workers | None, *, start_s: float = START_S, part_s: float = PART_S) -> None:
        """Take the workers, None to do all of it here. Units: seconds of work in one process."""
        self._workers = workers
        self._start_s, self._part_s = start_s, part_s
        self._executor: Executor | None = None
        self._opened = ExitStack()

    def __enter__(self) -> Self:
        """Start nothing yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Let go of the workers."""
        self._executor = None
        self._opened.__exit__(kind, error, trace)

    def map(
        self, function: Callable[[Sequence[_A]], Sequence[_T]], items: Sequence[_A], *, seconds: float
    ) -> list[_T]:
        """Answer for all items with a function of some of them, which gives one answer for each, in their order.

        `seconds` is what one process would need, roughly. Raises: EngineError; what the function raises.
        """
        workers = self._workers
        if workers is None or (self._executor is None and seconds < self._start_s):
            return list(function(items))
        parts = min(len(items), int(seconds / self._part_s))
        parts = parts if parts < _TWO else min(parts, workers.places())
        if parts < _TWO:
            return list(function(items))
        answers: dict[int, _T] = {}
        dealt = [range(len(items))[first::parts] for first in range(parts)]  # neighbours tend to cost alike
        results = self._shared(workers, function, [items[first::parts] for first in range(parts)])
        for places, part in zip(dealt, results, strict=True):
            answers.update(zip(places, part, strict=True))
        return [answers[place] for place in range(len(items))]

    def _shared(
        self, workers: Workers, function: Callable[[Sequence[_A]], Sequence[_T]], parts: Sequence[Sequence[_A]]
    ) -> list[Sequence[_T]]:
        """Have the parts done at once; here, where workers die: who lacked memory once would lack it again."""
        executor = self._executor or self._opened.enter_context(workers.started())
        self._executor = executor
        done: dict[int, Sequence[_T]] = {}
        with suppress(BrokenExecutor):
            for number, call in enumerate([executor.submit(function, part) for part in parts]):
                done[number] = call.result()
        if len(done) < len(parts):
            self._workers = None
        return [done[number] if number in done else function(part) for number, part in enumerate(parts)]


HERE: Final = Sharing(None)
"""Does everything in this process."""
