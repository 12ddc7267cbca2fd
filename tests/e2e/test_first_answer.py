"""`germline start`: a first answer in any folder, and what becomes of a line."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.terminal import Terminal
from tests.worlds.sessions import write_sessions

if TYPE_CHECKING:
    from pathlib import Path

PROJECTS = ".claude/projects/-home-dev-shop"


@pytest.fixture
def germline(tmp_path: Path) -> Terminal:
    return Terminal(tmp_path)


@pytest.fixture
def worked(germline: Terminal) -> Terminal:
    """Begin in a folder with twenty sessions beside it."""
    write_sessions(germline.folder / "logs", 20, 0)
    return germline


def test_in_a_folder_without_registry_or_logs_it_begins_and_says_what_is_missing(germline: Terminal) -> None:
    answer = germline.does("start")
    assert "No session was read: no log was named, and none lies where known agents keep theirs." in " ".join(
        answer.out.split()
    )
    assert "next       germline scan PATH" in answer.out
    assert "germline demo" in answer.out
    assert (germline.folder / ".germline" / "registry.db").exists()
    assert (germline.folder / ".germline" / ".gitignore").exists()


def test_with_one_session_it_says_that_nothing_stands_out_yet(germline: Terminal) -> None:
    write_sessions(germline.folder / "logs", 1, 0)
    answer = germline.does("start", "logs")
    assert "Nothing that fails in 1 session has an answer that stands out yet." in answer.out
    assert "next       germline sessions    germline signals" in answer.out


def test_a_log_that_is_none_is_an_error_as_in_scan(germline: Terminal) -> None:
    germline.write("logs/notes.md", "nothing here")
    assert "No session was found in these logs." in germline.does("start", "logs").out
    assert germline("start", "nowhere").code == 2


def test_twenty_sessions_give_five_lines_with_their_figures_and_an_excerpt(worked: Terminal) -> None:
    out = " ".join(worked.does("start", "logs").out.split())
    assert "8 things cost you again and again in 20 sessions, and what helps is known." in out
    assert re.search(r" [0-9a-f]{6} rg fails", out)
    assert "line Use grep, not rg." in out
    assert "run grep instead: worked in" in out
    assert "home CLAUDE.md, which would be made" in out
    assert "error" in out
    assert "rg: command not found" in out


def test_more_than_five_things_are_printed_where_that_is_asked_for(worked: Terminal) -> None:
    five = worked.does("start", "logs").out
    assert things_in(five) == 5
    assert "further things with a line: germline start --top " in five
    assert things_in(worked.does("start", "logs", "--top", "7").out) == 7


def things_in(page: str) -> int:
    """Count the things that a page shows, each under its id."""
    return len(re.findall(r"^[0-9a-f]{6}  ", page, re.MULTILINE))


def first_id(germline: Terminal) -> str:
    name: str = germline.does("start", "logs", "--json").json["things"][0]["id"]
    return name[:6]


def test_scripts_get_every_thing_with_its_claim_and_its_sessions(worked: Terminal) -> None:
    document = worked.does("start", "logs", "--json").json
    assert (document["created"], document["sessions"]) == (True, 20)
    first = next(thing for thing in document["things"] if thing["action"] == "Bash:npm")
    assert first["line"] == "Use pnpm, not npm."
    assert first["tier"] == "seen"
    assert first["claim"]["kind"] == "replace"
    assert first["worked_next"]["tried"] >= first["worked_next"]["worked"] > 0
    assert set(first["sessions"]) <= {row["id"] for row in worked.does("sessions", "--json").json["sessions"]}
    assert first["home"] == "CLAUDE.md"
    assert document["things"][0]["excerpt"]["steps"]


def test_a_line_is_taken_as_seen_into_new_instructions_and_is_not_offered_again(worked: Terminal) -> None:
    before = worked.does("start", "logs", "--json").json["things"]
    name = next(thing["id"] for thing in before if thing["line"] == "Use pnpm, not npm.")
    rehearsed = worked.does("start", "--take", name, "--reason", "we do", "--dry-run")
    assert "dry run: would append" in rehearsed.out
    assert not (worked.folder / "CLAUDE.md").exists()
    taken = worked.does("start", "--take", name, "--reason", "we do")
    assert "taken      Use pnpm, not npm." in taken.out
    text = (worked.folder / "CLAUDE.md").read_text()
    line = text.splitlines().index("Use pnpm, not npm.") + 1
    why = " ".join(worked.does("why", f"CLAUDE.md:{line}").out.split())
    assert "accepted as seen by a person: we do" in why
    assert "times here, so its chance to work is at least" in why
    after = worked.does("start", "--json").json["things"]
    assert len(after) == len(before) - 1
    assert "Use pnpm, not npm." not in [thing["line"] for thing in after]
    again = worked("start", "--take", name[:6], "--reason", "we do")
    assert (again.code, again.hint) == (2, f"germline candidate show {name[:12]}    germline start")
    assert f"the line of {name[:6]} was decided on before: it is promoted" in again.err
    assert [thing["id"] for thing in worked.does("start", "--json").json["things"]] == [
        thing["id"] for thing in before if thing["id"] != name
    ]
    assert worked.does("verify").code == 0


def test_what_a_person_keeps_asking_for_is_a_signal_that_its_line_answers(worked: Terminal) -> None:
    worked.does("start", "logs", "--json")
    (wish,) = (row for row in worked.does("signals", "--json").json["signals"] if row["kind"] == "repeated_wish")
    assert (wish["template"], wish["open"]) == ("Do not push to main", True)
    assert wish["route"]["why"] == "a person takes its line: germline start"
    shown = worked.does("evidence", "show", wish["evidence"][0]).out
    assert "-1         Bash:git push" in shown
    assert "git push origin main" in shown
    assert "+3  " in shown
    worked.does("start", "--take", first_id(worked), "--reason", "as ever")
    text, line = (worked.folder / "CLAUDE.md").read_text().splitlines(), "Do not push to main."
    why = " ".join(worked.does("why", f"CLAUDE.md:{text.index(line) + 1}").out.split())
    assert 'signal "Do not push to main", ' in why
    assert "push" in why.partition("evidence")[2]
    (answered,) = (
        row for row in worked.does("signals", "--json").json["signals"] if row["kind"] == "repeated_wish"
    )
    assert answered["open"] is False


def test_a_line_goes_into_the_instructions_that_are_there_in_a_persons_own_words(worked: Terminal) -> None:
    worked.write("AGENTS.md", "# Shop\n\n- Be kind.\n")
    worked.does("start", "--take", first_id(worked), "--line", "Open a pull request.", "--reason", "mine")
    assert (worked.folder / "AGENTS.md").read_text() == "# Shop\n\n- Be kind.\n- Open a pull request.\n"


def test_a_refused_line_is_not_offered_again(worked: Terminal) -> None:
    first = worked.does("start", "logs", "--json").json["things"][0]
    line = first["line"]
    refused = worked.does("start", "--refuse", first["id"], "--reason", "not so", "--json").json
    assert refused["refused"] == line
    assert line not in [thing["line"] for thing in worked.does("start", "--json").json["things"]]


@pytest.mark.parametrize(
    ("words", "code", "hint"),
    [
        (("--take", "1"), 2, "germline start --take 1 --reason TEXT"),
        (("--take", "1", "--refuse", "2", "--reason", "x"), 2, "germline start --take ID --reason TEXT"),
        (("--line", "x"), 2, "germline start --take ID --line TEXT --reason TEXT"),
        (("--take", "1", "--reason", "x"), 2, "germline start"),
        (("--take", "fedcba98", "--reason", "x"), 2, "germline start"),
    ],
)
def test_a_decision_that_cannot_be_is_refused_with_the_next_command(
    worked: Terminal, words: tuple[str, ...], code: int, hint: str
) -> None:
    answer = worked("start", "logs", *words)
    assert (answer.code, answer.hint) == (code, hint)


def test_a_dry_run_in_an_empty_folder_makes_nothing(germline: Terminal) -> None:
    assert "dry run: would make" in germline.does("start", "--dry-run").out
    assert not (germline.folder / ".germline").exists()


def test_plain_germline_answers_where_agents_worked_and_no_registry_is_there_yet(germline: Terminal) -> None:
    assert "Usage" in germline.does().out
    write_sessions(germline.folder / PROJECTS, 3, 0)
    for file in (germline.folder / PROJECTS).glob("*.jsonl"):
        text = file.read_text().replace('"/home/dev/shop"', f'"{germline.folder}"')
        file.write_text(text)
    assert "in 3 sessions" in germline.does().out
    assert "Usage" in germline.does().out
