"""The Sessions screen: what agents did, the newest first, and one session step by step."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING, ClassVar

from events.errors import GermlineError
from tui.reads.labels import read_label_queue, wish_words
from tui.reads.sessions import SessionFilter, chosen, read_session, read_sessions, read_tasks, short_ids
from tui.screens.addresses import ScreenAddress
from tui.screens.list_screen import ListScreen
from tui.screens.sheet import SheetScreen
from tui.session.changes import labelling
from tui.text.numbers import count
from tui.views.sessions import session_row, session_rows, sessions_header, steps_note, transcript_rows
from tui.widgets.keys import SESSIONS, SHEET, TRANSCRIPT
from tui.widgets.rows_view import RowsView
from tui.widgets.worker import reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.binding import BindingType

    from strategies.advice.label_queue import LabelWish
    from strategies.episodes.episode import EpisodeRecord
    from tui.reads.sessions import SessionDetail
    from tui.screens.host_protocol import Host
    from tui.text.rows import Row


class SessionsScreen(ListScreen["EpisodeRecord"]):
    """Lists every session, newest first; the task of one is read once it comes into view."""

    BINDINGS: ClassVar[list[BindingType]] = [*SESSIONS]
    FIND_HINT = "show sessions that hold …"
    PANES = ("#sessions", "#session")

    def __init__(self, place: ScreenAddress, host: Host) -> None:
        super().__init__(place, host)
        self._every: tuple[EpisodeRecord, ...] = ()
        self._tasks: dict[str, str] = {}
        self._short = 6
        self._filter = SessionFilter()
        self._queue: dict[str, LabelWish] = {}
        self._queued_only = False

    async def load(self) -> None:
        """Read the sessions; the cursor stays on the one it is on."""
        self._target = self.place.item
        self._every = await self.host.access.study(read_sessions)
        self._short = short_ids(self._every)
        if self._queued_only:
            await self._read_queue()
        empty = None if self._every else ("no session was read yet", "germline scan")
        self.show_header(lambda width: sessions_header(width, self._short), empty=empty)
        self.list_items()
        self.show_selected()

    def list_items(self) -> None:
        """List the sessions that are asked for."""
        wanted = self.needle.casefold()
        every = chosen(self._every, self._filter).records
        if self._queued_only:
            by_id = {record.id: record for record in every}
            every = tuple(by_id[name] for name in self._queue if name in by_id)
        shown = [record for record in every if wanted in self._text(record)]
        self.show_list(
            shown,
            lambda record, width: session_row(
                record, self._tasks.get(record.id), self._short, width, self.host.now()
            ),
        )
        self.return_to_target(lambda record, name: record.id.startswith(name))
        self.show_bar()

    def _text(self, record: EpisodeRecord) -> str:
        skills = " ".join(name for name, _ in record.skills)
        about = (record.id, record.name, record.format, record.folder, record.run, skills)
        return " ".join((*about, self._tasks.get(record.id, ""))).casefold()

    def show_selected(self) -> None:
        """Tell about a session, and of its task once that is read."""
        self._show_session()
        self._read_tasks()

    @reading("tasks")
    async def _read_tasks(self) -> None:
        """Read the tasks of the sessions around the cursor that are not read yet."""
        table = self._table
        around = max(table.size.height, 1)
        near = self._shown[max(table.cursor - around, 0) : table.cursor + around + 1]
        missing = [record for record in near if record.id not in self._tasks]
        if not missing:
            return
        tasks = await self.host.access.study(partial(read_tasks, records=missing))
        self._tasks |= {record.id: task for record, task in zip(missing, tasks, strict=True)}
        self._table.relayout()
        self._show_session()

    def _show_session(self) -> None:
        record = self._selected
        wish = self._queue.get(record.id) if record and self._queued_only else None
        decides = wish_words(wish) if wish else ""
        self.show_detail(
            lambda record, width: session_rows(
                record, self._tasks.get(record.id), width, self.host.now(), decides=decides
            )
        )
        self.refresh_bindings()

    # -- what the cursor is on -------------------------------------------------------------------------

    @property
    def place(self) -> ScreenAddress:
        """The place with the session that the cursor is on."""
        record = self._selected if self.is_mounted else None
        return ScreenAddress("sessions", self._place.skill, item=record.id if record else self._target)

    @property
    def crumbs(self) -> list[str]:
        """Sessions, and which of them."""
        queue = ["a label would decide most"] if self._queued_only else []
        return ["Sessions", *([self._filter.words] if self._filter.words else []), *queue]

    @property
    def note(self) -> str:
        """How many there are."""
        shown = f"{len(self._shown):,} of " if len(self._shown) != len(self._every) else ""
        return f"{shown}{count(len(self._every), 'session')}"

    @property
    def copied_id(self) -> str:
        """The id of the session."""
        return self._selected.id if self._selected else ""

    @property
    def command(self) -> str:
        """The command that shows it."""
        return f"germline session {shlex.quote(self._selected.id)}" if self._selected else "germline sessions"

    # -- keys ------------------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Offer only what there is."""
        if action in {"open", "label", "waiting_first", "only_failed", "only_unlabelled", "same_project"}:
            return self.offered(self._every)
        return super().check_action(action, parameters)

    @reading("transcript")
    async def action_open(self) -> None:
        """Show the session step by step."""
        record = self._selected
        if record:
            detail = await self.ask(partial(read_session, record=record))
            if detail:
                self.app.push_screen(TranscriptSheet(detail, self._short, self.host, self.action_label))

    def on_row_list_chosen(self) -> None:
        """Show the session that was clicked twice."""
        self.action_open()

    @reading("label", exclusive=False)
    async def action_label(self, word: str) -> None:
        """Say how the session ended, and go on to the next; who is unsure goes on without a word."""
        record = self._selected
        if record is None:
            return
        self._table.cursor = min(self._table.cursor + 1, len(self._shown) - 1)
        self._show_session()
        if word != "unsure":
            change = labelling(record.id, good=word == "good")
            try:
                await self.host.access.carry_out(change, "", await self.host.access.rehearse(change, ""))
            except GermlineError as error:
                self.notify(str(error), severity="error", timeout=6)
                return
            self.notify(change.done, timeout=2)
            self.host.follow()

    @reading("queue")
    async def action_waiting_first(self) -> None:
        """Change between the sessions whose label would decide most and all of them."""
        self._queued_only = not self._queued_only
        if self._queued_only:
            await self._read_queue()
        self.find(done=True)

    async def _read_queue(self) -> None:
        """Read which sessions wait for a label, those first that would decide most."""
        wishes = await self.host.access.study(read_label_queue)
        self._queue = {wish.record.id: wish for wish in wishes}
        if not wishes:
            self._queued_only = False
            self.notify("no label would decide anything now", timeout=3)

    def action_only_failed(self) -> None:
        """Change between failed sessions alone and all of them."""
        self._choose(self._filter._replace(failed=not self._filter.failed, unlabelled=False))

    def action_only_unlabelled(self) -> None:
        """Change between sessions without an outcome alone and all of them."""
        self._choose(self._filter._replace(unlabelled=not self._filter.unlabelled, failed=False))

    def action_same_project(self) -> None:
        """Change between sessions of this project alone and all of them."""
        folder = self._selected.folder if self._selected and not self._filter.project else ""
        if folder or self._filter.project:
            self._choose(self._filter._replace(project=folder))
        else:
            self.notify("its log names no folder", timeout=2)

    def _choose(self, wanted: SessionFilter) -> None:
        self._filter = wanted
        self.find(done=True)


class TranscriptSheet(SheetScreen):
    """One session step by step; keys lead from one error to the next."""

    BINDINGS: ClassVar[list[BindingType]] = [*SHEET, *TRANSCRIPT]

    def __init__(self, detail: SessionDetail, short: int, host: Host, label: Callable[[str], object]) -> None:
        self._detail, self._label = detail, label
        self._drawn: tuple[int, list[Row], list[int]] = (0, [], [])
        crumbs = ["Sessions", detail.record.id[:short]]
        super().__init__(crumbs, self._written, host, steps_note(detail))

    def _written(self, width: int) -> list[Row]:
        """Write the rows once for each width; before the page has one there is nothing to write."""
        if width and self._drawn[0] != width:
            self._drawn = (width, *transcript_rows(self._detail, width, self._host.now()))
        return self._drawn[1]

    def action_label(self, word: str) -> None:
        """Say how the session ended, and go back to the list, where the next one is."""
        self.dismiss()
        self._label(word)

    def action_error(self, step: int) -> None:
        """Go to the next step that failed, or to the one before."""
        page = self.query_one("#page", RowsView)
        at = page.scroll_offset.y
        there = [row for row in self._drawn[2] if (row > at if step > 0 else row < at)]
        if not there:
            self.notify("no error after this" if step > 0 else "no error before this", timeout=2)
            return
        page.scroll_to(y=there[0] if step > 0 else there[-1], animate=False, force=True)
