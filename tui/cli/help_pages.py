"""Pages: the text below the options of each command's help, read from help_pages.toml.

Loaded only where help is asked for, or documents are made.
"""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

_FILE: Final = Path(__file__).with_suffix(".toml")

EXIT_CODES: Final = {0: "done", 1: "failed", 2: "wrongly asked", 130: "interrupted"}
"""What holds for every command; a page adds to it."""


class Example(NamedTuple):
    """A command line, without `germline`, and what it does."""

    typed: str
    does: str


class HelpPage(NamedTuple):
    """Examples, commands to see also, and what each exit code means."""

    examples: tuple[Example, ...]
    see: tuple[str, ...]
    codes: tuple[tuple[int, str], ...]


@cache
def pages() -> dict[str, HelpPage]:
    """Read every page, by what is typed: `why`, `candidate show`."""
    with _FILE.open("rb") as stream:
        rows = tomllib.load(stream)
    return {
        name: HelpPage(
            tuple(Example(*example) for example in row["examples"]),
            tuple(row["see"]),
            tuple(sorted((EXIT_CODES | {int(code): text for code, text in row.get("codes", {}).items()}).items())),
        )
        for name, row in rows.items()
    }
