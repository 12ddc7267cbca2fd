"""The command line contract, for every command there is."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

from tests.command_lines import PATHS, READS, WRITES, callbacks, told_in
from tests.schemas import FOLDER, breaches, schema_of
from tests.terminal import Terminal
from tui.cli.commands_table import COMMANDS
from tui.cli.complete import TAKES
from tui.cli.help_pages import EXIT_CODES, pages
from tui.cli.typer_app import parameters

if TYPE_CHECKING:
    from pathlib import Path

ANYWHERE = {
    "init",
    "start",
    "demo",
    "config",
    "doctor",
    "copy",
    "help",
    "completion",
    "watch",
    "scan",
    "ui",
    "mcp",
    "restore",
    "preset show",
}
"""Commands that a registry need not be there for, or that say something else first."""
NO_DATA = {"demo", "ui", "mcp", "help", "completion"}
"""Commands that print no facts: nothing to have as JSON."""


@pytest.fixture(scope="module")
def germline(own_folder: Path) -> Terminal:
    (folder := own_folder / "story").mkdir()
    return told_in(folder)


@pytest.fixture(scope="module")
def empty(own_folder: Path) -> Terminal:
    (folder := own_folder / "empty").mkdir()
    return Terminal(folder)


def wanting(path: str) -> list[str]:
    """Name the arguments and options that a command cannot do without."""
    return [parameter.opts[0] for parameter in parameters(path) if parameter.required]


def stand_ins(path: str) -> list[str]:
    """Write something for everything that a command cannot do without."""
    words: list[str] = []
    for parameter in parameters(path):
        if parameter.required:
            choices = getattr(parameter, "type_descriptor").choices  # noqa: B009 - of typer's own parameters
            value = str(getattr(choices[0], "value", choices[0])) if choices else "1"
            words += [parameter.opts[0], value] if parameter.opts[0].startswith("-") else [value]
    return words


@pytest.mark.parametrize("path", PATHS)
def test_help_is_a_page_that_fits_80_columns_with_examples_that_can_be_typed(empty: Terminal, path: str) -> None:
    help_text = empty.does(*path.split(), "--help").out
    assert max(map(len, help_text.splitlines())) <= 80
    for heading in ("Usage: germline", "Options:", "Examples:", "Exit codes:", "See also:"):
        assert f"\n{heading}" in f"\n{help_text}"
    page = pages()[path]
    assert set(page.see) <= set(pages()) - {path}
    assert set(EXIT_CODES) <= {code for code, _ in page.codes}
    known = {name for parameter in parameters(path) for name in parameter.opts}
    for example in page.examples:
        words = shlex.split(example.typed, comments=False)
        assert words[: len(path.split())] == path.split()
        assert {word for word in words if word.startswith("-")} <= known
        assert example.does.endswith(".")


def test_every_page_is_of_a_command_and_no_group_goes_without(empty: Terminal) -> None:
    assert set(PATHS) <= set(pages()) <= {*PATHS, *COMMANDS}
    listed = empty.does("--help").out
    assert listed == empty.does("help").out
    assert empty.does("help", "candidate", "show").out == empty.does("candidate", "show", "--help").out
    assert all(f"\n  {name} " in listed for name in COMMANDS)


@pytest.mark.parametrize("path", PATHS)
def test_an_option_that_does_not_exist_is_wrongly_asked(empty: Terminal, path: str) -> None:
    answer = empty(*path.split(), "--no-such-option")
    assert answer.code == 2
    assert answer.out == ""
    assert "--no-such-option" in answer.err
    assert answer.hint == f"germline {path} --help"


@pytest.mark.parametrize("path", [path for path in PATHS if wanting(path)])
def test_what_a_command_cannot_do_without_is_asked_for(empty: Terminal, path: str) -> None:
    answer = empty(*path.split())
    assert answer.code == 2
    assert "Missing" in answer.err
    assert answer.hint.startswith(f"germline {path}")


@pytest.mark.parametrize("path", [path for path in PATHS if path not in ANYWHERE])
def test_without_a_registry_the_hint_is_to_begin_one(empty: Terminal, path: str) -> None:
    words = [*READS.get(path, WRITES.get(path, path)).split()]
    answer = empty(*(words if len(words) > len(path.split()) else [*path.split(), *stand_ins(path)]))
    assert answer.code == 2, answer.err
    assert answer.hint, answer.err
    assert not list(empty.folder.iterdir())


NEED_REASON = {"release", "knowledge remove", "skill retire", "skill restore"}
"""They ask for it before they look for the skill."""


@pytest.mark.parametrize("path", [path for path, takes in TAKES.items() if takes[0] in {"skill", "version"}])
def test_a_skill_that_is_misspelt_is_told_with_the_nearest_name(germline: Terminal, path: str) -> None:
    good = READS.get(
        path, WRITES.get(path, f"{path} sql-analyst:9" if path == "release" else f"{path} sql-analyst")
    ).split()
    rest = [word.replace("sql-analyst", "sql-analist") for word in good[len(path.split()) :]]
    rest = rest or ["sql-analist"]
    others = [name for name in wanting(path) if not name.startswith("-")][len(rest) :]
    rest = [*rest, *others, *(["--reason", "r"] if path in NEED_REASON else [])]
    answer = germline(*path.split(), *rest)
    if path in {
        "audit",
        "candidate propose",
        "compare",
        "knowledge add",
    }:  # look at files first
        assert answer.code == 2
        return
    assert (answer.code, answer.out) == (2, "")
    assert "no skill named sql-analist is in the registry" in answer.err
    assert answer.hint == "did you mean sql-analyst?"


def named(path: str) -> str:
    return path.replace(" ", "-")


def test_every_answer_in_json_has_a_published_schema_that_says_what_it_is() -> None:
    have = {file.stem for file in FOLDER.glob("*.json")}
    assert {named(path) for path, call in callbacks().items() if "as_json" in call.__annotations__} <= have
    beside = {
        "doctor-repair",
        "error",
        "export-attest",
        "export-event",
        "checkpoint-key",
        "proof",
        "usage-correct",
        "outcome-queue",
        "why-researched",
    }
    assert have <= {named(path) for path in PATHS} | beside
    for name in have:
        schema = schema_of(name)
        assert schema["$id"] == schema["properties"]["schema"]["const"] == f"germline/{name}/1"
        assert schema["description"].endswith((".", "?"))


def test_an_answer_that_is_not_as_its_schema_says_is_told() -> None:
    answer = {"schema": "germline/protect/1", "events": [{"type": 1}], "more": 2}
    violations = breaches(answer)
    assert "more: extra_forbidden" in violations
    assert "events.0.summary: missing" in violations
    assert "events.0.type: string_type" in violations


@pytest.mark.parametrize("path", READS)
def test_what_is_read_can_be_had_as_json(germline: Terminal, path: str) -> None:
    words = READS[path].split()
    if path == "evidence show":
        words.append(germline.does("why", "sql-analyst:12", "--json").json["evidence"][0]["id"][:10])
    answer = germline.does(*words, "--json")
    rows = [json.loads(line) for line in answer.out.splitlines()] if path == "log" else [answer.json]
    assert rows
    for row in rows:
        assert row["schema"] == f"germline/{named(path)}/1"
        assert not breaches(row)


@pytest.mark.parametrize("path", WRITES)
def test_a_write_can_be_rehearsed_and_had_as_json(germline: Terminal, path: str) -> None:
    def files() -> list[Path]:
        return sorted(file for file in germline.folder.rglob("*") if file.suffix not in {".db-wal", ".db-shm"})

    before, there = germline.events(), files()
    answer = germline.does(*WRITES[path].split(), "--dry-run", "--json")
    assert answer.json["schema"] == f"germline/{named(path)}/1"
    assert answer.json.get("dry_run", True) is True
    assert not breaches(answer.json)
    assert germline.events() == before
    assert files() == there


def test_every_command_that_prints_facts_has_json_and_every_write_a_rehearsal() -> None:
    commands = callbacks()
    without = {path for path, call in commands.items() if "as_json" not in call.__annotations__}
    assert without == NO_DATA
    writes = {path for path, call in commands.items() if "dry_run" in call.__annotations__}
    assert set(WRITES) <= writes
    assert not set(READS) & writes - {"export review", "usage"}
