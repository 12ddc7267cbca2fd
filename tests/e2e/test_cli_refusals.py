"""Bad input: a clear error, a hint, the exit code that was promised, and nothing changed."""

from __future__ import annotations

import gzip
import sqlite3
from typing import TYPE_CHECKING

import pytest

from events.sqlite.log import SqliteLog
from strategies.gate.replay.measure import measure
from tests.terminal import MINIMAL, Beginning, Terminal, recordings, some_recordings
from tui.cli.commands.evolve import evolve as evolving

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@pytest.fixture(scope="module")
def beginning(own_folder: Path) -> Beginning:
    return Beginning(Terminal(own_folder).with_skill())


@pytest.fixture
def germline(beginning: Beginning) -> Terminal:
    return beginning.again()


STEPS = (
    '{"type":"episode","episode":"e%d","task":"t%d","run":"r"}\n'
    '{"type":"step","episode":"e%d","tool":"sql","text":"SELECT 1","result":"1"}\n'
    '{"type":"outcome","episode":"e%d","value":1,"source":"tests"}\n'
)


def steps(number: int) -> str:
    return STEPS % (number, number, number, number)


def cut_log() -> bytes:
    """A gzip that ends in the middle."""
    whole = gzip.compress("".join(map(steps, range(500))).encode())
    return whole[: len(whole) // 2]


@pytest.mark.parametrize(
    ("words", "code", "what", "hint"),
    [
        (["show", "sql-analist"], 2, "no skill named sql-analist", "did you mean sql-analyst?"),
        (["why", "sql-analist:3"], 2, "no skill named sql-analist", "did you mean sql-analyst?"),
        (["evolve", "sql-analist", "--logs", "."], 2, "no skill named", "did you mean sql-analyst?"),
        (["why", "sql-analyst:99"], 2, "6 lines; there is no line 99", "germline show sql-analyst@1 --blame"),
        (["why", "skills/sql-analyst/SKILL.md:99"], 2, "there is no line 99", "--blame"),
        (["why", "elsewhere/SKILL.md:1"], 2, "belongs to no skill", "germline status"),
        (["why", "sql-analyst"], 2, "names no line", "germline why sql-analyst:1"),
        (["show", "sql-analyst@7"], 2, "it has version 1 alone", "germline log sql-analyst"),
        (["diff", "sql-analyst", "1", "9"], 2, "it has version 1 alone", "germline log sql-analyst"),
        (
            ["revert", "sql-analyst", "--to", "1", "--reason", "r"],
            2,
            "is the live version",
            "germline log sql-analyst",
        ),
        (["adopt", "sql-analyst"], 2, "nothing to adopt", "germline status"),
        (["adopt"], 2, "nothing to adopt", "germline status"),
        (["preset", "show", "balancd"], 2, "no preset balancd", "did you mean balanced?"),
        (["preset", "use", "balancd", "--reason", "r"], 2, "no preset balancd", "did you mean balanced?"),
        (["evolve", "sql-analyst", "--preset", "balancd"], 2, "no preset balancd", "did you mean balanced?"),
        (["log", "--type", "CapsuleVersiond"], 2, "no event type", "did you mean CapsuleVersioned?"),
        (["log", "--since", "yesterday"], 2, "is no time", "2026-11-01"),
        (["log", "--since", "0d"], 2, "no duration", "24h"),
        (
            ["export", "rollouts"],
            2,
            "Missing option '--format'. Choose from: sft, grpo",
            "germline export rollouts",
        ),
        (["diff", "sql-analyst@1", "notes@1"], 2, "notes@1 is none of sql-analyst", "germline log sql-analyst"),
        (["nope"], 2, "no command nope", "germline --help"),
        (["scan"], 2, "no log was named, and none lies", "germline scan PATH"),
        (["scan", "absent"], 2, "absent", "name a log"),
        (["scan", ".", "--format", "xml"], 2, "no log format 'xml'", "known formats"),
        (["scan", "skills/sql-analyst/SKILL.md"], 2, "not a log of a known format", "--explain"),
        (["import", "absent"], 2, "no such file or folder", "SKILL.md"),
        (["import", ".germline"], 2, "holds no SKILL.md", "SKILL.md"),
        (["import", "skills"], 2, "imported already", "germline adopt sql-analyst"),
        (["stats"], 2, "no command stats", "germline status"),
        (["show"], 2, "Missing argument", "germline show --help"),
        (["alias"], 2, "Missing command", "germline alias --help"),
        (["candidate", "show"], 2, "Missing argument", "germline candidate show --help"),
        (
            ["outcome", "x", "--value", "1", "--source", "z"],
            2,
            "'--source': 'z' is not one of",
            "germline outcome",
        ),
        (["log", "--registry", "x"], 2, "--registry", "goes before the command"),
        (["show", "sql-analyst", "--blam"], 2, "--blam", "germline show --help"),
        (["--registry", "absent.db", "log"], 2, "no registry at absent.db", "germline --registry absent.db init"),
        (
            ["--registry", "absent.db", "knowledge", "add", "x", "nofile", "--reason", "r"],
            2,
            "no registry at absent.db",
            "germline --registry absent.db init",
        ),
        (["--registry", "postgresql://127.0.0.1:1/x", "log"], 1, "cannot be reached", "that the server runs"),
        (["--registry", "mysql://x", "log"], 2, "mysql:// is not known", "registry.db"),
        (["ui"], 2, "need a terminal", "germline status"),
    ],
)
def test_a_slip_is_told_with_its_value_and_the_next_command(
    germline: Terminal, words: Sequence[str], code: int, what: str, hint: str
) -> None:
    before = germline.events()
    answer = germline(*words)
    assert answer.code == code
    assert answer.out == ""
    assert what in answer.err
    assert hint in answer.hint
    assert "Traceback" not in answer.err
    assert germline.events() == before


def test_a_skill_without_front_matter_is_refused(germline: Terminal) -> None:
    germline.write("plain/SKILL.md", "# Title\n\nNo front matter.\n")
    answer = germline("import", "plain")
    assert answer.code == 2
    assert "has no front matter" in answer.err
    assert "---" in answer.hint


def test_a_truncated_gzip_changes_nothing(germline: Terminal) -> None:
    germline.write("logs/cut.jsonl.gz", cut_log())
    before = germline.events()
    for words in (["scan", "logs"], ["evolve", "sql-analyst", "--logs", "logs"]):
        answer = germline(*words)
        assert answer.code == 2
        assert "cut.jsonl.gz" in answer.err
        assert answer.hint
    assert germline.events() == before


def test_broken_files_can_be_passed_over_by_name(germline: Terminal) -> None:
    germline.write("logs/cut.jsonl.gz", cut_log())
    germline.write("logs/whole.jsonl", steps(9_001))
    answer = germline.does("scan", "logs", "--skip-broken", "--json")
    assert len(answer.json["broken"]) == 1
    assert answer.json["new_episodes"] >= 1
    assert "passed over" in answer.err


def test_malformed_lines_are_counted_with_their_places_and_the_rest_is_read(germline: Terminal) -> None:
    text = steps(1) + '{"type":"step", broken\n' + steps(2) + "[]\n"
    germline.write("logs/some.jsonl", text)
    answer = germline.does("scan", "logs", "--json")
    scanned = answer.json
    assert (scanned["episodes"], scanned["malformed"]) == (2, 2)
    assert [row["line"] for row in scanned["malformed_at"]] == [4, 8]
    assert scanned["malformed_at"][0]["byte_start"] == len(steps(1))
    assert "line 4, byte" in answer.err
    assert {"files", "bytes", "episodes", "steps", "errors", "malformed", "signals", "seconds"} <= set(scanned)


@pytest.mark.parametrize("words", [["status"], ["log"], ["preset", "use", "harden", "--reason", "r"], ["init"]])
def test_a_file_that_is_no_database_is_named_as_such_and_left_alone(tmp_path: Path, words: Sequence[str]) -> None:
    germline = Terminal(tmp_path)
    file = germline.write(".germline/registry.db", "this is a text, and a long one\n" * 100)
    answer = germline(*words)
    assert answer.code == 3
    assert "not a database" in answer.err
    assert answer.hint
    assert file.read_text(encoding="utf-8").startswith("this is a text")
    verified = germline("verify", "--json")
    assert verified.code == 3
    assert verified.json["ok"] is False


def test_a_database_of_another_application_is_left_alone(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    (tmp_path / ".germline").mkdir()
    with sqlite3.connect(tmp_path / ".germline/registry.db") as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    answer = germline("status")
    assert answer.code in {1, 3}
    assert "registry" in answer.err


def test_a_changed_event_is_found_and_its_position_named(germline: Terminal) -> None:
    with sqlite3.connect(germline.folder / ".germline/registry.db") as connection:
        connection.execute("DROP TRIGGER events_refuse_update")
        connection.execute("UPDATE events SET actor = 'person:mallory' WHERE position = 2")
    connection.close()
    answer = germline("verify", "--json")
    assert answer.code == 3
    assert 2 in {problem["position"] for problem in answer.json["problems"]}
    plain = germline("verify")
    assert plain.code == 3
    assert "event 2" in plain.out


def test_a_full_disk_is_told_and_the_log_stays_whole(germline: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = SqliteLog.open

    def small(path: Path, **options: bool) -> SqliteLog:
        log = opened(path, **options)
        ((pages,),) = log._session.rows("PRAGMA page_count")
        log._session.rows(f"PRAGMA max_page_count = {pages}")
        return log

    before = germline.events()
    monkeypatch.setattr("tui.session.open_registry.SqliteLog.open", small)
    answer = germline("scan", recordings())
    assert answer.code == 1
    assert "disk is full" in answer.err
    assert "make room" in answer.hint
    monkeypatch.undo()
    assert germline.events() == before
    germline.does("scan", recordings())


def test_an_interruption_in_the_middle_of_evolve_leaves_the_log_whole_and_the_next_run_resumes(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(evolving, "print_cycle", interrupted)
    answer = germline("evolve", "sql-analyst", *some_recordings(), "--cycles", "2")
    assert answer.code == 130
    assert answer.err.count("\n") == 1
    assert "interrupted" in answer.err
    assert germline.does("verify", "--json").json["ok"] is True
    monkeypatch.undo()
    run = germline.does("evolve", "sql-analyst", *some_recordings(), "--cycles", "2", "--json").json
    assert run["cycles"]
    versions = germline.does("log", "sql-analyst", "--type", "CandidatePromoted").out.splitlines()
    assert len(versions) == 1


def test_a_stale_base_is_held_not_promoted(germline: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a candidate is measured, somebody else makes a version of its own."""
    done: list[int] = []

    def slow(*args: object, **kwargs: object) -> object:
        if not done:
            done.append(1)
            germline.write("skills/sql-analyst/SKILL.md", MINIMAL.replace("one query", "one fast query"))
            germline.does("adopt", "sql-analyst")
        return measure(*args, **kwargs)  # type: ignore[arg-type] # handed through as it came

    monkeypatch.setattr("strategies.evolve.draft.measure", slow)
    run = germline.does("evolve", "sql-analyst", *some_recordings(), "--cycles", "1", "--json").json
    assert run["cycles"][0]["verdict"] == "hold"
    assert run["cycles"][0]["reasons"][0] == "stale base"
    monkeypatch.undo()
    again = germline.does("evolve", "sql-analyst", *some_recordings(), "--cycles", "1", "--json").json
    assert again["cycles"][0]["verdict"] == "promote"
    assert again["cycles"][0]["version"] == 3


def test_a_skill_edited_while_it_is_measured_is_held_and_the_edit_can_be_adopted(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    edited = MINIMAL.replace("one query", "one fast query")

    def slow(*args: object, **kwargs: object) -> object:
        germline.write("skills/sql-analyst/SKILL.md", edited)
        return measure(*args, **kwargs)  # type: ignore[arg-type] # handed through as it came

    monkeypatch.setattr("strategies.evolve.draft.measure", slow)
    run = germline.does("evolve", "sql-analyst", *some_recordings(), "--cycles", "1", "--json").json
    assert run["cycles"][0]["verdict"] == "hold"
    assert run["cycles"][0]["reasons"] == [
        "stale base",
        "sql-analyst was edited by hand meanwhile: germline adopt sql-analyst",
    ]
    assert (germline.folder / "skills/sql-analyst/SKILL.md").read_text() == edited
    monkeypatch.undo()
    assert germline.does("adopt", "sql-analyst", "--json").json["skills"][0]["version"] == 2


def test_a_fault_of_ours_is_one_line_and_a_traceback_only_on_request(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("tui.cli.commands.registry.status.open_among", broken)
    answer = germline("status")
    assert answer.code == 1
    assert "ZeroDivisionError" in answer.err
    assert "Traceback" not in answer.err
    assert "Traceback" in germline("--debug", "status").err


def test_evolve_without_a_log_says_so_names_the_next_command_and_appends_nothing(germline: Terminal) -> None:
    before = germline.events()
    for words in (("evolve",), ("evolve", "sql-analyst", "--logs", "skills")):
        output = germline.does(*words).out
        assert "stopped   no episode was read: there is nothing to learn from" in output
        assert output.endswith("next       germline scan PATH\n")
        assert germline.events() == before
    assert germline.does("evolve", "--json").json["settled"] is False


def test_a_file_of_no_skill_is_not_said_to_be_importable(germline: Terminal) -> None:
    loose = germline.write("notes/list.txt", "one\ntwo\n")
    assert germline("why", f"{loose}:2").hint == "germline status"
    germline.write("notes/deep/SKILL.md", MINIMAL)
    inside = germline.write("notes/deep/scripts/x.py", "pass\n")
    assert germline("why", f"{inside}:1").hint == f"germline import {inside.parent.parent}"


def test_a_scan_that_found_no_log_points_to_what_is_read(germline: Terminal) -> None:
    output = germline.does("scan", "skills").out
    assert "1 file passed over as no logs" in output
    assert output.endswith("next       germline help scan\n")


def test_what_may_not_be_read_is_told_with_who_could_mend_it(
    germline: Terminal, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "registry.db")

    monkeypatch.setattr("tui.cli.commands.registry.status.open_library", refused)
    answer = germline("status")
    assert (answer.code, answer.hint) == (1, "check who owns it, and its folder")
    assert "registry.db: Permission denied" in answer.err
