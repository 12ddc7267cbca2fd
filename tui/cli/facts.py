"""Facts: a label in one column, what it says beside it, wrapped to the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.cli.paint import columns, fitting, one_line, width

if TYPE_CHECKING:
    from tui.cli.invocation import Invocation

LABEL: Final = 10
"""Columns of the labels: "signal", "evidence" …"""


_LEAST_ROOM: Final = 30


def folded(text: str, room: int) -> list[str]:
    """Break a line between words into some of at most `room` columns; a path that is longer, behind a slash."""
    room = max(room, _LEAST_ROOM)
    lines, rest = [], text.strip()
    while columns(rest) > room:
        end = _place_to_break(rest, fitting(rest, room))
        lines.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*lines, rest]


def _place_to_break(text: str, most: int) -> int:
    """Find where a line of at most so many characters ends: at a space, else behind a slash, else at the last."""
    space = text.rfind(" ", 0, most + 1)
    return space if space > 0 else text.rfind("/", 1, most) + 1 or most


def say_folded(call: Invocation, head: str, text: str, *, tone: str = "") -> None:
    """Print a text behind what heads it, a mark or a label; what has no room goes below the text."""
    first, *others = folded(one_line(text), width() - len(head))
    call.say(f"{call.paint(head, tone)}{first}")
    for line in others:
        call.say(f"{'':<{len(head)}}{line}")


def say_fact(call: Invocation, label: str, text: str) -> None:
    """Print a fact behind its label."""
    for at, line in enumerate(folded(one_line(text), width() - LABEL - 2)):
        shown = label if at == 0 else ""
        call.say(f"  {call.paint(f'{shown:<{LABEL}}', 'dim')}{line}".rstrip())
