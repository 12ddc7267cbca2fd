"""Facts: a label in one column, what it says beside it, wrapped to the terminal."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Final

from tui.cli.paint import one_line, width

if TYPE_CHECKING:
    from tui.cli.invocation import Invocation

LABEL: Final = 10
"""Columns of the labels: "signal", "evidence" …"""


def say_fact(call: Invocation, label: str, text: str) -> None:
    """Print a fact behind its label."""
    said, room = one_line(text), max(width() - LABEL - 2, 30)
    fits = len(said) <= room and said == said.strip()  # most do, and are not worth looking for places to break
    lines = [said] if fits else wrap(said, room, break_on_hyphens=False) or [""]
    for at, line in enumerate(lines):
        shown = label if at == 0 else ""
        call.say(f"  {call.paint(f'{shown:<{LABEL}}', 'dim')}{line}".rstrip())
