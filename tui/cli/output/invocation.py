"""One run of the command line: what was asked for before the command, and where answers go."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from tui.cli.output.color import Paint, printable, width
from tui.text.ascii_fallback import takes_unicode

if TYPE_CHECKING:
    import typer

    from tui.documents.document import Document

_COMMAND: Final = "germline "
_BESIDE: Final = f"    {_COMMAND}"
"""What stands between two commands to type next."""


class Invocation(NamedTuple):
    """The global options. Data goes to stdout, messages go to stderr, and only unless `quiet`."""

    registry: str = ""
    quiet: bool = False
    debug: bool = False

    def say(self, text: str = "") -> None:
        """Print a line of the answer; commands to type that do not fit beside each other go below each other."""
        shown = _below_each_other(text) if _BESIDE in text.rpartition("\n")[2] else text
        sys.stdout.write(f"{printable(shown, sys.stdout)}\n")

    def flush(self) -> None:
        """Flush what was printed so far: a reader who follows a stream must not wait for more of it."""
        sys.stdout.flush()

    def answer(self, document: Document, *, indent: int | None = 2) -> None:
        """Print the answer as one JSON object; without `indent` on one line."""
        self.say(json_text(document, indent=indent))

    def note(self, *lines: str) -> None:
        """Print a message beside the answer, in lines: a line break in the name of a file makes no other."""
        if not self.quiet:
            sys.stdout.flush()  # in the order a person would expect, where both go to one terminal
            for line in lines:
                unbroken = line.replace("\n", " ")
                sys.stderr.write(f"{printable(unbroken, sys.stderr)}\n")

    @property
    def paint(self) -> Paint:
        """The colours that the answer may have."""
        return Paint.of(sys.stdout)


def invocation(ctx: typer.Context) -> Invocation:
    """Return what was asked for before the command."""
    call = ctx.obj
    assert isinstance(call, Invocation)  # noqa: S101 - typer hands on what app.py gave it
    return call


def _below_each_other(text: str) -> str:
    """Break a line of commands where it is wider than the terminal."""
    above, newline, line = text.rpartition("\n")
    start = line.index(_COMMAND)
    first, *others = line[start:].split(_BESIDE)
    indent, room = " " * start, width()
    lines = [line[:start] + first]
    for command in others:
        if len(lines[-1]) + len(_BESIDE) + len(command) > room:
            lines.append(f"{indent}{_COMMAND}{command}")
        else:
            lines[-1] += f"{_BESIDE}{command}"
    return above + newline + "\n".join(lines)


def json_text(value: Document | Mapping[str, object], *, indent: int | None = None) -> str:
    """Write JSON as scripts want it: text as it is where stdout can take it, no NaN."""
    fields = value if isinstance(value, Mapping) else value.model_dump(mode="json")
    return json.dumps(fields, ensure_ascii=not takes_unicode(sys.stdout), allow_nan=False, indent=indent)
