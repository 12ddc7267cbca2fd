"""A registry is input: whatever its events say, nothing is sent raw, written outside or fails (F12, F13, F21)."""

from __future__ import annotations

import re
import sys
from io import StringIO
from typing import TYPE_CHECKING, Final
from xml.etree import ElementTree as ET
from zipfile import ZipFile

import pytest

from events.types.catalogue import EVENT_NAMES
from tests.hostile_registries import (
    DIRECTION,
    HEADER,
    MARKUP,
    NUMBERS,
    RAW,
    READING,
    STEERING,
    TEXTS,
    WRITING,
    HostileHistory,
    Sandbox,
)
from tests.html_page import Page
from tests.screen_pilot import screens
from tests.terminal import Terminal

if TYPE_CHECKING:
    from pathlib import Path

    from tests.hostile_registries import Leaf, StoredRow

COMBINED: Final = f"{STEERING}{DIRECTION}\u200b\U000e0061{MARKUP}"
NAMED_IN: Final = {
    "capsule",
    "candidate",
    "source",
    "previous",
    "preset",
    "definition",
    "policy",
    "blob",
    "evidence",
}
"""Fields whose values other things hang on: they are changed alone (tests/torture/strangers.py)."""
C4: Final = "c4" * 32
FITTING: Final = frozenset({"version", "to_version", "base_version", "target"})
"""Numbers that an event must have right to be folded."""
PLACES: Final = (
    *(
        None,
        "sql-analyst",
        "sql-analyst@3",
        "sql-analyst@3:12",
        "/history",
        "/signals",
        "/presets",
        "/presets/harden",
    ),
    *("/review", "/trends/sql-analyst"),
)
OPENED: Final = {"sql-analyst@3:12": ("d",), "/signals": ("y",), None: ("ctrl+p", "S", "i", "g")}


@pytest.fixture(scope="module")
def history(own_folder: Path) -> HostileHistory:
    return HostileHistory(own_folder)


def everywhere(history: HostileHistory, text: str) -> tuple[list[StoredRow], int]:
    """Put a text behind every text; in lines of a skill before their ends."""

    def change(field: str, leaf: Leaf) -> Leaf:
        if not isinstance(leaf, str) or field.rpartition(".")[2] in NAMED_IN or field == "@at":
            return leaf
        if field == "@stream" and not leaf.startswith("gene:"):  # a gene is filed under its own name
            return leaf
        return f"{leaf[:-1]}{text}\n" if leaf.endswith("\n") else f"{leaf}{text}"

    return history.changed(change)


def test_every_type_of_event_is_among_them(history: HostileHistory) -> None:
    assert {row.kind for row in history.rows} == set(EVENT_NAMES)


def test_of_a_stranger_that_says_nothing_hostile_every_command_has_an_answer(
    history: HostileHistory, tmp_path: Path
) -> None:
    place = Sandbox(tmp_path, history, history.rows)
    assert not place.faults(READING)
    assert place.terminal.does("verify", "--json").json["problems"] == []


def test_text_that_steers_is_shown_by_every_command_and_nothing_is_written_outside(
    history: HostileHistory, tmp_path: Path
) -> None:
    rows, changed = everywhere(history, COMBINED)
    place = Sandbox(tmp_path, history, rows)
    assert not place.faults([*READING, *(f"{line} --json" for line in READING)])
    assert place.answered > 0.9 * place.looks
    assert not place.faults(WRITING)
    assert changed > 400


def test_the_report_holds_it_as_text(history: HostileHistory, tmp_path: Path) -> None:
    rows, _ = everywhere(history, COMBINED)
    place = Sandbox(tmp_path, history, rows)
    place.terminal.does("report", "-o", "r.html")
    source = (place.folder / "r.html").read_text(encoding="utf-8")
    page = Page(source)
    assert not page.faults
    assert not RAW.search(source)
    assert not page.all("script")
    assert not [name for element in page.elements for name in element.attributes if name.startswith("on")]
    assert "[red]x[/red]" in page.all("body")[0].text


async def test_no_screen_obeys_it_and_none_reads_it_as_markup(
    history: HostileHistory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows, _ = everywhere(history, COMBINED)
    place = Sandbox(tmp_path, history, rows)
    monkeypatch.chdir(place.folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    seen = ""
    async with screens(place.registry, size=(120, 30)) as at:
        for address in PLACES:
            if address:
                await at.go(address)
            for keys in ((), OPENED.get(address, ())):
                await at.press(*keys)
                drawn = at.drawn
                assert not RAW.search(drawn.replace("\n", "")), (address, keys)
                ET.fromstring(at.app.export_screenshot())  # noqa: S314 - our own picture: well-formed
                seen += drawn
            if OPENED.get(address):
                await at.press("escape")
    assert "[red]x[/red]" in seen
    assert "�" in seen


async def test_a_message_and_a_title_of_the_palette_are_shown_as_they_are_and_a_copy_is_one_line(
    history: HostileHistory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with screens(history.file, size=(120, 30)) as at:
        at.app.notify(f"moved{COMBINED}")
        await at.settle()
        (notice,) = at.app._notifications
        assert not notice.markup
        assert not RAW.search(notice.message)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        at.app.copy("germline status\nrm -rf ~\x1b[2J")
        assert at.app.clipboard == "germline status rm -rf ~\\u001b[2J"
        at.app.access.state = at.app.access.state._replace(own_presets=(COMBINED,))
        await at.press("ctrl+p", *"preset")
        assert "[red]x[/red]" in at.drawn
        assert not RAW.search(at.drawn.replace("\n", ""))


@pytest.mark.parametrize("name", ["traversal", "absolute", "reserved", "option", "command", "escape", "1 MB"])
@pytest.mark.parametrize(
    ("field", "was", "refused"), [("capsule", "sql-analyst", "name"), ("candidate", C4, "id")]
)
def test_a_skill_and_a_candidate_of_a_name_that_is_none_are_refused_where_they_are_read(
    history: HostileHistory, tmp_path: Path, name: str, field: str, was: str, refused: str
) -> None:
    def change(at: str, leaf: Leaf) -> Leaf:
        if at == "@stream":
            return str(leaf).replace(was, TEXTS[name])
        return TEXTS[name] if at == field and leaf == was else leaf

    place = Sandbox(tmp_path, history, history.changed(change)[0])
    assert not place.faults(["status", "project --to out", "project", "project --discard", "report -o r.html"])
    answer = place.terminal("candidates")
    assert answer.code == 3
    assert f"is no {refused} of" in answer.err
    assert len(answer.err) < 1_000


@pytest.mark.parametrize(
    "name", ["traversal", "absolute", "reserved", "SKILL.MD", ".germline-writing-1", "escape"]
)
def test_a_file_of_a_path_that_no_file_may_have_is_written_nowhere(
    history: HostileHistory, tmp_path: Path, name: str
) -> None:
    path = TEXTS.get(name, name)
    rows, changed = history.changed(
        lambda field, leaf: path if field in {"path", "entry.path"} and isinstance(leaf, str) else leaf
    )
    place = Sandbox(tmp_path, history, rows)
    assert changed
    assert not place.faults(WRITING)
    for words in (("project", "sql-analyst", "--to", "o"), ("export", "skill", "sql-analyst", "-o", "o.zip")):
        answer = place.terminal(*words)
        assert answer.code == 2, words
        assert "skill" in answer.err
    assert not [path for path in place.folder.rglob("*") if path.suffix == ".zip"]


def test_a_zip_holds_the_skill_and_nothing_else(history: HostileHistory, tmp_path: Path) -> None:
    place = Sandbox(tmp_path, history, history.rows)
    place.terminal.does("export", "skill", "sql-analyst", "-o", "s.zip")
    assert set(ZipFile(place.folder / "s.zip").namelist()) == {
        "sql-analyst/SKILL.md",
        "sql-analyst/scripts/run.py",
    }


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize(
    "spared", [frozenset(), FITTING, FITTING - {"to_version"}], ids=["all", "others", "to_version"]
)
def test_no_number_stops_or_breaks_a_command(
    history: HostileHistory, tmp_path: Path, name: str, spared: frozenset[str]
) -> None:
    def change(field: str, leaf: Leaf) -> Leaf:
        is_number = isinstance(leaf, int | float) and not isinstance(leaf, bool)
        return NUMBERS[name] if is_number and field.rpartition(".")[2] not in spared else leaf

    place = Sandbox(tmp_path, history, history.changed(change)[0])
    assert not place.faults(
        ["status", "signals", "candidates", "candidate show c1c1c1", "log", "doctor", "why sql-analyst:8"]
    )


@pytest.mark.parametrize("field", HEADER[1:])
def test_nothing_of_a_header_is_obeyed(history: HostileHistory, tmp_path: Path, field: str) -> None:
    rows, _ = history.changed(lambda at, leaf: f"{leaf}{STEERING}" if at == field else leaf)
    place = Sandbox(tmp_path, history, rows)
    assert not place.faults(
        ["status", "log", "log --json", "why sql-analyst:8", "show sql-analyst --blame", "report -o r.html"]
    )


def test_on_a_terminal_a_carriage_return_of_a_skill_is_shown_and_in_a_pipe_the_skill_is_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal(tmp_path)
    terminal.does("init")
    text = "---\nname: notes\ndescription: x\n---\n\nrm -rf ~\rLook first.\n"
    terminal.write("skills/notes/SKILL.md", text)
    terminal.does("import", "skills")
    assert terminal.does("show", "notes").out == text
    watched = StringIO()
    watched.isatty = lambda: True  # type: ignore[method-assign]
    monkeypatch.setattr(sys, "__stdout__", watched)
    shown = terminal.does("show", "notes").out
    assert "rm -rf ~\\u000dLook first.\n" in shown
    assert not re.search("[\r\x1b]", shown)
