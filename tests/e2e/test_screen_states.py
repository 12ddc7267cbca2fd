"""What the screens say when there is nothing to show, no room to show it, or something is broken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from events.errors import StorageError, UsageError
from tests.clocks import TickingClock
from tests.registries import new_registry
from tests.screen_pilot import screens
from tests.story import tell
from tui.screens.addresses import ScreenAddress, place_of
from tui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def shared_story(own_folder: Path) -> Path:
    return tell(own_folder)


async def test_an_empty_registry_says_how_to_import_a_skill(tmp_path: Path) -> None:
    new_registry(tmp_path, TickingClock()).log.close()
    path = tmp_path / "registry.db"
    async with screens(path) as at:
        assert "no skill is in the registry yet" in at.pane("#notice")
        assert "germline import PATH" in at.pane("#notice")
        assert {"skills.open", "skills.why", "view.why", "find.open"}.isdisjoint(at.keys)
        await at.press("2")
        assert "registry created" in at.pane("#events")


async def test_a_missing_registry_says_how_to_begin_and_is_shown_once_it_is_there(tmp_path: Path) -> None:
    async with screens(tmp_path / "registry.db") as at:
        assert "there is no registry" in at.pane("#notice")
        assert "germline init" in at.pane("#notice")
        tell(tmp_path)
        at.app.follow()
        await at.settle()
        assert "sql-analyst" in at.pane("#skills")
        assert "● live" in at.top


async def test_a_file_that_is_no_registry_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "registry.db"
    path.write_bytes(b"this is no database, but it is long enough to be asked" * 40)
    async with screens(path) as at:
        assert "is not a registry: the file is not a database" in " ".join(at.pane("#notice").split())
        at.app.follow()
        await at.settle()
        assert "○ not read" in at.top


async def test_a_registry_that_breaks_while_it_is_shown_says_so_and_comes_back(tmp_path: Path) -> None:
    path = tell(tmp_path)
    async with screens(path, "sql-analyst") as at:
        read = at.app.access._reader.read

        async def refuse(_question: object) -> None:
            raise StorageError("the disk failed to read", hint="check the disk")

        at.app.access._reader.read = refuse  # type: ignore[assignment,method-assign]
        at.app.follow()
        await at.settle()
        assert "the disk failed to read" in at.pane("#notice")
        assert "○ not read" in at.top
        at.app.access._reader.read = read  # type: ignore[method-assign]
        at.app.follow()
        await at.settle()
        assert "● live" in at.top
        assert "production → 3" in at.row("#events")
        assert at.app.screen.query_one("#notice").has_class("-gone")


async def test_an_unknown_skill_is_answered_with_the_nearest_name(story: Path) -> None:
    addresses = ("sql-analst", "sql-analst@2", "sql-analst:3")
    async with screens(story, addresses[0]) as at:
        for address in addresses:
            await at.go(address)
            assert "did you mean sql-analyst?" in at.pane("#notice"), address
            await at.press("q")
            assert "sql-analyst" in at.pane("#skills"), address


async def test_an_unknown_version_names_those_that_there_are(story: Path) -> None:
    async with screens(story, "sql-analyst@9:1") as at:
        assert "it has 1 to 3" in at.pane("#notice")
        assert {"why.diff", "why.newer", "why.evidence", "copy.id"}.isdisjoint(at.keys)


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("", ScreenAddress()),
        ("sql-analyst", ScreenAddress("history", "sql-analyst")),
        ("sql-analyst@3", ScreenAddress("history", "sql-analyst", "3")),
        ("sql-analyst@3:7", ScreenAddress("why", "sql-analyst", "3", 7)),
        ("sql-analyst@production:7", ScreenAddress("why", "sql-analyst", "production", 7)),
        ("sql-analyst:7", ScreenAddress("why", "sql-analyst", "", 7)),
        ("sql-analyst#41", ScreenAddress("history", "sql-analyst", event=41)),
        ("#41", ScreenAddress("history", event=41)),
        ("/history", ScreenAddress("history")),
        ("/skills/sql-analyst", ScreenAddress("skills", "sql-analyst")),
        ("/signals", ScreenAddress("signals")),
        ("/signals/error_template:Table <*> do", ScreenAddress("signals", item="error_template:Table <*> do")),
        ("/presets/harden", ScreenAddress("presets", item="harden")),
        ("/review/c4c4c4", ScreenAddress("review", item="c4c4c4")),
        ("/trends/sql-analyst", ScreenAddress("trends", "sql-analyst")),
        ("/trends/sql-analyst@3/pets: a dog", ScreenAddress("trends", "sql-analyst", "3", item="pets: a dog")),
    ],
)
def test_an_address_is_a_place_and_a_place_is_an_address(address: str, place: ScreenAddress) -> None:
    assert place_of(address) == place
    assert place.address == address


@pytest.mark.parametrize(
    "address", ["a b", "x@", "x:0", "x:y", "@3", "x@1@2", "x#0", "/nowhere", "/why", "/history/3", "/trends"]
)
def test_what_is_no_address_is_refused_with_an_example(address: str) -> None:
    with pytest.raises(UsageError) as refused:
        place_of(address)
    assert "sql-analyst@3:7" in refused.value.hint


async def test_a_small_terminal_is_told_so(story: Path) -> None:
    sizes = ((40, 12), (59, 24), (80, 15))
    async with screens(story, "sql-analyst@3:9", size=sizes[0]) as at:
        for size in sizes:
            await at.resize(*size)
            assert at.app.screen.query_one("#too-small").display, size
            assert not at.app.screen.query_one("#body").region.size, size
            await at.press("j", "d", "escape")
            await at.resize(80, 24)
            assert not at.app.screen.query_one("#too-small").display, size
            assert at.app.screen.query_one("#body").region.size, size
            assert "harden" in at.pane("#why"), size


async def test_rows_and_keys_fit_every_width(story: Path) -> None:
    widths = (60, 80, 140)
    async with screens(story, "sql-analyst@3:9", size=(widths[0], 24)) as at:
        for key in ("3", "comma", "2", "1", "4", "5", "j", "6"):
            await at.press(key)
            for width in widths:
                await at.resize(width, 24)
                for pane in at.app.screen.query("RowsView"):
                    assert pane.region.right <= width, (key, width)
                assert "live" in at.drawn, (key, width)
                bar = at.app.screen.query_one(KeyBar)
                assert width < 80 or len(bar.render().plain.rstrip()) <= bar.content_size.width, (key, width)


async def test_narrow_history_stacks_its_panes_and_a_wide_one_sets_them_side_by_side(story: Path) -> None:
    async with screens(story, "sql-analyst", size=(99, 30)) as at:
        events, detail = (at.app.screen.query_one(name).region for name in ("#events", "#detail"))
        assert detail.y > events.y
        await at.pilot.resize_terminal(100, 30)
        await at.settle()
        events, detail = (at.app.screen.query_one(name).region for name in ("#events", "#detail"))
        assert (detail.y, detail.x > events.x) == (events.y, True)


async def test_themes_of_every_kind_keep_the_markers(story: Path) -> None:
    async with screens(story, "sql-analyst@3:12", size=(140, 60)) as at:
        for theme in ("textual-light", "ansi-dark", "nord"):
            at.app.theme = theme
            await at.settle()
            assert "✓ promote" in at.drawn
