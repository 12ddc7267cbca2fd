"""How little the screens draw and load: one frame for a jump, no new bottom line for a key that works again."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from textual.widgets._footer import FooterKey

from tests.screen_pilot import screens
from tests.story import tell
from tui.views.history import event_row
from tui.widgets import event_list
from tui.widgets.event_list import EventList

if TYPE_CHECKING:
    from pathlib import Path

    from tui.event_reads import EventLine
    from tui.views.rows import Row


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tell(tmp_path_factory.mktemp("drawing"))


def test_the_first_frame_is_drawn_without_events_or_pydantic() -> None:
    code = (
        "import sys, tui.cli.quick, tui.cli.opening, tui.screens.skills;"
        "print([one for one in ('typer', 'pydantic', 'events.types', 'registry.capsule', 'strategies', 'pygments')"
        " if one in sys.modules])"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


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
            (shown,) = (one for one in at.app.screen.query(FooterKey) if one.key == "enter")
            states.append((shown, shown.has_class("-disabled"), "history.why" in at.keys))
        assert events.cursor == 0
    (first, was_dim, did_work), (last, is_dim, works) = states
    assert first is last
    assert (was_dim, is_dim) == (not did_work, not works)
    assert was_dim != is_dim
