"""One run of the command line: what was asked for before the command, and where answers go."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui.cli.paint import Paint

if TYPE_CHECKING:
    from collections.abc import Mapping

    import typer


@dataclass(frozen=True, slots=True)
class Invocation:
    """The global options. Data goes to stdout, messages go to stderr, and only unless `quiet`."""

    registry: str = ""
    quiet: bool = False
    debug: bool = False

    def say(self, text: str = "") -> None:
        """Print a line of the answer."""
        sys.stdout.write(f"{text}\n")

    def flush(self) -> None:
        """Hand on what was said so far: whoever follows a stream must not wait for more of it."""
        sys.stdout.flush()

    def answer(self, command: str, fields: Mapping[str, object]) -> None:
        """Print the answer as one JSON object, with its schema first."""
        self.say(as_json({"schema": f"germline/{command}/1", **fields}, indent=2))

    def note(self, text: str) -> None:
        """Print a message beside the answer."""
        if not self.quiet:
            sys.stdout.flush()  # in the order a person would expect, where both go to one terminal
            sys.stderr.write(f"{text}\n")

    @property
    def paint(self) -> Paint:
        """The colours that the answer may have."""
        return Paint.of(sys.stdout)


def invocation(ctx: typer.Context) -> Invocation:
    """Return what was asked for before the command."""
    found = ctx.obj
    assert isinstance(found, Invocation)  # noqa: S101 - typer hands on what app.py gave it
    return found


def as_json(value: object, *, indent: int | None = None) -> str:
    """Write JSON as scripts want it: text as it is, no NaN."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
