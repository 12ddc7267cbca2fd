"""The command line as a whole: global options, the one command that was asked for, and how it ends."""

from __future__ import annotations

import os
import re
import sys
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import GermlineError, NotFoundError, UsageError
from tui import __version__
from tui.cli.commands_table import COMMANDS
from tui.cli.help_command import CommandList, ManualCommand, ManualGroup, as_manual
from tui.cli.output.exit import command_at, ended
from tui.cli.output.invocation import Invocation
from tui.session.ownership import NOTED, VOUCHED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typer._click.core import Command, Parameter  # typer has its own copy of click, without a public name

HELP: Final = """Keep agent skills that learn from logs: every learned line carries a claim that logs can refute.

Global options come before the command. Begin with: germline demo
"""
_WRONG_NUMBER: Final = re.compile(
    r"Invalid value for '([^']+)': Input should be (a valid (?:integer|number).*|(?:greater|less) than .+)"
)
"""How the words for a wrong number begin that pydantic gives to typer."""
_GLOBAL: Final = {"--registry", "--quiet", "-q", "--debug", "--trust-project"}


def run(words: Sequence[str]) -> int:
    """Run one command line, read by typer."""
    return ended(words, lambda: _answered(words))


def _answered(words: Sequence[str]) -> object:
    """Let typer read the words and call the command; raises UsageError for what it refuses."""
    at = command_at(words)
    empty = (n for n, word in enumerate(words) if n > at and not word and not words[n - 1].startswith("-"))
    if (number := next(empty, 0)) > 0:
        what = f"argument {number - at} of germline {words[at]} is empty: a variable that is not set?"
        raise UsageError(what, hint=_help_of(words, ""))
    try:
        asked = words[at : at + 1]
        return _command(*asked)(args=list(words), prog_name="germline", standalone_mode=False)
    except typer.TyperException as error:
        what = " ".join(error.format_message().split())  # choices come one below the other, behind tabs
        what = what.removesuffix(".").replace(": Value error, ", ": ")
        raise UsageError(_plain(what, words), hint=_help_of(words, _path_of(error))) from error


def _plain(what: str, words: Sequence[str]) -> str:
    """Say what a number should have been in words of ours, with the one that was typed."""
    match = _WRONG_NUMBER.fullmatch(what)
    if match is None:
        return what
    option, problem = match[1], match[2]
    at = next((at for at, word in enumerate(words) if word.partition("=")[0] == option), len(words))
    named = " ".join(words[at : at + (1 if "=" in "".join(words[at : at + 1]) else 2)]) or option
    bounds = {"greater than or equal to ": "at least", "less than or equal to ": "at most"}
    bounds |= {"greater than ": "more than", "less than ": "less than"}
    for begun, bound in bounds.items():
        if problem.startswith(begun):
            return f"{named}: this must be {bound} {problem.removeprefix(begun)}"
    return f"{named}: this must be a {'whole number' if 'integer' in problem else 'number'}"


def _help_of(words: Sequence[str], path: str) -> str:
    """Say where to read on; a global option behind the command is the slip that is made most."""
    at = command_at(words)
    name = "".join(words[at : at + 1])
    if strayed := _GLOBAL.intersection(words[at:]):
        return f"{min(strayed)} goes before the command: germline {min(strayed)} … {name}"
    return f"{path or f'germline {name}'} --help" if name in COMMANDS else "germline --help"


def _path_of(error: typer.TyperException) -> str:
    """Name the command that was asked wrongly, with its group: `germline gate selftest`."""
    return str(getattr(getattr(error, "ctx", None), "command_path", ""))


@cache  # a process may run several command lines, and to build one takes 3 to 14 ms (measured 2026-11-22)
def _command(*asked: str) -> Command:
    """Build the command line with the module of the one command that is named; a bare list where none is.

    Raises: UsageError for a command that does not exist, naming the nearest.
    """
    app = typer.Typer(
        cls=None if asked else CommandList,
        help=HELP,
        callback=_global_options,
        invoke_without_command=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        add_completion=False,
    )
    for name in asked:
        if name not in COMMANDS:
            near = get_close_matches(name, COMMANDS, n=1, cutoff=0.6)
            hint = f"did you mean germline {near[0]}?" if near else "germline --help"
            raise UsageError(f"there is no command {name}", hint=hint)
        command = import_module(f"tui.cli.commands.{COMMANDS[name].module}").COMMANDS[name]
        if isinstance(command, typer.Typer):
            as_manual(command)
            app.add_typer(command, name=name, cls=ManualGroup)
        else:
            app.command(name, cls=ManualCommand)(command)
    return typer.main.get_command(app)


def parameters(path: str) -> Sequence[Parameter]:
    """List the arguments and options of a command, named by its path: `candidate show`."""
    words = path.split()
    command = _command(words[0])
    for word in words:
        command = command.commands[word]  # type: ignore[attr-defined] # a group, as every path but the last word is
    return command.params


def _version(value: bool) -> None:  # noqa: FBT001 - typer calls it with the flag's value
    if value:
        sys.stdout.write(f"germline {__version__}\n")
        raise typer.Exit


def _global_options(  # the docstring of the app is HELP
    ctx: typer.Context,
    *,
    registry: Annotated[
        str,
        typer.Option(
            metavar="PATH", help="A .db file or postgresql://…; else GERMLINE_REGISTRY, else .germline/ upwards."
        ),
    ] = "",
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No messages beside the answer.")] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback where something fails.")] = False,
    trust_project: Annotated[bool, typer.Option("--trust-project", help="Answer for this project, once.")] = False,
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that stand before the command."""
    del version
    ctx.obj = Invocation(registry=registry, quiet=quiet, debug=debug)
    VOUCHED.set(trust_project)
    NOTED.set(ctx.obj.note)
    if ctx.invoked_subcommand is not None:
        return
    if _lacks_registry(registry):
        answer = import_module(f"tui.cli.commands.{COMMANDS['start'].module}")
        if answer.agents_worked_here():
            answer.start(ctx)
            return
    sys.stdout.write(f"{ctx.get_help()}\n")


def _lacks_registry(named: str) -> bool:
    """Tell whether no registry is named, and none lies here: asked before the first answer is loaded, in 0.2 s."""
    if named or os.environ.get("GERMLINE_REGISTRY"):
        return False
    from tui.session.open_registry import find_registry  # noqa: PLC0415 - a list of commands needs none

    try:
        find_registry()
    except NotFoundError:
        return True
    except GermlineError:
        return False
    return False
