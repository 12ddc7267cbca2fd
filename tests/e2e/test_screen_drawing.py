"""How little the screens draw and load: one frame for a jump, no new bottom line for a key that works again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from textual.app import App

from events.sqlite.session import SqliteSession
from tests.screen_pilot import screens
from tests.story import NOW, tell
from tui.screens import app as tui_app
from tui.screens.app import GermlineApp
from tui.screens.help import HelpSheet
from tui.session.open_registry import open_library
from tui.views.history import event_row
from tui.widgets import event_list
from tui.widgets.event_list import EventList
from tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    import sqlite3
    from pathlib import Path

    from tui.reads.history import EventLine
    from tui.text.rows import Row


MOST_QUESTIONS = 10
"""SQL statements that one key on the Why screen may take, whatever stands behind the line."""


@pytest.fixture(scope="module")
def story(own_folder: Path) -> Path:
    return tell(own_folder)


async def test_a_jump_is_drawn_with_what_was_read_for_it_and_never_before(
    story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[EventLine | None] = []

    def noting(line: EventLine | None, *args: Any, **kwargs: Any) -> Row:  # noqa: ANN401 - handed on as they are
        drawn.append(line)
        return event_row(line, *args, **kwargs)

    monkeypatch.setattr(event_list, "PAGE", 4)
    monkeypatch.setattr(event_list, "_PATIENCE_S", 60.0)
    async with screens(story, "/history", size=(80, 16)) as at:
        events = at.app.screen.query_one(EventList)
        monkeypatch.setattr(event_list, "event_row", noting)
        last = events.positions[-1]
        events.go_to(last)
        await at.settle()
        assert events.line is not None
        assert events.line.position == last
        assert f"event {last}" in at.pane("#detail")
    assert drawn
    assert None not in drawn


@pytest.mark.parametrize("size", [(140, 40), (80, 24)])
async def test_what_is_on_a_screen_that_opens_is_styled_once(
    story: Path, size: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    styled: list[object] = []
    update = App.update_styles

    def noting(app: App[None], node: Any, animate: bool = True) -> None:  # noqa: ANN401, FBT001, FBT002 - as textual has it
        styled.append(node)
        update(app, node, animate)

    monkeypatch.setattr(App, "update_styles", noting)
    async with screens(story, size=size) as at:
        await at.go("/signals")
        await at.press("question_mark")
        assert isinstance(at.app.screen, HelpSheet)
        assert [node for node in styled if node in at.app.screen_stack[1:]] == []
        await at.resize(120, 12)
        assert at.app.screen in styled


async def test_a_jump_to_another_type_of_event_is_one_frame_with_other_keys_and_more_to_say(
    story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, frames, display = asyncio.Event(), [], GermlineApp._display

    def noting(app: GermlineApp, *frame: Any) -> None:  # noqa: ANN401 - textual's own, handed on
        display(app, *frame)
        frames.append(app.base.copied_id)
        drawn.set()

    monkeypatch.setattr(GermlineApp, "_display", noting)
    monkeypatch.setattr(event_list, "_PATIENCE_S", 60.0)
    app = GermlineApp(lambda: open_library(story), at="/history", now=lambda: NOW)
    shown = []
    async with app.run_test(size=(140, 40)) as pilot:
        while not app.base.copied_id:
            await pilot.pause()
        events, bar = app.base.query_one(EventList), app.base.query_one(KeyBar)
        for position in (1, events.positions[0], 1):
            await pilot.pause()
            drawn.clear()
            frames.clear()
            events.go_to(position)
            await drawn.wait()
            await pilot.pause()  # whatever is left to draw is drawn now
            dim = sum(not key.works for key in bar.shown)
            shown.append((len(frames), dim, app.base.query_one("#detail").virtual_size.height))
    (first, other, again) = shown
    assert [count for count, *_ in shown] == [1, 1, 1]
    assert first == again
    assert first[1] > other[1]
    assert first[2] != other[2]


async def test_a_key_on_the_why_screen_asks_the_database_a_few_questions(
    story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    opened = SqliteSession.__init__

    def watched(session: SqliteSession, connection: sqlite3.Connection, *rest: Any) -> None:  # noqa: ANN401 - handed on
        connection.set_trace_callback(asked.append)
        opened(session, connection, *rest)

    monkeypatch.setattr(SqliteSession, "__init__", watched)
    monkeypatch.setattr(tui_app, "FOLLOW_S", 3_600.0)
    async with screens(story, "sql-analyst:1") as at:
        counts = []
        for _ in range(25):
            asked.clear()
            await at.press("j")
            counts.append(len(asked))
    assert max(counts) > 1
    assert sorted(counts)[-2] <= MOST_QUESTIONS, counts
    assert max(counts) <= MOST_QUESTIONS + 1, counts  # once, where logs were moved to is asked for as well


async def test_a_move_that_takes_long_to_read_is_drawn_before_it_is_read(
    story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(_ask: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(event_list, "_PATIENCE_S", 0.001)
    async with screens(story, "/history", size=(80, 16)) as at:
        events = at.app.screen.query_one(EventList)
        monkeypatch.setattr(at.app.access, "read", never)
        events.cursor = events.count - 1
        while events.scroll_offset.y == 0:
            await at.pilot.pause(0)
        assert events.scroll_offset.y == events.top_to_show


async def test_a_key_that_no_longer_works_is_dimmed_where_it_stands(story: Path) -> None:
    async with screens(story, "/history", size=(140, 40)) as at:
        events = at.app.screen.query_one(EventList)
        states = []
        for key in ("G", "g"):
            await at.press(key)
            (shown,) = (key for key in at.app.screen.query_one(KeyBar).shown if key.key == "enter")
            bar = at.drawn.splitlines()[-1]
            states.append((bar, shown.works, "history.why" in at.keys))
        assert events.cursor == 0
    (first, shown_before, did_work), (last, shown_now, works) = states
    assert first == last
    assert (shown_before, shown_now) == (did_work, works)
    assert did_work != works


async def test_a_click_on_a_key_of_the_bottom_line_presses_it_and_a_dim_one_rings(
    story: Path,
) -> None:
    async with screens(story, "/history", size=(140, 40)) as at:
        bar, rang = at.app.screen.query_one(KeyBar), []
        at.app.bell = lambda: rang.append(True)  # type: ignore[method-assign] # what a terminal does is not seen here
        line = at.drawn.splitlines()[-1]
        await at.press("G")
        assert not next(key for key in bar.shown if key.key == "enter").works
        for word, named in ((" ?", ""), ("enter", "enter"), ("version", ""), ("←", "left"), ("→", "right")):
            column = line.index(word)
            await at.pilot.hover(KeyBar, offset=(column, 0))
            assert (bar.under_mouse.key if bar.under_mouse else "") == named
        await at.pilot.hover(KeyBar, offset=(line.index("filter"), 0))
        assert bar.tooltip == "show only rows that hold a text"
        await at.pilot.click(KeyBar, offset=(line.index("enter"), 0))
        assert rang == [True]
        await at.pilot.click(KeyBar, offset=(line.index("help"), 0))
        await at.settle()
        assert at.app.screen is not bar.screen
