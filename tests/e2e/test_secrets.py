"""A secret that stands in a log is nowhere afterwards: not in the database, nor the skills, nor on the screen."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from shutil import copytree
from typing import TYPE_CHECKING

import pytest

from strategies.logs.formats_table import reader_names
from tests.inspect_stand_in import stand_in
from tests.planted import (
    FORMATS,
    PASSWORD,
    SECRETS,
    TOKEN,
    planted_name,
    planted_recordings,
    steps,
)
from tests.screen_pilot import screens
from tests.terminal import SPLIT_KEY, Answer, Terminal
from tui.demo import demo_folder
from tui.text.rows import text_of
from tui.widgets.rows_view import RowsView

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

DATABASE = ".germline/registry.db"
BY_CI = ("--source", "ci")


def leaked(folder: Path, outputs: list[str]) -> list[str]:
    """Look for each secret in every byte below a folder but its logs, and in all that was printed."""
    files = [path for path in folder.rglob("*") if path.is_file() and "logs" not in path.parts]
    assert any(path.name == "registry.db" for path in files)
    texts = {str(path.relative_to(folder)): path.read_bytes() for path in files}
    texts |= {f"output {number}": output.encode() for number, output in enumerate(outputs)}
    forms = [(secret, form.encode()) for secret in SECRETS for form in (secret, secret.replace("\n", "\\n"))]
    return sorted(
        {f"{secret[:12]}… in {name}" for name, body in texts.items() for secret, form in forms if form in body}
    )


@pytest.fixture
def germline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    """Begin a registry that somebody else reads all the while: its write-ahead log is there to be searched too."""
    stand_in(monkeypatch)
    germline = Terminal(tmp_path).with_skill()
    with closing(sqlite3.connect(tmp_path / DATABASE)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM events").fetchone()
        yield germline


@pytest.mark.parametrize("log_format", FORMATS)
def test_a_secret_in_a_log_is_nowhere_in_the_registry_or_on_the_screen(
    germline: Terminal, log_format: str
) -> None:
    if log_format not in {*reader_names(), "inspect, packed"}:
        pytest.skip(f"no reader of {log_format}")
    name, write = FORMATS[log_format]
    for number in range(4):
        germline.write(f"logs/{planted_name(number, name)}", write(number))
    scanned = germline.does("scan", "logs", "--json")
    assert scanned.json["signals"] >= 3
    germline.write(f"logs/{planted_name(5, name)}", write(5))
    answers = [scanned, germline.does("scan", "logs"), germline.does("scan", "logs", "--json")]
    asked = (["signals", "--json"], ["status"], ["status", "--json"], ["signals"], ["log"], ["log", "--json"])
    answers += [germline.does(*words) for words in asked[: None if log_format == next(iter(FORMATS)) else 1]]
    answers += [
        germline.does("signals", "--quality", "--json"),
        germline("outcome", "a=1", "--value", "1", *BY_CI),
    ]
    pieces = list(dict.fromkeys(piece for row in answers[3].json["signals"] for piece in row["evidence"]))
    some = pieces[:: max(1, len(pieces) // 4)]  # all of them are in the registry, which is searched below
    shown = [germline.does("evidence", "show", piece, "--json") for piece in some]
    assert any(answer.json["redactions"] for answer in shown)
    assert all(answer.json["still_there"] for answer in shown)
    answers += [*shown, germline.does("evidence", "show", pieces[0])]
    assert (germline.folder / f"{DATABASE}-wal").stat().st_size > 0
    assert leaked(germline.folder, [text for answer in answers for text in (answer.out, answer.err)]) == []
    assert germline.does("verify", "--json").json["ok"]


def test_a_secret_in_what_a_broken_log_is_called_or_holds_is_not_repeated(germline: Terminal) -> None:
    germline.write(f"logs/{planted_name(1, 'x.jsonl')}", f"what {TOKEN} is this\n")
    germline.write(f"logs/{planted_name(2, 'own.jsonl.gz')}", b"\x1f\x8b\x08\x00" + TOKEN.encode())
    germline.write(f"logs/{planted_name(3, 'own.jsonl')}", steps(1) + f'{{"type": {TOKEN}\n')
    for name in ("x.jsonl", "own.jsonl.gz"):
        (file,) = (germline.folder / "logs").glob(f"*/*{name}")
        answer = germline("scan", file)
        assert answer.code == 2
        assert "[github-token]" in answer.err
        assert leaked(germline.folder, [answer.out, answer.err]) == []
    passed = germline.does("scan", "logs", "--skip-broken", "--json")
    assert passed.json["malformed"] >= 3
    assert len(passed.json["skipped"]) + len(passed.json["broken"]) == 2
    assert leaked(germline.folder, [passed.out, passed.err]) == []


def test_logs_whose_names_differ_by_a_secret_alone_are_told_apart(germline: Terminal) -> None:
    for number, token in enumerate((TOKEN, TOKEN.replace("S", "Z"))):
        germline.write(f"logs/{token}.jsonl", steps(2 * number) + steps(2 * number + 1))
        assert germline.does("scan", "logs", "--json").json["new_episodes"] == 4
    assert germline.does("scan", "logs", "--json").json["new_episodes"] == 0
    pieces = [piece for row in germline.does("signals", "--json").json["signals"] for piece in row["evidence"]]
    shown = [germline.does("evidence", "show", piece, "--json").json for piece in pieces]
    assert {(document["file"].rpartition("/")[2], document["still_there"]) for document in shown} == {
        ("[github-token].jsonl", True)
    }
    (germline.folder / f"logs/{TOKEN}.jsonl").unlink()
    shown = [germline.does("evidence", "show", piece, "--json").json for piece in pieces]
    assert {document["still_there"] for document in shown} == {False}


@pytest.fixture(scope="module")
def learned(own_folder: Path) -> tuple[Terminal, Answer]:
    """Let a skill learn from logs with secrets in them, and give what was said."""
    germline = Terminal(own_folder)
    germline.does("init", "--split-key", SPLIT_KEY)
    copytree(demo_folder() / "skills", germline.folder / "skills")
    germline.does("import", "skills")
    logs = planted_recordings(germline.folder / "logs" / f"password={PASSWORD}")
    return germline, germline.does("evolve", "sql-analyst", "--logs", logs, "--seed", "7", "--cycles", "1")


def test_a_secret_in_a_log_never_reaches_a_skill_that_learns_from_it(learned: tuple[Terminal, Answer]) -> None:
    germline, evolved = learned
    assert "promote" in evolved.out
    line = germline.learned_line()
    asked = (
        ["why", f"sql-analyst:{line}", "--all"],
        ["why", f"sql-analyst:{line}", "--json"],
        ["show", "sql-analyst", "--blame"],
        ["status"],
        ["candidates"],
        ["log", "--json"],
        ["project", "sql-analyst", "--annotated", "--to", "copies"],
    )
    answers = [evolved, *(germline.does(*words) for words in asked)]
    assert "[private-key]" in answers[2].out
    assert leaked(germline.folder, [text for answer in answers for text in (answer.out, answer.err)]) == []


async def test_a_secret_in_a_log_is_on_no_screen(learned: tuple[Terminal, Answer]) -> None:
    germline, _ = learned
    seen: list[str] = []
    place = f"sql-analyst:{germline.learned_line()}"
    async with screens(germline.folder / DATABASE, place, size=(200, 50)) as at:
        for keys in ([], ["e"], ["escape", "1"], ["2"], ["enter"]):
            await at.press(*keys)
            panes = at.app.screen.query(RowsView)
            seen += [text_of(pane.row(index)) for pane in panes for index in range(pane.count)]
    assert any("[private-key]" in row for row in seen)
    assert any("✓ still there" in row for row in seen)
    assert leaked(germline.folder, seen) == []


def test_import_warns_of_each_place_that_looks_like_a_secret_without_showing_it(tmp_path: Path) -> None:
    germline = Terminal(tmp_path)
    germline.does("init")
    text = f"---\nname: deploy\ndescription: Deploys.\n---\n\n# Deploy\n\nUse {TOKEN}.\n"
    germline.write("skills/deploy/SKILL.md", text)
    germline.write("skills/deploy/run.sh", f"#!/bin/sh\nexport DB_PASSWORD={PASSWORD}\n")
    answer = germline.does("import", "skills/deploy")
    warnings = [line for line in answer.err.splitlines() if "secret: " in line]
    assert len(warnings) == 2
    assert "SKILL.md, line 8" in warnings[0]
    assert "run.sh, line 2" in warnings[1]
    assert all("germline adopt deploy" in line for line in warnings)
    assert TOKEN not in answer.err + answer.out
    assert PASSWORD not in answer.err + answer.out
