"""Every key of every screen reaches what it says; a mouse does what the keys do."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from functools import partial
from shutil import copytree
from typing import TYPE_CHECKING

import pytest
from textual.events import MouseScrollDown, MouseScrollUp

from events.sqlite.log import SqliteLog
from registry.registry import Registry
from strategies.audit.audit_skill import audit_skill
from tests.audit_runs import ScriptedRunner, plan_of
from tests.clocks import TickingClock
from tests.screen_pilot import screens
from tests.story_trends import tell_with_runs
from tests.story_work import SETTINGS
from tui.screens.addresses import place_of
from tui.screens.app import SCREENS, GermlineApp, screen_for
from tui.screens.confirm import ConfirmChange
from tui.views.heat_map import window_of
from tui.widgets.heat_grid import HeatGrid
from tui.widgets.keys import APP, MOVES, ON_SCREENS, OVER_SCREENS, QUIT, SCREEN
from tui.widgets.rows_view import RowList, RowsView

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from textual.binding import Binding

    from tests.screen_pilot import Screens

PLACES = {
    "skills": "/skills/sql-analyst",
    "history": "sql-analyst",
    "why": "sql-analyst@3:1",
    "signals": "/signals",
    "presets": "/presets",
    "review": "/review",
    "trends": "/trends/sql-analyst",
    "sessions": "/sessions",
    "usage": "/usage",
    "start": "/start",
    "audits": "/audits",
}
LISTS = {view: f"#{view}" for view in PLACES}
LISTS |= {"history": "#events", "why": "#blame", "trends": "#tasks", "usage": "#lines", "audits": "#evaluators"}


@pytest.fixture(scope="module")
def shared_story(own_folder: Path) -> Path:
    path = tell_with_runs(own_folder)
    log = SqliteLog.open(path)
    audit_skill(plan_of(Registry(log, TickingClock(seed=9), "person:ada"), ScriptedRunner(), count=1))
    log.close()
    return path


class Pressed:
    """Takes note of what keys reach, and lets none of it happen."""

    def __init__(self, at: Screens, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = at
        self.ids: set[str] = set()
        self._reached: list[tuple[str, tuple[object, ...], bool]] = []
        for kind in (GermlineApp, *map(screen_for, SCREENS)):
            monkeypatch.setattr(kind, "check_action", lambda *_: True)
        monkeypatch.setattr(GermlineApp, "_dispatch_action", self._note)

    async def _note(self, target: object, name: str, parameters: tuple[object, ...]) -> bool:
        there = hasattr(target, f"action_{name}") or hasattr(target, f"_action_{name}")
        self._reached.append((name, parameters, there))
        return True

    async def reach(self, bindings: Sequence[Binding]) -> None:
        for binding in bindings:
            for key in binding.key.split(","):
                self._reached.clear()
                await self.at.pilot.press(key)
                name, _, words = binding.action.partition("(")
                wanted = (name.removeprefix("app."), words.rstrip(")").strip("'"))
                assert [(action, "".join(map(str, given)), there) for action, given, there in self._reached] == [
                    (*wanted, True)
                ], key
            self.ids.add(binding.id or "")


async def test_every_key_of_every_screen_reaches_its_action(story: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    everywhere = [*APP, *SCREEN, *MOVES]
    async with screens(story, settings=SETTINGS) as at:
        with monkeypatch.context() as patched:
            pressed = Pressed(at, patched)
            await pressed.reach(everywhere)
            for view, own in ON_SCREENS.items():
                at.app.go(place_of(PLACES[view]))
                await at.settle()
                await pressed.reach(own)
    every = [*everywhere, *(binding for own in ON_SCREENS.values() for binding in own)]
    assert pressed.ids == {binding.id for binding in every}


async def test_every_key_above_a_screen_does_what_it_says(story: Path) -> None:
    async with screens(story, "sql-analyst@3:12", settings=SETTINGS, size=(80, 16)) as at:
        why = at.app.screen
        for close in OVER_SCREENS["sheet"][0].key.split(","):
            await at.press("e")
            assert at.app.screen is not why
            await at.press(close)
            assert at.app.screen is why, close
        await at.press("question_mark")
        page = at.app.screen.query_one("#page")
        for down, up in zip(*(binding.key.split(",") for binding in OVER_SCREENS["help"]), strict=True):
            await at.press(down)
            assert page.scroll_offset.y > 0, down
            await at.press(up)
            assert page.scroll_offset.y == 0, up
        at.app.go(place_of("sql-analyst@2"))
        await at.settle()
        await at.press("R")
        asking = at.app.screen
        assert isinstance(asking, ConfirmChange)
        await at.press(*"why", "enter")
        assert "CapsuleReverted" in at.pane("#page")
        await at.press("e")
        assert at.app.focused is asking.query_one("Input")
        await at.press("escape")
        assert at.app.screen is not asking
        assert [binding.key for binding in OVER_SCREENS["ask"]] == ["enter", "e", "escape", QUIT.key]


# -- the mouse -----------------------------------------------------------------------------------------


async def test_on_every_screen_a_click_selects_a_second_one_opens_and_the_wheel_scrolls(
    story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []

    def noting(view: str) -> Callable[[object], None]:
        return lambda _screen: opened.append(view)

    async with screens(story, size=(80, 16), settings=SETTINGS) as at:
        for view in SCREENS:
            monkeypatch.setattr(screen_for(view), "on_row_list_chosen", noting(view))
            at.app.go(place_of(PLACES[view]))
            await at.settle()
            rows = at.app.screen.query_one(LISTS[view], RowList)
            rows.cursor = 0
            await at.settle()
            x = window_of(rows.heat, 0, rows.width).task + 3 if isinstance(rows, HeatGrid) else 4
            for clicks in (0, 1):
                assert opened.count(view) == 0
                await at.pilot.click(rows, offset=(x, 1))
                assert rows.cursor == 1, view
                assert opened.count(view) == clicks, view
            await wheel_over(at, view)
    assert opened == list(SCREENS)


async def wheel_over(at: Screens, view: str) -> None:
    """Turn the wheel over every pane that has more rows than it shows."""
    panes = [
        rows_view
        for rows_view in at.app.screen.query("#body RowsView").results(RowsView)
        if rows_view.max_scroll_y
    ]
    assert panes or view == "start", view  # nothing costs much in this story
    for pane in panes:
        pane.scroll_to(y=0, animate=False, force=True)
        for kind, scrolled in ((MouseScrollDown, True), (MouseScrollUp, False)):
            await at.pilot._post_mouse_events([kind], pane, (2, 1), button=0)
            await at.pilot.pause()
            assert (pane.scroll_target_y > 0) is scrolled, (view, pane.id)


# -- a registry that somebody else is writing to -------------------------------------------------------


async def test_a_registry_that_is_locked_says_so_and_the_change_can_be_tried_again(
    shared_story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copytree(shared_story.parent, tmp_path / "own")
    path = tmp_path / "own" / shared_story.name
    monkeypatch.chdir(path.parent)
    monkeypatch.setattr("tui.session.open_registry.SqliteLog.open", partial(SqliteLog.open, patience_s=0.05))
    async with screens(path, "/presets/harden", settings=SETTINGS) as at:
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await at.press("enter", *"why", "enter")
            assert "stayed locked by another process" in " ".join(at.pane("#page").split())
            assert "append" not in {
                active.binding.action for active in at.app.screen.active_bindings.values() if active.enabled
            }
            other.execute("ROLLBACK")
        await at.press("enter")
        assert "+ PresetSwitched" in at.pane("#page")
        await at.press("enter")
        assert " harden  ● live" in at.top
