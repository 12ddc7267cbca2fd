"""Completion and help: the scripts that make a shell complete commands, and help by the name of a command."""

from __future__ import annotations

import os
from pathlib import Path
from shlex import join
from typing import Annotated, Final

import typer

from events.errors import StorageError, UsageError
from tui.cli.complete import ASKED, shell_here
from tui.cli.output.invocation import invocation
from tui.session.own_command import own_command

_OWN: Final = join(own_command())
"""A `germline` that lies in the folder where somebody presses tab must not be run for that."""
_BASH: Final = f"""# germline: completion for bash
_germline() {{
    local IFS=$'\\n'
    COMPREPLY=($({_OWN} {ASKED} bash "${{COMP_LINE:0:COMP_POINT}}" "$COMP_WORDBREAKS" 2>/dev/null))
}}
complete -o bashdefault -o default -F _germline germline
"""
_ZSH: Final = f"""# germline: completion for zsh
_germline() {{
    local -a found
    found=("${{(@f)$({_OWN} {ASKED} words "${{(@)words[2,CURRENT]}}" 2>/dev/null)}}")
    if [[ -n "$found[1]" ]]; then compadd -a found; else _files; fi
}}
(( ${{+functions[compdef]}} )) || {{ autoload -Uz compinit && compinit }}
compdef _germline germline
"""
_FISH: Final = f"""# germline: completion for fish
function __germline_found
    set --local found ({_OWN} {ASKED} words (commandline -opc)[2..] (commandline -ct) 2>/dev/null)
    if count $found >/dev/null
        printf '%s\\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete --command germline --no-files --arguments '(__germline_found)'
"""
SCRIPTS: Final = {"bash": _BASH, "fish": _FISH, "zsh": _ZSH}


def completion(
    ctx: typer.Context,
    shell: Annotated[
        str, typer.Argument(metavar="[SHELL]", help="bash, zsh or fish; else the one you are in.")
    ] = "",
    *,
    install: Annotated[bool, typer.Option("--install", help="Put it where the shell finds it.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="With --install: say what would be written, and write nothing.")
    ] = False,
) -> None:
    """Complete commands, skills, versions and ids in your shell.

    Without --install the script is printed. Installing writes one file; for bash and zsh it adds one line to the
    shell's own settings, once.
    """
    call = invocation(ctx)
    name = shell or shell_here()
    if name not in SCRIPTS:
        what = f"{shell!r} is no shell that is known" if shell else "SHELL names no shell that is known"
        raise UsageError(what, hint="germline completion bash --install    (or zsh, fish)")
    if not install:
        call.say(SCRIPTS[name].rstrip())
        return
    script, settings = _places(name)
    line = f'[ -r "{script}" ] && . "{script}"  # germline'
    missing = settings is not None and line not in _text(settings)
    if not dry_run:
        _write(script, SCRIPTS[name])
        if settings is not None and missing:
            _append(settings, line)
    call.say(f"{'would write' if dry_run else 'written':<10} {script}")
    if missing:
        call.say(f"{'would add' if dry_run else 'added':<10} one line to {settings}")
    call.say(f"next       begin a new {name}, and press tab behind germline")


def _places(shell: str) -> tuple[Path, Path | None]:
    """Say where the script goes, and which settings must name it, None where the shell looks there by itself."""
    home = Path.home()
    kept = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share") / "germline"
    if shell == "fish":
        settings = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
        return settings / "fish" / "completions" / "germline.fish", None
    if shell == "zsh":
        return kept / "completion.zsh", Path(os.environ.get("ZDOTDIR") or home) / ".zshrc"
    return kept / "completion.bash", home / ".bashrc"


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        return ""


def _write(file: Path, text: str) -> None:
    """Write a file of ours whole, in the place of an earlier one."""
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        new = file.with_name(f".{file.name}.{os.getpid()}")
        new.write_text(text, encoding="utf-8")
        new.replace(file)
    except OSError as error:
        raise StorageError(f"{file} cannot be written: {error.strerror}") from error


def _append(settings: Path, line: str) -> None:
    """Add a line to a person's own settings, and touch nothing else of them."""
    before = _text(settings)
    begin = "" if not before or before.endswith("\n") else "\n"
    try:
        with settings.open("a", encoding="utf-8") as stream:
            stream.write(f"{begin}{line}\n")
    except OSError as error:
        raise StorageError(f"{settings} cannot be written: {error.strerror}") from error


def help_of(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND…]", help="A command; the list of them if left out.")
    ] = None,
) -> None:
    """Show the help of a command: description, options, examples."""
    from tui.cli.typer_app import run  # noqa: PLC0415 - it imports this module

    code = run([*(words or []), "--help"])
    if code:
        raise typer.Exit(code)


COMMANDS: Final = {"completion": completion, "help": help_of}
