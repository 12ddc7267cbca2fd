"""Evidence: where it is in logs, what it says, and whether it is still there."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from tui.cli.output.color import width
from tui.cli.output.facts import LABEL, folded, say_fact, say_facts
from tui.facts.evidence import STILL_THERE, erased_words
from tui.facts.fact import listed
from tui.text.terminal_text import clip, one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.query.provenance import KeptEvidence
    from registry.query.signals import ErasedEvidence
    from tui.cli.output.invocation import Invocation

_SHOWN: Final = 2
"""Pieces of evidence that are shown unasked."""
_BETWEEN: Final = len("  " * 4)
"""What stands before a label, and between a place, its text and what is said of it."""
_ROOM: Final = 40
"""A text with less room than this goes below its place."""


def shown_of(evidence: Sequence[KeptEvidence], *, every: bool) -> Sequence[KeptEvidence]:
    """Give the first pieces of evidence, or every one: those that are read again in their logs and printed."""
    return evidence if every else evidence[:_SHOWN]


def print_evidence(
    call: Invocation,
    evidence: Sequence[KeptEvidence],
    erased: Sequence[ErasedEvidence],
    there: Sequence[bool],
    *,
    every: bool,
) -> None:
    """Print the first pieces of evidence, or every one, and what was erased; `there` says it of those shown."""
    shown = shown_of(evidence, every=every)
    places = [f"{one_line(Path(kept.evidence.file).name)}, byte {kept.evidence.byte_start:,}" for kept in shown]
    column = max(map(len, places), default=0)
    for at, (kept, place, still) in enumerate(zip(shown, places, there, strict=False)):
        words, tone = STILL_THERE[still]
        state = call.paint(words, tone)
        label = call.paint(f"{'evidence' if at == 0 else '':<{LABEL}}", "dim")
        room = width() - LABEL - column - _BETWEEN - len(words)
        text = one_line(kept.evidence.text)
        if room >= min(_ROOM, len(text)):
            call.say(f"  {label}{place:<{column}}   {clip(text, room)}   {state}")
        else:
            room = width() - LABEL - 4
            if len(f"{place}, {words}") <= room + 2:
                call.say(f"  {label}{place}, {state}")
                call.say(f"  {'':<{LABEL}}  {clip(text, room)}")
            else:
                for line in folded(place, room + 2):
                    call.say(f"  {label}{line}")
                    label = f"{'':<{LABEL}}"
                call.say(f"  {label}  {clip(text, room - len(words) - 3)}   {state}")
    left = len(evidence) - len(shown)
    if left:
        say_fact(call, "", f"{left} more: --all")
    say_facts(call, listed("" if evidence else "evidence", erased_words(erased), "warn"))
