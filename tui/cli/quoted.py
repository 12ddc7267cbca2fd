"""Evidence: where it stands in logs, what it says, and whether it still stands there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tui.cli.facts import LABEL, folded, say_fact
from tui.cli.paint import clip, one_line, width
from tui.figures import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.erasing import ErasedEvidence
    from registry.provenance import KeptEvidence
    from tui.cli.invocation import Invocation

_SHOWN: Final = 2
"""Pieces of evidence that are shown unasked."""
_BETWEEN: Final = len("  " * 4)
"""What stands before a label, and between a place, its text and what is said of it."""
_ROOM: Final = 40
"""A text with less room than this goes below its place."""


def evidence_json(evidence: Sequence[KeptEvidence], there: Sequence[bool]) -> list[dict[str, Any]]:
    """Give pieces of evidence as JSON; `there` says of each whether its bytes still stand in their log."""
    return [
        {
            "id": kept.id,
            "file": kept.evidence.file,
            "line": kept.evidence.line,
            "byte_start": kept.evidence.byte_start,
            "byte_end": kept.evidence.byte_end,
            "hmac": kept.evidence.hmac,
            "text": kept.evidence.text,
            "redactions": [
                {"start": one.start, "end": one.end, "rule": one.rule} for one in kept.evidence.redactions
            ],
            "episode": kept.evidence.episode,
            "still_there": still,
        }
        for kept, still in zip(evidence, there, strict=True)
    ]


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
    places = [f"{Path(kept.evidence.file).name}, byte {kept.evidence.byte_start:,}" for kept in shown]
    column = max(map(len, places), default=0)
    for at, (kept, place, still) in enumerate(zip(shown, places, there, strict=False)):
        said = "still there" if still else "no longer there"
        found = said if still else call.paint(said, "warn")
        label = call.paint(f"{'evidence' if at == 0 else '':<{LABEL}}", "dim")
        room = width() - LABEL - column - _BETWEEN - len(said)
        text = one_line(kept.evidence.text)
        if room >= min(_ROOM, len(text)):
            call.say(f"  {label}{place:<{column}}   {clip(text, room)}   {found}")
        else:
            room = width() - LABEL - 4
            if len(f"{place}, {said}") <= room + 2:
                call.say(f"  {label}{place}, {found}")
                call.say(f"  {'':<{LABEL}}  {clip(text, room)}")
            else:
                for line in folded(place, room + 2):
                    call.say(f"  {label}{line}")
                    label = f"{'':<{LABEL}}"
                call.say(f"  {label}  {clip(text, room - len(said) - 3)}   {found}")
    left = len(evidence) - len(shown)
    if left:
        say_fact(call, "", f"{left} more: --all")
    for (on, reason), number in Counter((one.at[:10], one.reason) for one in erased).items():
        first = "" if evidence else "evidence"
        say_fact(call, first, f"{count(number, 'piece')} erased on {on} because {reason}")
