"""The screens, key by key, on a registry with a story."""

from __future__ import annotations

import gc
import re
import sys
from typing import TYPE_CHECKING

import pytest

from registry.query.signals import erasure_of
from strategies.pool.erase import erase_text
from tests.screen_pilot import screens
from tests.story import COLUMNS, LOOK, NOW, tell
from tui.reads.history import EventLine, read_event
from tui.screens.app import TURN_S
from tui.session.open_registry import open_registry
from tui.widgets.event_list import PAGE, EventList
from tui.widgets.keys import APP, MOVES, ON_SCREENS, OVER_SCREENS, SCREEN

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture(scope="module")
def shared_story(own_folder: Path) -> Path:
    return tell(own_folder)


# -- finding out ---------------------------------------------------------------------------------------


async def test_skills_show_score_change_aliases_and_open_signals(story: Path) -> None:
    usual = sys.getswitchinterval()
    async with screens(story) as at:
        assert sys.getswitchinterval() == pytest.approx(TURN_S), "what is counted keeps no key press waiting"
        first, second = at.pane("#skills").splitlines()
        assert first.split()[:6] == ["◆sql-analyst", "@3", "production", ".470", "+.011", "▁▅█"]
        assert "?@3" in second
        assert "GROUP BY" in at.pane("#card")
        assert "2 promoted   ✗ 1 rejected   · 1 held" in at.pane("#card")
    assert sys.getswitchinterval() == usual


async def test_one_key_from_the_start_says_why_the_last_learned_line_is_there(story: Path) -> None:
    async with screens(story) as at:
        await at.press("b")
        explanation = at.pane("#why")
        assert "harden, by preset balanced; mined from logs by recovery, no model" in explanation
        assert "Unknown column <*> in 'field list'\", 1,120 times in 700 episodes of 2 runs" in explanation
        assert "+.29" in explanation
        assert "after  .470" in explanation
        assert "✓ promote" in explanation
        assert "Do not guess the names of tables." in explanation


async def test_blame_joins_the_lines_of_one_event_and_marks_what_nobody_measured(story: Path) -> None:
    async with screens(story, "sql-analyst@3:12") as at:
        rows = at.pane("#blame").splitlines()
        assert rows[0].split("│")[0].split() == ["2", "import", "8d", "?"]
        assert rows[11].split("│")[0].split() == ["17", "supported", "7d", "+.017"]
        assert [row.split("│")[0].strip() for row in (rows[12], rows[13])] == ["", "╰"]
        assert LOOK.strip() in rows[11]


async def test_evidence_says_whether_each_record_still_is_where_it_was(story: Path) -> None:
    async with screens(story, "sql-analyst@3:12") as at:
        assert at.pane("#why").count("✓ still there") == 2
        await at.press("e")
        page = at.pane("#page")
        assert "logs/gpt-3.5_10_turns.jsonl:1   ✗ gone" in page
        assert "bytes 0 to 78" in page
        assert page.count("✓ still there") == 3
        await at.press("escape")
        assert "why" in at.top


async def test_erased_evidence_says_on_what_day_it_went_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tell(tmp_path)
    monkeypatch.chdir(tmp_path)
    with open_registry(path, is_own=True) as registry:
        names = [piece for raised in registry.signals() for piece in raised.event.evidence]
        for gone, reason in ((names[:2], "Ada asked for it"), (names[2:], "the log was\x1b[2J public")):
            erase_text(registry, gone, reason)
        first = erasure_of(registry, names[0])
        assert first is not None
        day = first.at[:10]
        async with screens(path, "sql-analyst@3:12") as at:
            why = at.pane("#why")
            assert f"evidence  ✗ 2 pieces erased on {day} because Ada asked for it" in why
            assert f"✗ 2 pieces erased on {day} because the log was�[2J public" in why
            assert "still there" not in why
            await at.press("e")
            assert "0 kept, 4 erased" in at.top
            page = at.pane("#page")
            assert page.count(f"✗ erased on {day}") == 4
            assert page.count("because Ada asked for it") == 2
            assert f"evidence {names[3][:12]}" in page


async def test_evidence_that_is_kept_and_evidence_that_was_erased_stand_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tell(tmp_path)
    monkeypatch.chdir(tmp_path)
    with open_registry(path, is_own=True) as registry:
        (name, *_) = [piece for raised in registry.signals() for piece in raised.event.evidence]
        erase_text(registry, [name], "Ada asked for it")
    for size in ((80, 24), (140, 40)):
        async with screens(path, "sql-analyst@3:12", size=size) as at:
            assert at.pane("#why").count("✓ still there") == 3
            assert "✗ 1 piece erased on " in at.pane("#why")
            await at.press("e")
            page = at.pane("#page").splitlines()
            assert [row.split()[0] for row in page if row[:3].strip()] == ["1", "2", "3", "4"]
            assert max(map(len, page)) <= size[0]


async def test_what_was_tried_for_the_same_signal_and_rejected_stands_below_the_line(story: Path) -> None:
    async with screens(story, "sql-analyst@3:12") as at:
        assert "✗ After a missing table, run the query again." in at.pane("#why")


async def test_a_line_leads_to_what_it_said_before_and_back(story: Path) -> None:
    async with screens(story, "sql-analyst:9") as at:
        assert "why.before" in at.keys
        assert "why.return" not in at.keys
        await at.press("comma")
        assert "2 of 3" in at.top
        assert "Do not guess the names of tables." in at.row("#blame")
        assert "why.before" not in at.keys
        await at.press("less_than_sign")
        assert "3 of 3" in at.top
        assert "Never guess the name of a table" in at.row("#blame")


async def test_moving_through_versions_shows_the_skill_change_and_stays_on_the_line(
    story: Path,
) -> None:
    async with screens(story, "sql-analyst:12") as at:
        await at.press("left")
        assert "2 of 3" in at.top
        assert LOOK.strip() in at.row("#blame")
        assert COLUMNS.strip() not in at.pane("#blame")
        await at.press("h", "h")
        assert "1 of 3" in at.top
        assert LOOK.strip() not in at.pane("#blame")
        await at.press("right", "l")
        assert "3 of 3" in at.top


async def test_searching_goes_from_match_to_match(story: Path) -> None:
    async with screens(story, "sql-analyst@3:1") as at:
        assert "find.next" not in at.keys
        await at.press("slash", *"guess", "enter")
        assert "Never guess" in at.row("#blame")
        await at.press("n")
        assert "Do not guess another" in at.row("#blame")
        await at.press("n")
        assert "Never guess" in at.row("#blame")
        await at.press("N")
        assert "Do not guess another" in at.row("#blame")
        await at.press("escape")
        assert "find.next" not in at.keys


async def test_the_diff_of_a_line_is_the_change_that_brought_it(story: Path) -> None:
    async with screens(story, "sql-analyst@3:9") as at:
        await at.press("d")
        page = at.pane("#page")
        assert "9 - Do not guess the names of tables." in page
        assert "9 + Never guess the name of a table or of a column." in page
        assert "diff @2 @3" in at.top
        await at.press("q")
        assert "why" in at.top


# -- history -------------------------------------------------------------------------------------------


async def test_history_lists_the_newest_event_first_and_shows_what_each_changed(story: Path) -> None:
    async with screens(story, "sql-analyst@3") as at:
        assert at.pane("#events").splitlines()[0].split()[0] == "34"
        assert "version 3" in at.row("#events")
        assert "+ Never guess the name of a table" in at.pane("#detail")
        assert "Δ +.011 [.006, .017]" in at.pane("#detail")


async def test_a_change_is_one_row_and_enter_shows_its_events(story: Path) -> None:
    async with screens(story, "sql-analyst@3") as at:
        closed = at.pane("#events").splitlines()
        assert [row.split()[0] for row in closed] == ["34", "32", "28", "22", "18", "6"]
        assert at.row("#events").split()[3] == "+5"
        await at.press("enter")
        assert "6 changes, 26 events" in at.top
        rows = [row.split()[0] for row in at.pane("#events").splitlines()]
        assert rows == ["34", "32", "29", "28", "27", "26", "25", "24", "22", "18", "6"]
        await at.press("j")
        assert "gene sql-analyst.1 version 3" in at.row("#events")
        await at.press("enter")
        assert at.pane("#events").splitlines() == closed
        assert "version 3" in at.row("#events")


async def test_an_event_that_is_asked_for_is_shown_within_its_change(story: Path) -> None:
    async with screens(story, "sql-analyst#26") as at:
        assert at.row("#events").split()[0] == "26"
        assert "promoted to version 3" in at.row("#events")


async def test_history_steps_from_version_to_version(story: Path) -> None:
    async with screens(story, "sql-analyst") as at:
        await at.press("left")
        assert "version 3" in at.row("#events")
        await at.press("left")
        assert "version 2" in at.row("#events")
        assert f"+ {LOOK.strip()}"[:60] in at.pane("#detail")
        await at.press("right")
        assert "version 3" in at.row("#events")


async def test_two_marked_versions_are_compared(story: Path) -> None:
    async with screens(story, "sql-analyst@3") as at:
        await at.press("space", "left", "left", "space")
        assert at.pane("#events").count("◆") == 2
        await at.press("d")
        assert "diff @1 @3" in at.top
        assert at.pane("#page").count(" + ") == 6
        await at.press("escape", "space")
        assert at.pane("#events").count("◆") == 1


async def test_an_event_that_changed_nothing_offers_no_diff(story: Path) -> None:
    async with screens(story, "sql-analyst") as at:
        assert "production → 3" in at.row("#events")
        assert {"history.diff", "history.mark"}.isdisjoint(at.keys)
        await at.press("d")
        assert "history" in at.top


async def test_filtering_events_lists_those_that_match_until_it_is_forgotten(story: Path) -> None:
    async with screens(story, "sql-analyst") as at:
        everything = at.pane("#events")
        await at.press("slash", *"HELD", "enter")
        assert at.pane("#events").splitlines() == [at.row("#events")]
        assert "held: too few episodes" in at.row("#events")
        assert '1 of 26 "HELD"' in at.top
        await at.press("escape")
        assert at.pane("#events") == everything


async def test_all_events_of_the_registry_are_one_key_away(story: Path) -> None:
    async with screens(story, "sql-analyst@2") as at:
        here = at.row("#events").split()[0]
        await at.press("a")
        assert "39 events" in at.top
        assert at.row("#events").split()[0] == here
        await at.press("a")
        assert "26 events" in at.top


async def test_why_from_history_shows_the_skill_as_the_event_left_it(story: Path) -> None:
    async with screens(story, "sql-analyst@2") as at:
        await at.press("b")
        assert "2 of 3" in at.top
        assert LOOK.strip()[:40] in at.row("#blame")


# -- moving about --------------------------------------------------------------------------------------


async def test_moving_keys_move_the_cursor(story: Path) -> None:
    async with screens(story, "sql-analyst@3:1", size=(80, 24)) as at:

        async def after(key: str) -> int:
            await at.press(key)
            return int(at.row("#blame").split("│")[-2])

        assert [await after(key) for key in ("j", "down", "k", "up")] == [2, 3, 2, 1]
        assert [await after(key) for key in ("G", "g", "end", "home")] == [26, 1, 26, 1]
        assert [await after(key) for key in ("ctrl+d", "pagedown", "ctrl+u", "pageup")] == [5, 9, 5, 1]
        assert await after("k") == 1


async def test_tab_moves_between_panes_and_the_lower_one_scrolls(story: Path) -> None:
    async with screens(story, "sql-analyst@3:12", size=(80, 24)) as at:
        await at.press("tab", "G")
        reasons = at.app.screen.query_one("#why")
        assert reasons.has_focus
        assert reasons.scroll_offset.y > 0
        await at.press("g")
        assert reasons.scroll_offset.y == 0
        await at.press("shift+tab")
        assert at.app.screen.query_one("#blame").has_focus


async def test_numbers_lead_from_screen_to_screen_on_the_same_skill(story: Path) -> None:
    async with screens(story) as at:
        await at.press("j", "3")
        assert "ticket-triage › @3 › why" in at.top
        await at.press("2")
        assert "ticket-triage › @3 › history" in at.top
        await at.press("1")
        assert at.row("#skills").startswith(" ticket-triage")


async def test_back_and_forward_walk_the_trail_with_the_cursor_where_it_was(story: Path) -> None:
    async with screens(story) as at:
        assert {"trail.back", "trail.forward"}.isdisjoint(at.keys)
        await at.press("enter", "j", "b")
        assert "why" in at.top
        await at.press("left_square_bracket")
        assert "held" in at.row("#events")
        await at.press("left_square_bracket")
        assert at.top.startswith(" Skills  ")
        await at.press("right_square_bracket", "right_square_bracket")
        assert "why" in at.top


async def test_escape_goes_back_and_q_goes_up_and_out(story: Path) -> None:
    async with screens(story) as at:
        await at.press("b", "escape")
        assert at.row("#skills").startswith("◆sql-analyst")
        await at.press("b", "q")
        assert "history" in at.top
        await at.press("q", "q")
        assert at.app.return_code == 0


async def test_filtering_skills_hides_the_others(story: Path) -> None:
    async with screens(story) as at:
        await at.press("slash", *"ticket", "enter")
        assert at.pane("#skills").split()[0] == "ticket-triage"
        assert len(at.pane("#skills").splitlines()) == 1
        await at.press("escape")
        assert len(at.pane("#skills").splitlines()) == 2


async def test_a_click_moves_the_cursor_and_a_second_one_opens(story: Path) -> None:
    async with screens(story) as at:
        await at.pilot.click("#skills", offset=(4, 1))
        await at.settle()
        assert at.row("#skills").startswith(" ticket-triage")
        await at.pilot.click("#skills", offset=(4, 1))
        await at.settle()
        assert "ticket-triage › @3 › history" in at.top


# -- copying, commands, help ---------------------------------------------------------------------------


async def test_the_command_that_shows_a_place_is_copied(story: Path) -> None:
    async with screens(story) as at:
        for address, command in (
            ("", "germline show sql-analyst"),
            ("sql-analyst@2", "germline show sql-analyst@2 --blame"),
            ("sql-analyst@production:9", "germline why sql-analyst@3:9"),
        ):
            await at.go(address)
            await at.press("Y")
            assert at.app.clipboard == command, address


async def test_the_id_of_the_event_behind_a_line_is_copied(story: Path) -> None:
    async with screens(story, "sql-analyst@3:9") as at:
        await at.press("y")
        behind = at.app.clipboard
        await at.press("escape", "slash", *"replace", "enter", "y")
        assert at.app.clipboard == behind


async def test_the_palette_offers_every_skill(story: Path) -> None:
    async with screens(story) as at:
        for key, skill in (("ctrl+p", "ticket-triage"), ("colon", "sql-analyst")):
            await at.press(key, *f"why {skill[:6]}")
            await at.pilot.pause(0.3)  # the palette gathers its hits in the background
            await at.press("enter")
            assert f"{skill} › @3 › why" in at.top, key


async def test_help_lists_every_key_that_works_here_and_filters_them(story: Path) -> None:
    async with screens(story, "sql-analyst@3:12", size=(100, 20)) as at:
        working = at.keys
        await at.press("question_mark")
        page = at.pane("#page")
        assert set(re.findall(r"\b[a-z]+\.[a-z_]+$", page, re.MULTILINE)) == working - {"command_palette"}
        own, words = page.split("words on this screen")
        assert "why.evidence" in own  # the keys of all screens come after the words
        assert "supported    logs speak for it, and every check passed" in words
        assert "region" not in words  # a word of the presets
        await at.press(*"evid")
        assert "the log records behind this line" in at.pane("#page")
        assert len(at.pane("#page").splitlines()) == 1
        await at.press(*["backspace"] * 4, "down")
        assert at.app.screen.query_one("#page").scroll_offset.y > 0
        await at.press("escape")
        assert "why" in at.top


def test_every_binding_has_an_id_and_a_tooltip() -> None:
    own = [binding for group in (*ON_SCREENS.values(), *OVER_SCREENS.values()) for binding in group]
    every = [*APP, *SCREEN, *MOVES, *own]
    assert [binding for binding in every if not (binding.id and binding.tooltip)] == []


def test_no_two_keys_of_a_screen_do_different_things() -> None:
    answers = {"start": {"y"}}  # where y is a yes, Y and U still copy
    for view, own in ON_SCREENS.items():
        taken = [key for binding in (*APP, *SCREEN, *MOVES, *own) for key in binding.key.split(",")]
        assert len(taken) - len(answers.get(view, ())) == len(set(taken)), view


async def test_keys_are_remapped_by_their_ids(story: Path) -> None:
    async with screens(story) as at:
        at.app.set_keymap({"skills.why": "w"})
        await at.press("b")
        assert at.top.startswith(" Skills  ")
        await at.press("w")
        assert "why" in at.top


# -- many events ---------------------------------------------------------------------------------------


async def test_only_the_pages_in_view_of_a_million_events_are_ever_read(
    story: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def read_lines(_library: object, positions: Sequence[int]) -> list[EventLine]:
        read.extend(positions)
        return [EventLine(p, str(p), NOW, "AliasMoved", "capsule:x", f"event {p}") for p in positions]

    for reads in ("tui.screens.history", "tui.reads.history"):
        monkeypatch.setattr(f"{reads}.read_lines", read_lines)
    monkeypatch.setattr("tui.reads.history.read_event", lambda library, _position: read_event(library, 34))
    async with screens(story, "sql-analyst") as at:
        events = at.app.screen.query_one("#events", EventList)
        read.clear()
        events.show_events(range(1_000_000, 0, -1), grown=False)
        events.cursor = 500_000
        await at.settle()
        assert "event 500000" in at.row("#events")
        assert len(read) <= 3 * PAGE


async def test_in_a_process_of_their_own_searches_for_garbage_are_short_and_leave_out_what_stays(
    story: Path,
) -> None:
    gc.unfreeze()
    threshold = gc.get_threshold()
    async with screens(story) as at:
        await at.settle()
        assert gc.get_freeze_count() == 0, "where others live too, it is theirs"
        assert gc.get_threshold() == threshold
    async with screens(story, owns_process=True) as at:
        await at.settle()
        assert gc.get_freeze_count() > 10_000
        assert len(gc.get_objects()) < gc.get_freeze_count()
        assert gc.get_threshold()[0] < 10_000
    gc.freeze()  # as the suite had it
    gc.set_threshold(*threshold)


async def test_a_registry_that_grows_is_followed(tmp_path: Path) -> None:
    path = tell(tmp_path)
    async with screens(path, "ticket-triage") as at:
        await at.press("j")
        here = at.row("#events")
        append_alias(path)
        at.app.follow()
        await at.settle()
        assert "canary → 1" in at.pane("#events").splitlines()[0]
        assert at.row("#events") == here


def append_alias(path: Path) -> None:
    from events.sqlite.log import SqliteLog
    from registry.decide.commands import MoveAlias
    from registry.registry import Registry
    from tests.clocks import TickingClock

    log = SqliteLog.open(path)
    Registry(log, TickingClock(seed=2), "person:eve").execute(MoveAlias("ticket-triage", "canary", 1))
    log.close()
