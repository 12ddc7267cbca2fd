"""Facts: a label in one column, what it says beside it, wrapped to the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tui.cli.output.color import width
from tui.facts.fact import fact
from tui.text.rows import RowPart, text_of, wrap
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tui.cli.output.invocation import Invocation
    from tui.facts.fact import Fact

LABEL: Final = 10
"""Columns of the labels: "signal", "evidence" …"""


_LEAST_ROOM: Final = 30


def folded(text: str, room: int) -> list[str]:
    """Break a line between words into some of at most `room` columns; a path that is longer, behind a slash."""
    return [text_of(row).rstrip() for row in wrap((RowPart(text.strip()),), max(room, _LEAST_ROOM))]


def say_folded(call: Invocation, head: str, text: str, *, tone: str = "") -> None:
    """Print a text behind what heads it, a mark or a label; what has no room goes below the text."""
    first, *others = folded(one_line(text), width() - len(head))
    call.say(f"{call.paint(head, tone)}{first}")
    for line in others:
        call.say(f"{'':<{len(head)}}{line}")


def say_listed(
    call: Invocation,
    label: str,
    lines: Sequence[str],
    *,
    cut: bool = False,
    most: int | None = None,
    more: str = "",
) -> None:
    """Print lines below each other, the first behind a label; `more` says where those beyond `most` are."""
    for at, line in enumerate(lines[:most]):
        shown = f"{label if at == 0 else '':<{LABEL}} {line}"
        call.say(clip(shown, width()) if cut else shown)
    if most is not None and len(lines) > most:
        call.say(f"{'':<{LABEL}} {len(lines) - most} more{more and f': {more}'}")


def say_fact(call: Invocation, label: str, text: str) -> None:
    """Print a fact of one text behind its label."""
    say_facts(call, [fact(label, text)])


def say_facts(call: Invocation, facts: Iterable[Fact]) -> None:
    """Print facts, each behind its label, with what its figures rest on."""
    paint, room = call.paint, max(width() - LABEL - 2, _LEAST_ROOM)
    for label, parts, note, _ in facts:
        whole = (*parts, RowPart(f", {note}")) if note else parts
        row = tuple(RowPart(one_line(part.text), part.tone) for part in whole)
        for at, line in enumerate(wrap(row, room)):
            shown = paint(f"{label if at == 0 else '':<{LABEL}}", "dim")
            call.say(f"  {shown}{''.join(paint(part.text, part.tone) for part in line)}".rstrip())
