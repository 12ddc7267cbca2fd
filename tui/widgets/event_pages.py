"""Which events the History screen lists, newest first: found piece by piece, the first shown at once."""

from __future__ import annotations

from array import array
from functools import partial
from typing import TYPE_CHECKING

from tui.reads.history import read_matching, read_newer, read_positions

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from tui.session.access import Access


class Listing:
    """The positions of the events of a skill, or of all events where `skill` is "", that hold a text.

    `total` counts what was looked at, whether it holds the text or not.
    """

    def __init__(self, access: Access, skill: str) -> None:
        self._access = access
        self._skill = skill
        self._needle = ""
        self._opened = self._head = self._below = 0
        self._found = array("q")
        self.total = 0

    @property
    def positions(self) -> Sequence[int]:
        """Where the events stand."""
        return range(self._head, 0, -1) if self._is_whole else self._found

    @property
    def is_current(self) -> bool:
        """Whether the registry that it lists is the one that is open."""
        return bool(self._head) and self._opened == self._access.opened

    @property
    def is_scanning(self) -> bool:
        """Whether older events are still to be looked at."""
        return self._below > 0

    def forget(self) -> None:
        """List nothing: the registry that was listed is another one now."""
        self._found = array("q")
        self._head = self._below = self.total = 0

    def begin(self, needle: str) -> None:
        """List again, from the newest event down; what needs no looking at is listed at once."""
        self._opened, self._head = self._access.opened, self._access.state.head
        self._needle = needle
        self._found = array("q")
        self.total, self._below = (self._head, 0) if self._is_whole else (0, self._head + 1)

    async def older(self) -> AsyncIterator[None]:
        """Find older events, piece by piece, from where the last one was found."""
        while self._below:
            asked = partial(read_positions, skill=self._skill, below=self._below)
            chunk = await self._access.read(asked)
            kept = await self._matching(chunk)
            self._below = chunk[-1] if chunk else 0
            self.total += len(chunk)
            self._found.extend(kept)
            yield

    async def newer(self) -> int:
        """Add the events that came since; returns the position of the newest one, 0 where there is none."""
        head = self._access.state.head
        newer = await self._access.read(partial(read_newer, skill=self._skill, after=self._head, upto=head))
        kept = await self._matching(newer)
        self._head = head
        self.total += len(newer)
        self._found = self._found if self._is_whole else kept + self._found
        return kept[0] if kept else 0

    @property
    def _is_whole(self) -> bool:
        return not self._skill and not self._needle

    async def _matching(self, positions: array[int]) -> array[int]:
        """Keep the events that hold the text looked for."""
        if not self._needle:
            return positions
        return await self._access.read(partial(read_matching, positions=positions, needle=self._needle))
