"""Places: the address of everything that a screen can show, as people type it after `--at`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

from events.errors import UsageError

View = Literal["skills", "history", "why"]

_ADDRESS: Final = re.compile(r"(?P<skill>[^@:\s]+)(?:@(?P<ref>[^@:\s]+))?(?::(?P<line>[1-9][0-9]*))?")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a person is: a screen, and what it shows.

    `ref` is a version as people write it (`3`, `production`), "" for the latest, which then follows the log.
    `line` and `event` are where the cursor stands, 0 where it has not moved yet.
    """

    view: View = "skills"
    skill: str = ""
    ref: str = ""
    line: int = 0
    event: int = 0

    @property
    def address(self) -> str:
        """The place as text: `sql-analyst@3:7`; what a place leaves open is left out."""
        version = f"@{self.ref}" if self.ref else ""
        line = f":{self.line}" if self.line else ""
        return f"{self.skill}{version}{line}"


def place_of(address: str | None) -> Place:
    """Read an address: `sql-analyst` and `sql-analyst@3` are history, `sql-analyst@3:7` is why.

    Raises: UsageError where it is none.
    """
    if not address:
        return Place()
    found = _ADDRESS.fullmatch(address.strip())
    if found is None:
        raise UsageError(
            f"{address!r} is no address", hint="write it as sql-analyst, sql-analyst@3 or sql-analyst@3:7"
        )
    skill, ref, line = found["skill"], found["ref"] or "", int(found["line"] or 0)
    return Place("why" if line else "history", skill, ref, line)
