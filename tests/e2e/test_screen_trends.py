"""Trends: what a skill's versions scored, and which tasks passed under which, down to the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.screen_pilot import screens
from tests.story_trends import tell_with_runs
from tests.story_work import SETTINGS
from tui.reads.trend_series import HeatCell, HeatMap, HeatRow, TaskRun, Trends
from tui.screens.addresses import place_of
from tui.screens.palette import commands_of
from tui.views.heat_map import heat_header, heat_row, window_of
from tui.views.trend_rows import trend_rows, trends_header

if TYPE_CHECKING:
    from pathlib import Path

AIRPORTS = "airports: delayed departures by airline"


@pytest.fixture(scope="module")
def shared_story(own_folder: Path) -> Path:
    return tell_with_runs(own_folder)


async def test_one_key_from_the_skills_leads_to_versions_tasks_and_the_runs_of_a_cell(story: Path) -> None:
    async with screens(story, settings=SETTINGS) as at:
        await at.press("t")
        rows = at.pane("#trends").splitlines()
        assert [row.split()[0] for row in rows] == ["@3", "┄┄", "@3", "@2", "@1"]
        assert "another evaluator: not comparable   77aab2000000 above, 5ea1ed000000 below" in rows[1]
        assert rows[0].split()[1] == ".512"
        assert rows[2].split()[1] == ".470"
        assert rows[0].endswith("100% of 9     13     4   31%")
        assert rows[3].endswith("64% of 11     12     2   17%")
        assert at.pane("#heads").split()[:5] == ["7", "tasks", "@1", "@2", "@3"]
        assert at.row("#tasks").split()[-3:] == ["✗", "±", "[✓]"]
        await at.press("left")
        assert "1 of 2 passed under @2" in at.top
        await at.press("enter")
        assert [row.split()[:2] for row in at.pane("#page").splitlines()[1:]] == [["✗", "failed"], ["✓", "passed"]]
        assert "logs/after-2.jsonl" in at.pane("#page")
        await at.press("escape", "U")
        assert at.app.clipboard == f"germline ui --at '/trends/sql-analyst@2/{AIRPORTS}'"
        await at.press("Y")
        assert at.app.clipboard == "germline show sql-analyst@2 --blame"
        await at.press("d")
        assert "diff @1 @2" in at.top
        await at.press("q", "b")
        assert "sql-analyst › @2 › why" in at.top
        await at.press("escape")
        assert at.app.place.address == f"/trends/sql-analyst@2/{AIRPORTS}"
        assert "Trends of ticket-triage" in {command.title for command in commands_of(at.app)}
        await at.press("slash", *"pets", "enter")
        assert at.pane("#tasks").splitlines() == [at.row("#tasks")]
        await at.press("escape", "q")
        assert "history" in at.top


async def test_an_address_leads_to_a_cell_and_a_click_to_another(story: Path) -> None:
    async with screens(story, f"/trends/sql-analyst@1/{AIRPORTS}", settings=SETTINGS, size=(80, 24)) as at:
        assert "0 of 2 passed under @1" in at.top
        grid = at.app.screen.query_one("#tasks")
        await at.pilot.click("#tasks", offset=(46, 2))
        await at.settle()
        assert at.app.place.address == "/trends/sql-analyst@1/pets: owners without a dog"
        await at.pilot.click("#tasks", offset=(2, 1))  # a name: the same column of another row
        await at.settle()
        assert at.app.place.address == "/trends/sql-analyst@1/poker: winnings by month"
        assert grid.has_focus


async def test_a_skill_that_nothing_ran_under_says_what_would_change_that(story: Path) -> None:
    async with screens(story, "/trends/ticket-triage", settings=SETTINGS) as at:
        assert "no run with an outcome is known of these versions" in at.pane("#heads")
        assert "germline scan    germline outcome --queue" in at.pane("#heads")
        assert "germline score ticket-triage    germline evolve ticket-triage --logs PATH" in at.pane("#trends")
        assert {"trends.runs", "trends.newer"}.isdisjoint(at.keys)
        assert "trends.why" in at.keys
        await at.press("enter", "left", "d")
        assert "diff @2 @3" in at.top


async def test_evidence_opens_from_an_event_and_says_where_there_is_none(story: Path) -> None:
    async with screens(story, settings=SETTINGS) as at:
        await at.press("d")
        assert "diff @2 @3" in at.top
        await at.press("q", "e")
        assert [notification.message for notification in at.app._notifications] == [
            "no evidence is kept behind this"
        ]
        await at.press("j")
        assert "skills.evidence" not in at.keys  # a person went back: no candidate, no evidence
        at.app.go(place_of("sql-analyst@2"))
        await at.settle()
        await at.press("e")
        assert "event 18 › evidence" in at.top
        assert "still there" in at.pane("#page")
        at.app.pop_screen()
        at.app.go(place_of("#11"))
        await at.settle()
        await at.press("e")
        assert "4 kept" in at.top


def many(versions: int) -> HeatMap:
    cells = {
        v: HeatCell((TaskRun("t", v, passed=True, id="x", run="r", name="n", source="s"),))
        for v in range(1, versions)
    }
    return HeatMap(tuple(cells), (HeatRow("a task with a long name " * 9, cells),), 4)


@pytest.mark.parametrize("width", [59, 79, 139])
@pytest.mark.parametrize("column", [0, 30, 58])
def test_the_columns_in_view_are_those_around_the_cursor_and_rows_fit(width: int, column: int) -> None:
    heat = many(60)
    at = window_of(heat, column, width)
    assert at.start <= column < at.end
    row = heat_row(heat.rows[0], heat, column, width, is_cursor=True)
    (head,) = heat_header(heat, column, width)
    assert sum(len(part.text) for part in row) <= width
    assert "4 left out" in "".join(part.text for part in head)
    place = "".join(part.text for part in row).index("[✓]")
    assert at.column_at(place + 1) == column
    assert at.column_at(0) is None


def test_versions_before_the_first_one_shown_are_counted() -> None:
    rows = trend_rows(Trends(9_941, 10_000, (), HeatMap((), (), 0), (), ()), "sql-analyst", 79)
    assert "".join(part.text for part in rows[-1]).strip() == "9,940 earlier versions not shown"
    (head,) = trends_header(40)
    assert sum(len(part.text) for part in head) <= 40
