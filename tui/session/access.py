"""Access: how the screens read and write one registry, without ever making a key press wait."""

from __future__ import annotations

import asyncio
from functools import partial
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from events.errors import GermlineError, UsageError
from tui.session.read_thread import ReadThread, RightOfWay

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from registry.query.library import Library
    from strategies.scope.log_globs import LogGlobs
    from tui.reads.signal_facts import OpenFacts, SignalFacts
    from tui.reads.signals import Prospects
    from tui.reads.skills import Week
    from tui.session.changes import Change, ChangePreview, OpenRegistry

T = TypeVar("T")
LogHead = tuple[int, int]
"""How often the registry was opened, and how far its log went."""

_SLOW_S: Final = 1.0
_REST: Final = 10
"""What only counts facts, beside a screen, is counted again ten times as long after a slow count as that took."""


class SessionState(NamedTuple):
    """What every screen knows of the registry: the preset in force, how far the log goes, the names of the skills.

    `own_presets` are those that a person defined.
    """

    preset: str = ""
    head: int = 0
    names: tuple[str, ...] = ()
    own_presets: tuple[str, ...] = ()


class Access:
    """Reads in threads of their own; writes through the registry, as every command does.

    `state` is as the last look found it; `live` is false while the registry cannot be read.
    """

    def __init__(
        self,
        library: Callable[[], AbstractContextManager[Library]],
        registry: OpenRegistry | None,
        *,
        seed: int,
        logs: LogGlobs | None = None,
    ) -> None:
        self._way = RightOfWay()
        self._reader, self._student = ReadThread(library), ReadThread(library, self._way.given)
        self._registry = registry
        self._seed, self._logs = seed, logs
        self._prospects: tuple[LogHead, Prospects] | None = None
        self._facts: tuple[LogHead, SignalFacts] | None = None
        self._open: tuple[LogHead, OpenFacts] | None = None
        self._week: tuple[LogHead, Week] | None = None
        self._count_again = 0.0
        self.state = SessionState()
        self.live = True

    @property
    def opened(self) -> int:
        """How often the registry was opened: once more where another one lies at its place since."""
        return self._reader.opened

    async def look(self) -> bool:
        """Look whether the log has grown, or can be read again, or no longer; tell whether that is so."""
        before, opened = (self.state.head, self.live), self.opened
        try:
            if await self._reader.read(_head) != self.state.head or self.opened != opened:
                self.state = await self._reader.read(_state)
            self.live = True
        except GermlineError:
            self.live = False
        return (self.state.head, self.live) != before or self.opened != opened

    async def ready(self) -> None:
        """Look at the registry for the first time, if nobody did yet; raises what that raises."""
        if not self.state.head:
            self.state = await self._reader.read(_state)

    async def read(self, ask: Callable[[Library], T]) -> T:
        """Answer a question about the registry in the reading thread; raises what it raises."""
        await self.ready()
        with self._way.taken():
            return await self._reader.read(ask)

    async def study(self, ask: Callable[[Library], T]) -> T:
        """Answer a question that takes long, in a thread of its own: other reads go first."""
        await self.ready()
        return await self._student.read(ask)

    async def prospects(self) -> Prospects:
        """Look ahead at what would be picked next; looked up once for each head of a log."""
        from tui.reads.signals import read_prospects  # noqa: PLC0415 - the first screen needs none of it

        head = self.opened, self.state.head
        if self._prospects is None or self._prospects[0] != head:
            self._prospects = head, await self.study(partial(read_prospects, seed=self._seed, logs=self._logs))
        return self._prospects[1]

    async def signal_facts(self, *, fixes: bool) -> SignalFacts:
        """Read every fact that signals tell, `fixes` with what worked next; once for each head of a log."""
        if self._facts is None or self._facts[0] != (self.opened, self.state.head):
            from tui.reads.signal_facts import read_signal_facts  # noqa: PLC0415 - as above

            self._facts = head, facts = await self._counted(read_signal_facts)
            self._open = head, facts.open
        head, facts = self._facts
        if fixes and not all(fact.searched for fact in facts.facts):
            from tui.reads.signal_facts import read_worked_next  # noqa: PLC0415 - as above

            facts = await self.study(partial(read_worked_next, facts=facts))
            self._facts = head, facts
        return facts

    async def _open_facts(self) -> tuple[LogHead, OpenFacts]:
        """Sum up the facts that nobody answered, with the head that they are of: an earlier one while `behind_s`.

        The facts themselves are let go: beside another screen nobody asks for them.
        """
        if self._open is None or (self._open[0] != (self.opened, self.state.head) and not self.behind_s):
            from tui.reads.signal_facts import read_open_facts  # noqa: PLC0415 - as above

            self._facts, self._open = None, await self._counted(read_open_facts)
        return self._open

    async def _counted(self, count: Callable[..., T]) -> tuple[LogHead, T]:
        """Count facts; where that was slow, `behind_s` says when they are to be counted again."""
        head, began = (self.opened, self.state.head), monotonic()
        known = head, await self.study(partial(count, logs=self._logs))
        took = monotonic() - began
        self._count_again = monotonic() + took * _REST if took > _SLOW_S else 0.0
        return known

    @property
    def behind_s(self) -> float | None:
        """How long counts of facts stay behind a log that grew, in seconds; None where they are not behind."""
        opened, head = self._open[0] if self._open else (0, 0)
        if opened != self.opened or head == self.state.head:
            return None
        return max(self._count_again - monotonic(), 0.0)

    async def week(self, now: str) -> Week:
        """Sum up the last seven days; once for each head whose facts are counted."""
        from tui.reads.skills import read_week  # noqa: PLC0415 - as above

        head, facts = await self._open_facts()
        if self._week is None or self._week[0] != head:
            self._week = head, await self.study(partial(read_week, facts=facts, now=now))
        return self._week[1]

    async def waiting(self, draw_every: int) -> dict[str, int]:
        """Count what waits for a person, by the screen that shows it: open facts, candidates and second looks."""
        from tui.reads.review import count_waiting  # noqa: PLC0415 - as above

        _, facts = await self._open_facts()
        return {
            "signals": facts.number,
            "review": await self.study(partial(count_waiting, every=draw_every, seed=self._seed)),
        }

    async def rehearse(self, change: Change, reason: str) -> ChangePreview:
        """Tell what a change would append; raises what it raises."""
        from tui.session.changes import rehearse  # noqa: PLC0415 - most who look change nothing

        return await asyncio.to_thread(rehearse, self._writable(), change, reason)

    async def carry_out(self, change: Change, reason: str, shown: ChangePreview) -> ChangePreview:
        """Append a change as its rehearsal was shown; raises what it raises."""
        from tui.session.changes import carry_out  # noqa: PLC0415 - as above

        return await asyncio.to_thread(carry_out, self._writable(), change, reason, shown)

    def _writable(self) -> OpenRegistry:
        if self._registry is None:
            raise UsageError("the registry is open for reading only")
        return self._registry

    def close(self) -> None:
        """Let go of the registry, after the reads that are under way."""
        self._reader.close()
        self._student.close()


def _head(library: Library) -> int:
    return library.log.head().position


def _state(library: Library) -> SessionState:
    own = dict.fromkeys(document.key for document in library.log.documents("preset"))
    return SessionState(library.about().preset, _head(library), tuple(library.names()), tuple(own))
