"""Which rows the History screen lists, newest first: changes, or events that hold a text; found piece by piece."""

from __future__ import annotations

from array import array
from functools import partial
from typing import TYPE_CHECKING, Final

from tui.reads.history import changes_of, read_headers, read_matching, read_newer, read_positions, span_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence

    from tui.reads.history import ChangeSpan, EventHeader
    from tui.session.access import Access

_REGROUPED: Final = 3
"""Changes at the top that are put together again when events come: a turn joins what it did when it ends."""


class _Spans:
    """Changes, newest first, as columns of numbers, 20 bytes each: there may be a million of them.

    `lead` is the position of the most telling event; the others count from there to the newest and the oldest one.
    """

    def __init__(self, spans: Iterable[ChangeSpan] = ()) -> None:
        self.lead = array("q")
        self._newer, self._older, self.events = array("I"), array("I"), array("I")
        self.add(spans)

    def add(self, spans: Iterable[ChangeSpan]) -> None:
        """Add changes that are older than all."""
        for lead, newest, oldest, events in spans:
            self.lead.append(lead)
            self._newer.append(newest - lead)
            self._older.append(lead - oldest)
            self.events.append(events)

    def with_newer(self, spans: Iterable[ChangeSpan], *, instead_of: int) -> _Spans:
        """Give all changes with newer ones, which stand instead of some at the top; this list stays as it is."""
        newer = _Spans(spans)
        for column, rest in zip(newer._columns(), self._columns(), strict=True):
            column.extend(rest[instead_of:])
        return newer

    def newest(self, at: int) -> int:
        """Give the position of the last event of a change."""
        return self.lead[at] + self._newer[at]

    def oldest(self, at: int) -> int:
        """Give the position of the first event of a change."""
        return self.lead[at] - self._older[at]

    def index(self, position: int) -> int:
        """Find the change that an event belongs to, else the next older one."""
        low, high = 0, len(self.lead)
        while low < high:
            middle = (low + high) // 2
            low, high = (middle + 1, high) if self.oldest(middle) > position else (low, middle)
        return low

    def _columns(self) -> tuple[array[int], ...]:
        return self.lead, self._newer, self._older, self.events


class Listing:
    """The rows of a skill, or of all where `skill` is "": one for each change, or for each event with a text.

    A row is the position of an event, that of a change its most telling one; an open change has a row for each of
    its events. `total` counts the events that were looked at.
    """

    def __init__(self, access: Access, skill: str) -> None:
        self._access = access
        self._skill = skill
        self._needle = ""
        self._opened = self._head = self._below = 0
        self.forget()

    @property
    def positions(self) -> Sequence[int]:
        """The events that have a row."""
        return self._rows

    @property
    def changes(self) -> int:
        """How many changes there are; 0 where events are looked for by a text."""
        return len(self._spans.lead)

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
        self._spans = _Spans()
        self._rows = self._spans.lead
        self._unfinished: list[EventHeader] = []
        self._unfolded: dict[int, array[int]] = {}
        self._head = self._below = self.total = 0

    def begin(self, needle: str) -> None:
        """List again, from the newest event down; changes that were opened stay so."""
        unfolded = self._unfolded
        self.forget()
        self._unfolded = unfolded
        self._opened, self._head = self._access.opened, self._access.state.head
        self._needle, self._below = needle, self._head + 1
        if needle:
            self._rows = array("q")

    async def older(self) -> AsyncIterator[None]:
        """Find older events, piece by piece, from where the last one was found."""
        while self._below:
            asked = partial(read_positions, skill=self._skill, below=self._below)
            chunk = await self._access.read(asked)
            self._below = chunk[-1] if chunk else 0
            self.total += len(chunk)
            if self._needle:
                self._rows.extend(await self._matching(chunk))
            else:
                changes = changes_of([*self._unfinished, *await self._headers(chunk)])
                self._unfinished = changes.pop() if chunk and changes else []
                self._spans.add(map(span_of, changes))
                self._list_rows()
            yield

    async def newer(self) -> int:
        """Add the events that came since; returns the position of the newest row, 0 where there is none."""
        head, known = self._access.state.head, self._head
        if self._needle:
            kept = await self._matching(await self._newer(known, head))
            self._rows = kept + self._rows
        else:
            again = min(_REGROUPED, self.changes)
            newer = await self._newer(self._spans.oldest(again - 1) - 1 if again else known, head)
            kept = array("q", [position for position in newer if position > known])
            changes = changes_of(await self._headers(newer))
            self._spans = self._spans.with_newer(map(span_of, changes), instead_of=again)
            self._list_rows()
        self._head = head
        self.total += len(kept)
        return self.row_of(kept[0]) if kept else 0

    # -- changes that are open or closed ---------------------------------------------------------------

    def behind(self, position: int) -> int:
        """Count the events that enter shows beside that of a row: those of a change that is closed."""
        at = self._spans.index(position)
        is_closed = at < self.changes and self._spans.lead[at] not in self._unfolded
        return self._spans.events[at] - 1 if is_closed else 0

    def is_unfolded(self, position: int) -> bool:
        """Tell whether a row is one of the events of a change that is open."""
        at = self._spans.index(position)
        return at < self.changes and self._spans.lead[at] in self._unfolded

    def row_of(self, position: int) -> int:
        """Give the row of an event: its own where it has one, else that of its change."""
        at = self._spans.index(position)
        is_covered = at < self.changes and position <= self._spans.newest(at)
        return self._spans.lead[at] if is_covered and not self.is_unfolded(position) else position

    async def unfold(self, position: int) -> None:
        """Give each event of a change a row."""
        at = self._spans.index(position)
        if self.behind(position) > 0:
            oldest, newest = self._spans.oldest(at), self._spans.newest(at)
            self._unfolded[self._spans.lead[at]] = await self._newer(oldest - 1, newest)
            self._list_rows()

    async def unfold_around(self, position: int) -> None:
        """Do so where an event has no row of its own, once it was found."""
        at = self._spans.index(position)
        if position and at < self.changes and self._spans.newest(at) >= position != self._spans.lead[at]:
            await self.unfold(position)

    @property
    def has_unfolded(self) -> bool:
        """Whether any change shows its events."""
        return bool(self._unfolded)

    def fold(self, position: int) -> int:
        """Give the change of an event one row again; returns that row."""
        lead = self._spans.lead[self._spans.index(position)]
        self._unfolded.pop(lead, None)
        self._list_rows()
        return lead

    def _list_rows(self) -> None:
        """Put rows together: where nothing is open, the very changes."""
        leads, at = self._spans.lead, 0
        self._rows = array("q") if self._unfolded else leads
        for lead in sorted(self._unfolded, reverse=True):
            here = self._spans.index(lead)
            if here < self.changes and leads[here] == lead:
                self._rows += leads[at:here] + self._unfolded[lead]
                at = here + 1
        if self._unfolded:
            self._rows += leads[at:]

    async def _newer(self, after: int, upto: int) -> array[int]:
        return await self._access.read(partial(read_newer, skill=self._skill, after=after, upto=upto))

    async def _headers(self, positions: array[int]) -> list[EventHeader]:
        return await self._access.read(partial(read_headers, positions=positions)) if positions else []

    async def _matching(self, positions: array[int]) -> array[int]:
        """Keep the events that hold the text looked for."""
        return await self._access.read(partial(read_matching, positions=positions, needle=self._needle))
