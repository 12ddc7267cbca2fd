"""Quick answers: plain forms of the reading commands, understood without typer, which takes 85 ms to load.

What is not plain is left to typer, whole: help, mistakes, short options, whatever this table does not say. So
every error has one wording; and a test compares the table with what typer was told.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from tui.cli.ending import command_at, ended
from tui.cli.invocation import Invocation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Option(NamedTuple):
    """An option: the parameter that it sets, what it takes, and the least number that it may be."""

    name: str
    takes: Literal["nothing", "text", "texts", "number"] = "text"
    least: int = 0


class Command(NamedTuple):
    """A command: the module and the function that answer it, the parameter of its one argument, its options.

    `argument` is "" where it takes none.
    """

    module: str
    function: str
    argument: str
    required: bool
    options: Mapping[str, Option]


_AS_JSON: Final = Option("as_json", "nothing")

COMMANDS: Final[dict[str, Command]] = {
    "log": Command(
        *("history", "tell_history", "skill"),
        required=False,
        options={
            "--type": Option("types", "texts"),
            "--since": Option("since"),
            "--limit": Option("limit", "number", 1),
            "--follow": Option("follow", "nothing"),
            "--after": Option("after", "number", -1),
            "--json": _AS_JSON,
        },
    ),
    "show": Command(
        *("reading", "tell_skill", "skill"),
        required=True,
        options={"--blame": Option("with_blame", "nothing"), "--json": _AS_JSON},
    ),
    "why": Command(
        *("explaining", "tell_line", "place"),
        required=True,
        options={"--all": Option("every", "nothing"), "--json": _AS_JSON},
    ),
    "ui": Command(
        *("opening", "open_screens", ""),
        required=False,
        options={"--at": Option("at"), "--serve": Option("served", "nothing"), "--bind": Option("bind")},
    ),
}

GLOBAL: Final[dict[str, Option]] = {
    "--registry": Option("registry"),
    "--quiet": Option("quiet", "nothing"),
    "--debug": Option("debug", "nothing"),
}

_COMPLETION: Final = "_GERMLINE_COMPLETE"
"""Set where a shell asks typer itself to complete."""
_MOST_DIGITS: Final = 9


class Asked(NamedTuple):
    """A command line that was understood: the command, and what it is called with."""

    command: Command
    call: Invocation
    fields: Mapping[str, object]

    def answer(self) -> object:
        """Answer it."""
        function = getattr(import_module(f"tui.cli.{self.command.module}"), self.command.function)
        return function(self.call, **self.fields)


def answered(words: Sequence[str]) -> int | None:
    """Answer a command line and return its exit code; None where typer must read it."""
    asked = understood(words)
    return ended(words, asked.answer) if asked else None


def understood(words: Sequence[str]) -> Asked | None:
    """Read a command line; None for what typer must read."""
    at = command_at(words)
    command = COMMANDS.get("".join(words[at : at + 1]))
    if command is None or _COMPLETION in os.environ:
        return None
    before, behind = _read(words[:at], GLOBAL), _read(words[at + 1 :], command.options, command.argument)
    if before is None or behind is None or (command.required and command.argument not in behind):
        return None
    return Asked(command, Invocation(**before), behind)  # type: ignore[arg-type] # the fields of GLOBAL are its own


def _read(words: Sequence[str], options: Mapping[str, Option], argument: str = "") -> dict[str, object] | None:
    """Read options with their values, and the one word that is none of them; None for anything else."""
    fields: dict[str, object] = {}
    left = iter(words)
    for word in left:
        if not word.startswith("-"):
            if not argument or argument in fields or not word:
                return None
            fields[argument] = word
            continue
        name, equals, stated = word.partition("=")
        option = options.get(name)
        if option is None or (option.takes == "nothing" and equals):
            return None
        text = stated if equals or option.takes == "nothing" else next(left, "")
        value = _value(option, text, fields.get(option.name))
        if value is None:
            return None
        fields[option.name] = value
    return fields


def _value(option: Option, text: str, before: object) -> object:
    """Read what was stated for an option, beside what was stated `before`; None for what typer must read."""
    if option.takes == "texts" and text and not text.startswith("-"):
        return [*before, text] if isinstance(before, list) else [text]
    if before is not None:
        return None
    if option.takes == "nothing":
        return True
    if option.takes == "number":
        plain = text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS
        return int(text) if plain and int(text) >= option.least else None
    return text if text and not text.startswith("-") else None
