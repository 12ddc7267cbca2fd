"""Places: the address of everything that a screen can show, as people type it after `--at`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, get_args

from events.errors import UsageError

View = Literal[
    "skills", "history", "why", "signals", "presets", "review", "trends", "sessions", "usage", "start", "audits"
]

_NAME: Final = r"[^/@:#\s.]+|[^#\s]*[^/@#\s]+\.mdc?"
"""A skill, or instructions by their path: `CLAUDE.md`, `.cursor/rules/ts.mdc`."""
_LINE: Final = re.compile(rf"(?P<skill>{_NAME})(?:@(?P<ref>[^@:#\s]+))?(?::(?P<line>[1-9][0-9]*))?")
_EVALUATOR: Final = re.compile(rf"(?P<skill>{_NAME})(?::(?P<evaluator>[a-z][a-z-]*))?")
_EVENT: Final = re.compile(rf"(?P<skill>(?:{_NAME})?)#(?P<event>[1-9][0-9]{{0,17}})")
_TRENDS: Final = re.compile(
    rf"/trends/(?P<skill>{_NAME})(?:@(?P<ref>[1-9][0-9]{{0,8}}))?(?:/(?P<task>\S(?:.*\S)?))?"
)
_VIEW: Final = re.compile(rf"/(?P<view>{'|'.join(get_args(View))})(?:/(?P<item>\S(?:.*\S)?))?")


@dataclass(frozen=True, slots=True)
class ScreenAddress:
    """Where a person is: a screen, and what it shows.

    `ref` is a version as people write it (`3`, `production`), "" for the latest, which then follows the log.
    `line`, `event` and `item` are where the cursor is, 0 and "" where it has not moved yet; an item is the
    fingerprint of a signal, the name of a preset, the id of a candidate or a session, a line whose usage is shown,
    an evaluator of an audit, or a task, whose column `ref` says.
    """

    view: View = "skills"
    skill: str = ""
    ref: str = ""
    line: int = 0
    event: int = 0
    item: str = ""

    @property
    def address(self) -> str:
        """The place as text: `sql-analyst@3:7`, `sql-analyst#41`, `/presets/harden`; what is open is left out."""
        if self.view in {"skills", "signals", "presets", "review", "sessions", "start"}:
            item = self.skill if self.view == "skills" else self.item
            return f"/{self.view}/{item}" if item else "" if self.view == "skills" else f"/{self.view}"
        if self.view in {"usage", "audits"}:
            return f"/{self.view}/{self.item or self.skill}".rstrip("/")
        if self.view == "trends":
            return (
                f"/trends/{self.skill}{f'@{self.ref}' if self.ref else ''}{f'/{self.item}' if self.item else ''}"
            )
        if self.view == "history" and not self.ref:
            event = f"#{self.event}" if self.event else ""
            return f"{self.skill}{event}" or "/history"
        version = f"@{self.ref}" if self.ref else ""
        line = f":{self.line or 1}" if self.view == "why" else ""
        return f"{self.skill}{version}{line}"


def place_of(address: str | None) -> ScreenAddress:
    """Read an address: `sql-analyst` and `sql-analyst@3` are history, `sql-analyst@3:7` is why.

    `sql-analyst#41` is an event in its history, `#41` one in that of the registry; `/signals`, `/presets/harden`
    and the like are screens, and what the cursor is on there; `/trends/sql-analyst@3/t7` is a cell of trends.
    Raises: UsageError where it is none.
    """
    text = (address or "").strip()
    if not text:
        return ScreenAddress()
    if match := _TRENDS.fullmatch(text):
        return ScreenAddress("trends", match["skill"], match["ref"] or "", item=match["task"] or "")
    if match := _VIEW.fullmatch(text):
        return _on_screen(match["view"], match["item"] or "", text)
    if match := _EVENT.fullmatch(text):
        return ScreenAddress("history", match["skill"], event=int(match["event"]))
    if match := _LINE.fullmatch(text):
        line = int(match["line"] or 0)
        return ScreenAddress("why" if line else "history", match["skill"], match["ref"] or "", line)
    raise _no_address(text)


def _on_screen(view: str, item: str, text: str) -> ScreenAddress:
    if view in {"history", "why", "trends"}:  # their addresses name a skill, but for the history of all
        if view != "history" or item:
            raise _no_address(text)
        return ScreenAddress("history")
    if view == "skills":
        return ScreenAddress("skills", item)
    if view == "audits":
        row = _EVALUATOR.fullmatch(item)
        return ScreenAddress("audits", row["skill"] if row else "", item=item if row and row["evaluator"] else "")
    if view == "usage":
        line = _LINE.fullmatch(item)
        return ScreenAddress("usage", line["skill"] if line else "", item=item if line and line["line"] else "")
    return ScreenAddress(next(arg for arg in get_args(View) if arg == view), item=item)


def _no_address(text: str) -> UsageError:
    return UsageError(
        f"{text!r} is no address",
        hint="write it as sql-analyst, sql-analyst@3:7, sql-analyst#41, /signals or /trends/sql-analyst",
    )
