"""The demo: the whole story, through real commands on recorded logs that ship with germline."""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
from contextlib import chdir, contextmanager
from pathlib import Path
from shutil import copytree, which
from typing import TYPE_CHECKING, Annotated, Final

import typer

from events.errors import GermlineError, RefusedError
from registry.query.provenance import blame
from registry.skill_md.write_places import REGISTRY_FOLDER
from tui.cli.main import run_one
from tui.cli.output.invocation import invocation
from tui.demo import demo_folder
from tui.session.open_registry import FILE, open_library

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tui.cli.output.invocation import Invocation

SKILL: Final = "sql-analyst"
SPLIT_KEY: Final = "00112233445566778899aabbccddeeff"
"""Fixed, so that the story is the same each time it is told."""
SEED: Final = "7"


def demo(
    ctx: typer.Context,
    folder: Annotated[
        str, typer.Argument(metavar="[DIR]", help="Where; a fresh temporary folder if left out.")
    ] = "",
) -> None:
    """Tell the whole story on recorded logs, offline, in seconds.

    Every line that begins with $ is a command as you would type it, followed by what it really prints.
    """
    call = invocation(ctx)
    place = Path(folder).expanduser() if folder else Path(tempfile.mkdtemp(prefix="germline-demo-"))
    for taken in (REGISTRY_FOLDER, "skills", "logs"):
        if os.path.lexists(place / taken):
            raise RefusedError(f"{place / taken} is there already", hint="germline demo NEW_DIR")
    copytree(demo_folder() / "skills", place / "skills")
    copytree(demo_folder() / "recordings", place / "logs")
    try:
        with chdir(place), _own_registry():
            _tell(call)
    except KeyboardInterrupt:
        call.note(f"cut short  half of the story is in {place}; from its beginning: germline demo NEW_DIR")
        raise
    if place.resolve() == Path.cwd():
        call.say("\nEverything is in this folder. To go on:")
    else:
        call.say(f"\nEverything is in {place}. To go on from there:")
        call.say(f"  cd {shlex.quote(str(place))}")
    program = program_name()
    for words in ("evolve git-helper --logs logs/git", "log", "ui"):
        call.say(f"  {program} {words}")


def program_name() -> str:
    """Name what was called so that it can be called again: by its path where it is not on PATH, as after make."""
    called = Path(sys.argv[0])
    return "germline" if which("germline") or called.name != "germline" else shlex.quote(str(called.absolute()))


@contextmanager
def _own_registry() -> Iterator[None]:
    """Keep the demo away from the registry that the environment names."""
    named = os.environ.pop("GERMLINE_REGISTRY", None)
    try:
        yield
    finally:
        if named is not None:
            os.environ["GERMLINE_REGISTRY"] = named


def _tell(call: Invocation) -> None:
    """Run the commands of the story, one after the other."""
    _chapter(call, "Begin a registry: an append-only log in one file.")
    _run(call, "init", "--split-key", SPLIT_KEY)
    _chapter(call, "Import skills. Nothing on disk changes; from here on every line has an origin.")
    _run(call, "import", "skills")
    _chapter(call, "Read the logs that agents left: real commands on small databases, each task checked.")
    _run(call, "scan", "logs")
    _chapter(call, "One turn of evolution: a claim mined without a model, tested on logs it never saw.")
    _run(call, "evolve", SKILL, "--logs", "logs/sql", "--seed", SEED, "--cycles", "1")
    _chapter(call, "Ask a line of the skill why it is there.")
    _run(call, "why", f"skills/{SKILL}/SKILL.md:{_learned_line()}")
    _chapter(call, "Take it back, by a new event; nothing is erased.")
    _run(call, "revert", SKILL, "--to", "1", "--reason", "to show that it can be undone")
    _run(call, "log", SKILL, "--limit", "8")
    _chapter(call, "Check the whole chain.")
    _run(call, "verify")


def _learned_line() -> int:
    """Find the first line that a strategy brought; raises GermlineError where none did."""
    with open_library(Path(REGISTRY_FOLDER) / FILE) as library:
        for line, origin in blame(library, library.capsule(SKILL)):
            candidate: str = getattr(origin.event, "candidate", "")
            if line.id and candidate:
                return line.number
    raise GermlineError("the demo learned nothing, which its recordings should not allow")


def _chapter(call: Invocation, text: str) -> None:
    call.say(f"\n{call.paint(f'# {text}', 'strong')}")


def _run(call: Invocation, *words: str) -> None:
    """Run one command as if it had been typed; the story ends where one fails."""
    call.say(f"{call.paint(f'$ germline {shlex.join(words)}', 'accent')}")
    sys.stdout.flush()
    if code := run_one(words):
        raise typer.Exit(code)


COMMANDS: Final = {"demo": demo}
