"""The command line as a whole: global options, the one command that was asked for, and how it ends."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import GermlineError, UsageError
from tui import __version__
from tui.cli.entry import INTERRUPTED
from tui.cli.invocation import Invocation
from tui.cli.manual import ManualCommand, ManualGroup, as_manual
from tui.cli.paging import paged
from tui.cli.paint import Paint
from tui.cli.table import COMMANDS
from tui.plain import speak_plainly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typer._click.core import Parameter  # typer carries its own copy of click, and gives it no public name

HELP: Final = """Keep agent skills that learn from logs: every learned line carries a claim that logs can refute.

Global options come before the command. Begin with: germline demo
"""
_PAGED: Final = {"diff", "log", "show"}
"""The commands whose answers may be long."""
_GLOBAL: Final = {"--registry", "--quiet", "-q", "--debug"}
_FAILED: Final = 1
_USAGE: Final = 2


def run(words: Sequence[str]) -> int:
    """Run one command line; every error ends in one message and the exit code that terminal.md promises."""
    speak_plainly((sys.stdout, sys.stderr))
    at = _command_at(words)
    debug = "--debug" in words[:at]
    try:
        app = _app(words)
        with paged() if _PAGED.intersection(words[at : at + 1]) else nullcontext():
            code = app(args=list(words), prog_name="germline", standalone_mode=False)
            sys.stdout.flush()
    except GermlineError as error:
        return _fail(error, debug=debug, what=error.message, hint=error.hint, code=error.exit_code)
    except typer.TyperException as error:
        what = error.format_message().removesuffix(".").replace(": Value error, ", ": ")
        return _fail(error, debug=debug, what=what, hint=_help_of(words, _path_of(error)), code=_USAGE)
    except BrokenPipeError:
        # Whoever read the answer has read enough; the interpreter must not complain while it ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _FAILED
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _fail(error, debug=debug, what=f"{where}{error.strerror or error}", hint="", code=_FAILED)
    except Exception as error:  # noqa: BLE001 - the last place where a fault of ours can be told in one line
        what = f"germline itself failed: {type(error).__name__}: {error}"
        return _fail(error, debug=debug, what=what, hint="germline --debug … shows where", code=_FAILED)
    if code == INTERRUPTED:
        raise KeyboardInterrupt  # typer made a number of it; entry.py says it in words
    return code if isinstance(code, int) else 0


def _fail(error: Exception, *, debug: bool, what: str, hint: str, code: int) -> int:
    """Say what happened, then what to type; a traceback only where it was asked for."""
    if debug:
        import traceback  # noqa: PLC0415 - for the few who ask

        traceback.print_exception(error)
    sys.stdout.flush()
    paint = Paint.of(sys.stderr)
    sys.stderr.write(f"{paint('error', 'bad')}  {what}\n")
    if hint:
        sys.stderr.write(f"{paint('hint', 'accent')}   {hint}\n")
    return code


def _help_of(words: Sequence[str], path: str) -> str:
    """Say where to read on; a global option behind the command is the slip that is made most."""
    at = _command_at(words)
    name = "".join(words[at : at + 1])
    if strayed := _GLOBAL.intersection(words[at:]):
        return f"{min(strayed)} goes before the command: germline {min(strayed)} … {name}"
    return f"{path or f'germline {name}'} --help" if name in COMMANDS else "germline --help"


def _path_of(error: typer.TyperException) -> str:
    """Name the command that was asked wrongly, with its group: `germline gate selftest`."""
    return str(getattr(getattr(error, "ctx", None), "command_path", ""))


def _command_at(words: Sequence[str]) -> int:
    """Find the command among the words: the first that is no global option nor the value of one."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        at += 2 if words[at] == "--registry" else 1
    return at


def _app(words: Sequence[str]) -> typer.Typer:
    """Build the command line with the module of the one command that is named; a bare list where none is.

    Raises: UsageError for a command that does not exist, naming the nearest.
    """
    app = typer.Typer(
        help=HELP,
        callback=_global_options,
        invoke_without_command=True,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        add_completion=False,
    )
    asked = words[_command_at(words) :][:1]
    for name in asked:
        if name not in COMMANDS:
            near = get_close_matches(name, COMMANDS, n=1, cutoff=0.5)
            hint = f"did you mean germline {near[0]}?" if near else "germline --help"
            raise UsageError(f"there is no command {name}", hint=hint)
        command = import_module(f"tui.cli.{COMMANDS[name].module}").COMMANDS[name]
        if isinstance(command, typer.Typer):
            as_manual(command)
            app.add_typer(command, name=name, cls=ManualGroup)
        else:
            app.command(name, cls=ManualCommand)(command)
    if not asked:
        for name, entry in COMMANDS.items():
            app.command(name, help=entry.summary)(_listed)
    return app


def parameters(path: str) -> Sequence[Parameter]:
    """List the arguments and options of a command, named by its path: `candidate show`."""
    words = path.split()
    found = typer.main.get_command(_app(words))
    for word in words:
        found = found.commands[word]  # type: ignore[attr-defined] # a group, as every path but the last word is
    return found.params


def _listed() -> None:
    """Stand for a command in the list of commands; the real one is imported when it is run."""


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
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_version, help="Print the version.")
    ] = False,
) -> None:
    """Take the options that stand before the command."""
    del version
    ctx.obj = Invocation(registry=registry, quiet=quiet, debug=debug)
    if ctx.invoked_subcommand is None:
        sys.stdout.write(f"{ctx.get_help()}\n")
