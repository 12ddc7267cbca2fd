"""The manual: help as a page to read, with examples, exit codes and where to read on."""

from __future__ import annotations

from difflib import get_close_matches
from textwrap import fill
from typing import TYPE_CHECKING, Final

from typer.core import TyperArgument, TyperCommand, TyperGroup

from tui.cli.commands_table import COMMANDS, GROUPS

if TYPE_CHECKING:
    import typer

    # typer carries its own copy of click, and gives these no public name
    from typer._click.core import Command, Context
    from typer._click.formatting import HelpFormatter

_PROGRAM: Final = "germline"
_SHOW: Final = "show"
_JOINED: Final = "\N{NO-BREAK SPACE}"


class ManualCommand(TyperCommand):
    """A command whose help ends with its page."""

    def collect_usage_pieces(self, ctx: Context) -> list[str]:
        """Write arguments as the command line contract does: SKILL, [SKILL], PATH…."""
        arguments = [
            param for param in self.get_params(ctx) if isinstance(param, TyperArgument) and not param.hidden
        ]
        return ["[OPTIONS]", *(argument.display_name_raw for argument in arguments)]

    def format_options(self, ctx: Context, formatter: HelpFormatter) -> None:
        """List arguments by the names that the usage has, then options; typer would add the types of Python."""
        arguments, options = [], []
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record and isinstance(param, TyperArgument):
                arguments.append((param.display_name_raw, record[1].removesuffix("[required]").rstrip()))
            elif record:
                options.append(record)
        for title, rows in (("Arguments", arguments), ("Options", options)):
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Put the page below the options."""
        _write_page(ctx.command_path, formatter)


class ManualGroup(TyperGroup):
    """A group of commands whose help ends with its page, where it has one."""

    def resolve_command(self, ctx: Context, args: list[str]) -> tuple[str | None, Command | None, list[str]]:
        """Find the command; in a group that lists things by itself, what is none is a thing to `show`."""
        word = args[0]
        if self.invoke_without_command and _SHOW in self.commands and not get_close_matches(word, self.commands):
            args = [_SHOW, *args]
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """List the commands, each with the whole first line of its help."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        rows = [
            (name, (command.help or "").partition("\n")[0])
            for name, command in commands
            if command and not command.hidden
        ]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def format_epilog(self, ctx: Context, formatter: HelpFormatter) -> None:
        """Put the page below the commands."""
        _write_page(ctx.command_path, formatter)


class CommandList(TyperGroup):
    """The list of all commands: what each does in one line, and nothing that could be run."""

    def list_commands(self, ctx: Context) -> list[str]:
        """Name them in the order of the table."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Context, cmd_name: str) -> TyperCommand | None:
        """Stand in for a command: the real one is imported when it is run."""
        del ctx
        return TyperCommand(cmd_name, help=COMMANDS[cmd_name].summary)

    def format_commands(self, ctx: Context, formatter: HelpFormatter) -> None:
        """List them by what they are for, with one column of names for all."""
        del ctx
        widest = max(map(len, COMMANDS))
        for title, commands in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(widest), entry.summary) for name, entry in commands.items()])


def as_manual(group: typer.Typer) -> None:
    """Let every command of a group show its page."""
    for command in group.registered_commands:
        command.cls = ManualCommand


def _write_page(path: str, formatter: HelpFormatter) -> None:
    from tui.cli.help_pages import pages  # noqa: PLC0415 - help alone reads them

    page = pages().get(path.removeprefix(_PROGRAM).strip())
    if page is None:
        return
    with formatter.section("Examples"):
        for example in page.examples:
            formatter.write(f"  {_PROGRAM} {example.typed}\n      {example.does}\n")
    with formatter.section("Exit codes"):
        formatter.write_dl([(str(code), meaning) for code, meaning in page.codes])
    with formatter.section("See also"):
        names = ", ".join(f"{_PROGRAM} {name}".replace(" ", _JOINED) for name in page.see)
        text = fill(names, formatter.width, initial_indent="  ", subsequent_indent="  ", break_on_hyphens=False)
        formatter.write(f"{text.replace(_JOINED, ' ')}\n")
