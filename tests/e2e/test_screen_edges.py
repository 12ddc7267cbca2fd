"""What the edges of the screens do: replaced registries, odd texts, cancelled changes, filters without a hit."""

from __future__ import annotations

import asyncio
from shutil import copytree, move
from typing import TYPE_CHECKING

import pytest
from textual.command import Hit
from textual.content import Content
from textual.widgets import Input

from events.errors import StorageError
from events.sqlite.log import SqliteLog
from registry.decide.commands import ImportSkill, MoveSkill, RecordFact, SwitchPreset
from registry.registry import Registry
from registry.skill_md.folder import read_skill
from tests.clocks import TickingClock
from tests.registries import new_registry, raised_signal
from tests.screen_pilot import screens
from tests.story import tell
from tests.story_work import tell_with_work
from tui.screens.base import PlaceScreen
from tui.screens.confirm import ConfirmChange
from tui.screens.host_protocol import Settings
from tui.screens.palette import GoTo
from tui.session.changes import switching
from tui.session.open_registry import open_registry
from tui.widgets.heat_grid import HeatGrid
from tui.widgets.rows_view import RowList

if TYPE_CHECKING:
    from pathlib import Path

    from textual.color import Color
    from textual.style import Style

    from tests.screen_pilot import Screens
    from tui.session.changes import Change, ChangePreview

LONG = "a" * 64
SMALL = (72, 18)
"""Drawing is what takes time: half as many cells where the places of texts do not matter."""
MARKUP = "Expected [/INST] after [b]"
PLACES = {
    "/skills": "#card",
    "sql-analyst": "#detail",
    "/signals": "#signal",
    "/trends/sql-analyst": "#heads",
}


@pytest.fixture(scope="module")
def shared_story(own_folder: Path) -> Path:
    """The story with work left, a skill with as long a name as there may be, a signal that looks like markup."""
    (folder := own_folder / "edges").mkdir()
    path = tell_with_work(folder)
    place = folder / "skills" / LONG
    place.mkdir()
    (place / "SKILL.md").write_text(f"---\nname: {LONG}\ndescription: Says little.\n---\n\nSay little.\n")
    signal = raised_signal(
        fingerprint="error_template:markup",
        template=MARKUP,
        action="sql:SELECT",
        count=9,
        episodes=9,
        runs=("gpt-4_10_turns",),
        severity=0.01,
    )
    log = SqliteLog.open(path)
    try:
        registry = Registry(log, TickingClock(step_s=3 * 3600, seed=5), "person:ada")
        registry.execute(ImportSkill(read_skill(place)))
        registry.execute(RecordFact((signal,)), actor="germline")
    finally:
        log.close()
    return path


@pytest.fixture(scope="module")
def told_shortly(own_folder: Path) -> Path:
    """The story alone."""
    (folder := own_folder / "short").mkdir()
    return tell(folder)


@pytest.fixture
def short(told_shortly: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The story alone, for a test that changes it."""
    copytree(told_shortly.parent, tmp_path / "short")
    monkeypatch.chdir(tmp_path / "short")
    return tmp_path / "short" / told_shortly.name


# -- another registry at the same place ----------------------------------------------------------------


async def test_another_registry_at_the_place_of_the_one_shown_is_read_and_its_absence_is_told(
    own: Path, short: Path
) -> None:
    async with screens(short, "/history") as at:
        assert "41" not in at.row("#events").split()
        for beside in short.parent.glob("registry.db*"):
            beside.unlink()
        await follow(at)
        assert "○ not read" in at.top
        assert "there is no registry" in at.pane("#notice")
        move(own, short)
        await follow(at)
        assert "● live" in at.top
        head = at.app.access.state.head
        assert at.pane("#events").split()[0] == str(head)
        assert f"{head} events" in at.top


async def test_another_registry_without_the_skill_leaves_nothing_of_it_in_the_top_bar(
    short: Path,
) -> None:
    async with screens(short, "sql-analyst") as at:
        assert "@3" in at.top
        for beside in short.parent.glob("registry.db*"):
            beside.unlink()
        new_registry(short.parent, TickingClock()).log.close()
        await follow(at)
        assert "no skill named sql-analyst" in at.pane("#notice")
        assert "@3" not in at.top
        assert at.top.rstrip().endswith("0 events")


async def test_a_notice_of_a_read_that_failed_goes_once_reading_works_again(story: Path) -> None:
    async with screens(story, size=SMALL) as at:
        for place in ("sql-analyst", "/presets"):
            await at.go(place)
            shown = at.drawn
            with pytest.MonkeyPatch.context() as broken:
                broken.setattr(at.app.access, "read", no_read)
                broken.setattr(at.app.access, "look", nothing_new)
                at.app.base.reload()
                await at.settle()
                assert "the disk does not answer" in at.pane("#notice"), place
                await follow(at)
                assert at.app.base.has_notice, place
            await follow(at)
            assert at.drawn == shown, place


async def no_read(_ask: object) -> None:
    raise StorageError("the disk does not answer")


async def nothing_new() -> bool:
    return False


async def follow(at: Screens) -> None:
    at.app.follow()
    await at.settle()


# -- changes -------------------------------------------------------------------------------------------


async def test_a_change_on_its_way_to_the_log_cannot_be_cancelled_any_more(
    story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with screens(story, "/presets/harden", size=SMALL) as at:
        begun, let_go = asyncio.Event(), asyncio.Event()

        async def slow(change: Change, reason: str, shown: ChangePreview) -> ChangePreview:
            await at.app.access.rehearse(change, reason)
            begun.set()
            await let_go.wait()
            return shown

        monkeypatch.setattr(at.app.access, "carry_out", slow)
        await at.press("enter", *"why", "enter")
        at.app.simulate_key("enter")
        await begun.wait()
        at.app.simulate_key("escape")
        await asyncio.sleep(0)
        asking = at.app.screen
        assert isinstance(asking, ConfirmChange)
        assert "ask.cancel" not in at.keys
        let_go.set()
        await at.settle()
        assert isinstance(at.app.screen, PlaceScreen)
        assert any("preset harden is in force" in notification.message for notification in at.app._notifications)


async def test_a_change_that_somebody_else_made_meanwhile_is_not_told_as_appended(own: Path) -> None:
    async with screens(own, "/presets/harden", size=SMALL) as at:
        await at.press("enter", *"why", "enter")
        with open_registry(own, is_own=True) as registry:
            switching("harden").act(registry, "quicker")
        await at.press("enter")
        assert [notification.message for notification in at.app._notifications] == [
            "nothing was appended: it is so already"
        ]


async def test_a_change_that_would_append_something_else_by_now_is_shown_anew_instead(own: Path) -> None:
    async with screens(own, "/presets/harden") as at:
        await at.press("enter", *"why", "enter")
        assert "preset balanced → harden: why" in at.pane("#page")
        with open_registry(own, is_own=True) as registry:
            registry.execute(SwitchPreset("repair-only", "quicker"))
            head = registry.log.head()
        await at.press("enter")
        assert "something else was changed meanwhile: nothing was appended" in at.pane("#page")
        assert "preset repair-only → harden: why" in at.pane("#page")
        with open_registry(own, is_own=True) as registry:
            assert registry.log.head() == head
        await at.press("enter")
        with open_registry(own, is_own=True) as registry:
            assert registry.log.head().position == head.position + 1
            assert registry.about().preset == "harden"


async def test_a_skill_that_moved_is_marked_and_z_on_it_says_how_to_move_it_back(own: Path) -> None:
    with open_registry(own, is_own=True) as registry:
        registry.execute(MoveSkill("sql-analyst", "/there/skills/sql-analyst"))
    async with screens(own, "sql-analyst") as at:
        assert " » moved to /there/skills/sql-" in " ".join(at.row("#events").replace("CapsuleMoved", "").split())
        assert "germline import FOLDER" in at.pane("#detail")
        await at.press("z")
        (notice,) = at.app._notifications
        assert notice.message == (
            "a move is not undone here: move the folder back, then germline import skills/sql-analyst"
        )
        await at.press("j", "z")
        assert isinstance(at.app.screen, ConfirmChange)


async def test_a_reason_that_was_changed_is_shown_again_before_it_is_appended(story: Path) -> None:
    async with screens(story, "sql-analyst", size=SMALL) as at:
        await at.press("z", "enter")
        assert "ask.append" in at.keys
        at.app.screen.query_one(Input).value = ""
        await at.settle()
        assert {"ask.append", "ask.reword"}.isdisjoint(at.keys)


async def test_ctrl_c_leaves_germline_from_whatever_stands_above_a_screen(
    story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[str] = []
    async with screens(story, "sql-analyst@3:12", size=SMALL) as at:
        monkeypatch.setattr(at.app, "exit", lambda: left.append(type(at.app.screen).__name__))
        for opened in (("d",), ("question_mark",), ("z", "enter"), ("5", "j", "enter")):
            await at.press(*opened, "ctrl+c", "escape")
    assert left == ["SheetScreen", "HelpSheet", "ConfirmChange", "ConfirmChange"]


# -- finding -------------------------------------------------------------------------------------------


async def test_a_filter_that_is_forgotten_leaves_the_cursor_on_what_it_found(story: Path) -> None:
    async with screens(story, size=SMALL) as at:
        for place, needle in (
            ("/skills", "tri"),
            ("/presets", "ste"),
            ("/trends/sql-analyst", "t2"),
            ("/signals", "dea"),
        ):
            await at.go(place)
            await at.press("slash", *needle, "enter")
            name = chosen(at)
            assert needle in name.casefold(), place
            await at.press("escape")
            assert chosen(at) == name, place


def chosen(at: Screens) -> str:
    """Name what the cursor is on."""
    rows = next(iter(at.app.screen.query("#body RowList").results(RowList)))
    if isinstance(rows, HeatGrid):
        return rows.task_row.task if rows.task_row else ""
    screen = at.app.screen
    assert isinstance(screen, PlaceScreen)
    return screen.copied_id


async def test_a_filter_of_the_history_left_before_enter_leaves_the_cursor_where_it_was(story: Path) -> None:
    async with screens(story, "sql-analyst", size=SMALL) as at:
        await at.press("j", "j", "j")
        before = at.app.place
        await at.press("slash", *"imp")
        assert at.app.place != before
        await at.press("escape")
        assert at.app.place == before
        await at.press("slash", *"imp", "enter")
        place = at.app.place
        await at.press("escape")
        assert at.app.place == place != before


async def test_a_text_that_nothing_holds_is_told_and_the_cursor_comes_back_to_where_it_was(story: Path) -> None:
    async with screens(story, size=SMALL) as at:
        for place, pane in PLACES.items():
            await at.go(place)
            await at.press("j")
            before = at.app.place
            await at.press("slash", "%")
            assert 'nothing here holds "%"' in at.pane(pane), place
            await at.press("escape")
            assert 'nothing here holds "%"' not in at.pane(pane), place
            assert at.app.place == before, place


async def test_a_search_without_a_match_says_so_at_enter_which_closes_the_help_as_well(story: Path) -> None:
    async with screens(story, "sql-analyst@3:12", size=SMALL) as at:
        await at.press("question_mark", "enter")
        assert isinstance(at.app.screen, PlaceScreen)
        await at.press("slash", *"zzz")
        assert not at.app._notifications
        await at.press("enter")
        assert [notification.message for notification in at.app._notifications] == ['no line has "zzz"']


async def test_signals_and_places_that_look_like_markup_are_offered_as_they_are(story: Path) -> None:
    async with screens(story, size=SMALL) as at:
        provider = GoTo(at.app.screen)
        await provider.startup()
        for typed, offered in ((MARKUP, f"Signal {MARKUP}"), ("sql-analyst@[/b]", "Go to sql-analyst@[/b]")):
            (hit,) = [match async for match in provider.search(typed)]
            assert isinstance(hit, Hit)
            assert isinstance(hit.match_display, Content)
            assert hit.match_display.plain == offered
            assert Content.from_markup(hit.help or "").plain


# -- what is drawn -------------------------------------------------------------------------------------


async def test_a_terminal_without_unicode_is_sent_none(story: Path) -> None:
    async with screens(story, size=(140, 40), settings=Settings(ascii=True, draw_every=2)) as at:
        for keys in (("2",), ("y",), ("colon",)):
            await at.press(*keys)
            assert at.drawn.isascii(), keys


async def test_a_long_name_leaves_room_for_what_is_shown_of_it(story: Path) -> None:
    async with screens(story, LONG, size=(80, 24)) as at:
        assert at.top.split(" › ")[-2:][0] == "@1"
        assert at.top.split(" › ")[-1].startswith("history ")


async def test_a_registry_that_cannot_be_read_offers_nothing_about_its_skills(short: Path) -> None:
    async with screens(short) as at:
        spoil(short)
        await follow(at)
        assert at.app.base.has_notice
        assert {"skills.open", "skills.why", "skills.diff", "skills.evidence"}.isdisjoint(at.keys)


def spoil(path: Path) -> None:
    path.write_bytes(b"no registry" * 9_000)


async def test_on_a_light_screen_the_cursor_leaves_its_row_readable(story: Path) -> None:
    async with screens(story, settings=Settings(theme="textual-light"), size=SMALL) as at:
        rows = at.app.screen.query_one("#skills", RowList)
        for tone in ("good", "warn", "bad", "dim"):
            usual = contrast(rows.get_visual_style(f"tone--{tone}"))
            assert contrast(rows.get_visual_style(f"tone--{tone}", "tone--cursor")) > 0.75 * usual, tone


def contrast(style: Style) -> float:
    """Give the contrast of a text with what is behind it, from 1 to 21 (WCAG 2)."""
    assert style.background
    assert style.foreground
    light, dark = sorted(map(luminance, (style.background, style.background + style.foreground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def luminance(color: Color) -> float:
    red, green, blue = (
        channel / 12.92 if channel <= 0.03928 else ((channel + 0.055) / 1.055) ** 2.4
        for channel in color.normalized
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


async def test_a_look_for_news_that_ends_when_the_screens_are_closed_shows_nothing(
    story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with screens(story, size=SMALL) as at:

        async def closed_meanwhile() -> bool:
            await at.app.pop_screen()
            return True

        monkeypatch.setattr(at.app.access, "look", closed_meanwhile)
        await at.app.follow().wait()
        assert len(at.app.screen_stack) == 1
