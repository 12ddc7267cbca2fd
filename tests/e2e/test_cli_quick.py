"""The quick lane: plain reading commands without typer say, do and end exactly as they do with it."""

from __future__ import annotations

import inspect
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.core import TyperArgument

from tests.command_lines import told_in
from tui.cli import app, quick
from tui.cli.app import parameters
from tui.cli.table import COMMANDS as TABLE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tests.terminal import Terminal

NOW = "2026-11-22T06:00:00.000000Z"
PLAIN = (
    "log",
    "log sql-analyst --limit 3",
    "log --type CapsuleVersioned --type=capsulereverted",
    "log --since 2026-11-01 --json",
    "--quiet log sql-analyst",
    "show sql-analyst",
    "show --blame sql-analyst@2",
    "show sql-analyst --json",
    "--quiet --registry registry.db show sql-analyst",
    "--registry=registry.db why sql-analyst:8",
    "why sql-analyst:8 --all",
    "why --json sql-analyst:8",
)
REFUSED = (
    "log nobody",
    "log --type Capsule",
    "log --since yesterday",
    "log --follow --since 2026-11-01",
    "ui",
    "ui --at x@3 --serve --bind nowhere",
    "log --after 3",
    "show sql-analyst@99",
    "show sql-analyst@",
    "why sql-analyst",
    "why sql-analyst:999",
    "why nowhere/SKILL.md:1",
    "--registry missing.db log",
    "--registry ftp://x log",
)
"""What the command itself refuses."""
FOR_TYPER = (
    "",
    "--help",
    "log --help",
    "log -h",
    "show",
    "why",
    "show a b",
    "log --limit",
    "log --limit 0",
    "log --limit many",
    "log --limit=",
    "log --limit 1 --limit 2",
    "log --json --json",
    "log --json=yes",
    "log --lim 3",
    "log --after -1",
    "log --since --json",
    "log --type",
    "log --quiet",
    "log -- sql-analyst",
    "log -",
    "ui x",
    "ui --at",
    "-q log",
    "--registry",
    "--registry log",
    "--version log",
    "lgo",
    "status",
)


@pytest.fixture(scope="module")
def germline(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    with patch("events.clock.SystemClock.now", lambda _: NOW):
        yield told_in(tmp_path_factory.mktemp("quick"))


def the_call(function: object, *arguments: object, **fields: object) -> Sequence[object]:
    """Give every parameter of a call its value, those left out their default."""
    bound = inspect.signature(function).bind(*arguments, **fields)  # type: ignore[arg-type] # one of the answers
    bound.apply_defaults()
    return [
        getattr(function, "__name__", ""),
        *({**bound.arguments, "types": bound.arguments.get("types") or ()}.items()),
    ]


def calls(words: Sequence[str], *, through_typer: bool) -> list[Sequence[object]]:
    """Read a command line in one lane, and tell what would have been called."""
    made: list[Sequence[object]] = []
    with pytest.MonkeyPatch.context() as patched:
        for name, command in quick.COMMANDS.items():
            module = import_module(f"tui.cli.{command.module}")
            function = getattr(module, command.function)

            def record(*arguments: object, function: object = function, **fields: object) -> None:
                made.append(the_call(function, *arguments, **fields))

            patched.setattr(module, command.function, record)
            patched.setattr(import_module(f"tui.cli.{TABLE[name].module}"), command.function, record)
        if through_typer:
            app.run(words)
        else:
            quick.answered(words)
    return made


def takes(one: Any) -> str:  # noqa: ANN401 - of typer's own parameters
    """Name what a parameter of typer takes in the words of the table."""
    if one.is_flag:
        return "nothing"
    known = {int: "number", list[str]: "texts", str: "text"}
    return known[one.type_descriptor.annotation]


def least(one: Any) -> int:  # noqa: ANN401 - the same
    return one.type_descriptor.parameter_info.min or 0


@pytest.mark.parametrize("name", quick.COMMANDS)
def test_the_table_says_what_typer_was_told(name: str) -> None:
    command = quick.COMMANDS[name]
    arguments = [one for one in parameters(name) if isinstance(one, TyperArgument)]
    one_argument = [(command.argument, command.required, 1)] if command.argument else []
    assert [(one.name, one.required, one.nargs) for one in arguments] == one_argument
    options: list[Any] = [one for one in parameters(name) if not isinstance(one, TyperArgument)]
    told = {one.opts[0]: (one.name, takes(one), least(one)) for one in options}
    assert told == {stated: tuple(option) for stated, option in command.options.items()}
    assert all(one.nargs == 1 and one.envvar is None and not one.secondary_opts for one in options)


@pytest.mark.parametrize("name", quick.COMMANDS)
def test_what_is_left_out_is_the_same_in_both_lanes(name: str) -> None:
    command = quick.COMMANDS[name]
    function = getattr(import_module(f"tui.cli.{command.module}"), command.function)
    defaults = {
        key: one.default
        for key, one in inspect.signature(function).parameters.items()
        if one.default is not inspect.Parameter.empty
    }
    assert defaults == {one.name: one.default for one in parameters(name) if not one.required}


def test_the_options_before_the_command_are_those_of_typer() -> None:
    told: dict[str, Any] = {one.opts[0]: one for one in app.global_parameters()}
    assert {stated: (told[stated].name, takes(told[stated]), 0) for stated in quick.GLOBAL} == {
        stated: tuple(option) for stated, option in quick.GLOBAL.items()
    }


@pytest.mark.parametrize("line", PLAIN + REFUSED)
def test_a_plain_command_says_the_same_without_typer(germline: Terminal, line: str) -> None:
    words = line.split()
    assert quick.understood(words) is not None
    without = germline(*words)
    with patch.object(quick, "understood", lambda _: None):
        assert germline(*words) == without
    assert (without.code == 0) == (line in PLAIN)


@pytest.mark.parametrize("line", FOR_TYPER)
def test_what_is_not_plain_is_left_to_typer(line: str) -> None:
    assert quick.understood(line.split()) is None


def test_an_empty_word_and_a_shell_that_completes_are_left_to_typer() -> None:
    assert quick.understood(["log", ""]) is None
    with patch.dict(os.environ, {"_GERMLINE_COMPLETE": "bash_complete"}):
        assert quick.understood(["log"]) is None


WORDS = st.sampled_from(
    (
        *(
            "log",
            "show",
            "why",
            "sql-analyst",
            "x@3",
            "x:7",
            "a b",
            "3",
            "007",
            "-1",
            "0",
            "٣",
            "--",
            "-",
            "",
            "=",
        ),
        *(name for command in quick.COMMANDS.values() for name in command.options),
        *("--limit=5", "--type=X", "--since=", "--json=1", "--li", "-h", *quick.GLOBAL, "--registry=r"),
    )
)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.lists(WORDS, max_size=2), st.sampled_from(list(quick.COMMANDS)), st.lists(WORDS, max_size=5))
def test_whatever_is_understood_is_understood_as_typer_does(
    before: list[str], name: str, behind: list[str]
) -> None:
    words = [*before, name, *behind]
    if quick.understood(words):
        assert calls(words, through_typer=False) == calls(words, through_typer=True) != []


def test_debug_shows_where_a_plain_command_failed(germline: Terminal) -> None:
    said = germline("--debug", "show", "nobody")
    assert said.code == 2
    assert said.err.startswith("Traceback")
    assert "no skill named nobody" in said.err


def test_a_fault_of_ours_is_told_in_one_line_with_the_way_to_see_where(germline: Terminal) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ZeroDivisionError("by hand")

    with patch("tui.cli.history.tell_history", fail):
        said = germline("log")
    assert (said.code, said.err.splitlines()) == (
        1,
        ["error  germline itself failed: ZeroDivisionError: by hand", "hint   germline --debug … shows where"],
    )
