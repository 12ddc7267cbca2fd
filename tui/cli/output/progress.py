"""Progress: one line that rewrites itself, on a terminal only."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Final

from events.clock import monotonic_s
from tui.cli.output.color import width
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

    from strategies.rollouts.run.runner import RunProgress
    from tui.cli.output.invocation import Invocation

_CLEAR: Final = "\r\x1b[K"
_EVERY_S: Final = 0.1
"""More often nobody reads it, and a terminal far away pays for each."""
_SETTLED_S: Final = 1.0
"""Before, a rate says more about the start than about the work."""
_MB: Final = 1_000_000


class LiveLine:
    """A line on the terminal that is written over, and taken away at its end."""

    def __init__(self, call: Invocation) -> None:
        self.shown = sys.stderr.isatty() and not call.quiet
        self._dirty = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.clear()

    def show(self, text: str) -> None:
        """Write the line again."""
        if self.shown:
            sys.stderr.write(f"{_CLEAR}{clip(one_line(text), width() - 1)}")
            sys.stderr.flush()
            self._dirty = True

    def clear(self) -> None:
        """Take the line away, so that something can be printed in its place."""
        if self._dirty:
            sys.stderr.write(_CLEAR)
            sys.stderr.flush()
            self._dirty = False


class RunLine(LiveLine):
    """Shows how many runs of the present rounds are made, and what all of them cost."""

    def advance(self, progress: RunProgress) -> None:
        """Write the line again."""
        cost = f", {progress.cost_usd:.2f} USD" if progress.cost_usd else ""
        self.show(f"running {progress.done:,} of {progress.planned:,}{cost}")


def note_stopped(call: Invocation, runs: int) -> None:
    """Say, after an interruption, how many runs of an agent are kept."""
    call.note(f"stopped    {runs:,} runs were made and are kept; the same command goes on from there")


class ReadProgress(LiveLine):
    """Shows how far reading is: share, bytes, rate and the time that is left."""

    def __init__(self, call: Invocation, what: str) -> None:
        super().__init__(call)
        self._what = what
        self._began_s = monotonic_s()
        self._told_s = -1.0

    @property
    def advance(self) -> Callable[[int, int], None] | None:
        """Take how many bytes are done, and of how many; None where nobody would see it."""
        return self._advance if self.shown else None

    def _advance(self, done: int, total: int) -> None:
        now_s = monotonic_s()
        if now_s - self._told_s >= _EVERY_S:
            self._told_s = now_s
            self.show(f"{self._what} {progress_words(done, total, now_s - self._began_s)}")


class Counted(LiveLine):
    """Shows how many of so many are done, at most ten times a second."""

    def __init__(self, call: Invocation, what: str, total: int) -> None:
        super().__init__(call)
        self._what = what
        self._total = total
        self._told_s = -1.0

    def advance(self, done: int) -> None:
        """Take how many are done."""
        now_s = monotonic_s()
        if self.shown and now_s - self._told_s >= _EVERY_S:
            self._told_s = now_s
            self.show(f"{self._what}  {done:,} of {self._total:,}")


def progress_words(done: int, total: int, seconds: float) -> str:
    """Write how far reading is: ` 45 %  230 of 512 MB, 310 MB/s, 1 s left`."""
    words = f"{done * 100 // max(total, 1):3} %  {done / _MB:,.0f} of {total / _MB:,.0f} MB"
    if seconds < _SETTLED_S or not done:
        return words
    rate = done / seconds
    return f"{words}, {rate / _MB:,.0f} MB/s, {max(total - done, 0) / rate:,.0f} s left"
