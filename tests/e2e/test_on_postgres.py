"""The real command on a registry that lies on a PostgreSQL server: the same story as in a file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.terminal import MINIMAL, SPLIT_KEY, Terminal, recordings, some_recordings
from tui.demo import demo_folder

if TYPE_CHECKING:
    from pathlib import Path

    from tests.postgres_server import Server

SEED = ("--seed", "7", "--cycles", "1")


@pytest.fixture(scope="module")
def server_terminal(postgres: Server, own_folder: Path) -> Terminal:
    """Tell the story once: a registry on the server, a skill of the demo that learned a line from its logs."""
    folder = own_folder
    germline = Terminal(folder, GERMLINE_REGISTRY=postgres.new_address(), XDG_STATE_HOME=str(folder / "state"))
    germline.write("skills/sql-analyst/SKILL.md", (demo_folder() / "skills/sql-analyst/SKILL.md").read_bytes())
    germline.does("init", "--split-key", SPLIT_KEY)
    germline.does("import", "skills")
    germline.does("scan", recordings() / "hasty.jsonl.gz")
    germline.does("evolve", "sql-analyst", *some_recordings(), *SEED)
    return germline


def test_the_whole_story_is_told_on_a_server(server_terminal: Terminal) -> None:
    line = server_terminal.learned_line()
    assert "repair" in server_terminal.does("why", f"sql-analyst:{line}").out
    assert "CapsuleVersioned" in server_terminal.does("log", "--json").out
    status = server_terminal.does("status", "--json").json
    assert status["registry"].startswith("postgresql://postgres@/postgres?host=")
    verification = server_terminal.does("verify", "--json").json
    assert (verification["ok"], verification["events"]) == (True, status["head"]["position"])
    assert "PostgreSQL" in server_terminal("doctor").out


def test_a_registry_in_a_file_tells_the_same_story(server_terminal: Terminal, tmp_path: Path) -> None:
    here = Terminal(tmp_path)
    here.write("skills/sql-analyst/SKILL.md", (demo_folder() / "skills/sql-analyst/SKILL.md").read_bytes())
    here.does("init", "--split-key", SPLIT_KEY)
    here.does("import", "skills")
    here.does("evolve", "sql-analyst", *some_recordings(), *SEED)
    learned = [terminal.does("show", "sql-analyst").out for terminal in (here, server_terminal)]
    assert learned[0] == learned[1]


def test_a_dry_run_and_a_revert_do_on_a_server_what_they_do_in_a_file(server_terminal: Terminal) -> None:
    before = server_terminal.events()
    rehearsal = server_terminal.does(
        "revert", "sql-analyst", "--to", "1", "--reason", "a try", "--dry-run", "--json"
    ).json
    assert rehearsal["events"]
    assert server_terminal.events() == before
    server_terminal.does("revert", "sql-analyst", "--to", "1", "--reason", "a try")
    assert server_terminal.events() > before
    assert server_terminal.does("verify", "--json").json["ok"]


def test_init_refuses_a_registry_that_is_there_and_a_dry_run_makes_none(postgres: Server, tmp_path: Path) -> None:
    germline = Terminal(tmp_path, GERMLINE_REGISTRY=postgres.new_address())
    assert germline.does("init", "--dry-run", "--json").json["dry_run"]
    assert germline("status").hint == "germline init"
    germline.does("init")
    for again in (("init",), ("init", "--dry-run")):
        assert "already" in germline(*again).err


def test_files_beside_a_registry_on_a_server_lie_in_ones_own_state(server_terminal: Terminal) -> None:
    kept = [path.name for path in (server_terminal.folder / "state/germline").rglob("*") if path.is_file()]
    assert "registry.db.checkpoints.jsonl" in kept


@pytest.mark.parametrize("words", [("restore", "copy.db"), ("doctor", "--repair", "--yes")])
def test_commands_that_need_a_file_say_so(server_terminal: Terminal, words: tuple[str, ...]) -> None:
    answer = server_terminal(*words)
    assert answer.code == 2
    assert "is on PostgreSQL" in answer.err


@pytest.mark.parametrize(
    "stated",
    [
        "postgresql://ada:s3cret@localhost:1/team",
        "postgresql://ada@localhost:1/team?password=s3cret",
        "postgresql://ada:s3cret/x@localhost:1/team",
        "postgresql://ada:s3cret#x@localhost:1/team",
        "postgresql://ada:s3cret?x@localhost:1/team",
        "postgresql://ada:x@s3cret@localhost:1/team",
        "postgresql://ada:x@localhost:s3cret/team",
        "postgresql://ada:x@localhost:1/team?s3cret=1",
        "postgresql://ada:x@localhost:1/team?registry=S&password=s3cret",
    ],
)
def test_no_error_shows_a_password(tmp_path: Path, stated: str) -> None:
    germline = Terminal(tmp_path)
    germline.write("SKILL.md", MINIMAL)
    for words in (("status",), ("--debug", "init"), ("verify",)):
        answer = germline("--registry", stated, *words)
        assert answer.code in {1, 2}
        assert answer.hint
        assert "s3cret" not in answer.out + answer.err


def test_a_driver_that_is_not_installed_is_named_with_its_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith(("psycopg", "events.postgres"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    answer = Terminal(tmp_path)("--registry", "postgresql://localhost/team", "status")
    assert answer.code == 2
    assert answer.hint == "pip install 'psycopg[binary]<4,>=3.2'"


def test_a_registry_moves_from_a_file_to_a_server_and_back(postgres: Server, tmp_path: Path) -> None:
    germline = Terminal(tmp_path, XDG_STATE_HOME=str(tmp_path / "state")).with_skill()
    there = postgres.new_address()
    plan = germline.does("copy", ".", there, "--dry-run", "--json").json
    assert (plan["there"], plan["events"]) == (0, germline.events())
    assert germline("--registry", there, "status").hint.startswith("germline --registry ")
    assert "the same on both" in germline.does("copy", ".", there).out
    assert (
        germline.does("--registry", there, "show", "sql-analyst").out == germline.does("show", "sql-analyst").out
    )
    germline.does("copy", there, "back.db")
    heads = [germline.does(*where, "verify", "--json").json["head"] for where in ((), ("--registry", "back.db"))]
    assert heads[0] == heads[1]
    again = germline.does("copy", ".", there, "--json").json
    assert (again["events"], again["there"]) == (0, plan["events"])
    assert germline("copy", ".", ".").code == 2
