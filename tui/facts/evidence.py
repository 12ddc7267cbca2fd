"""Evidence in words: whether a record is still in its log, and what was erased."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from tui.text.numbers import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from registry.query.provenance import KeptEvidence
    from registry.query.signals import ErasedEvidence
    from tui.text.rows import Tone

STILL_THERE: Final[dict[bool | None, tuple[str, Tone]]] = {
    None: ("…", "dim"),
    True: ("✓ still there", "good"),
    False: ("✗ gone", "warn"),
}
"""What is said of a record by whether its bytes are still in their log; None while that is being read."""


def erased_words(erased: Iterable[ErasedEvidence]) -> Iterator[str]:
    """Say how many pieces were erased on which day, and why."""
    for (day, reason), number in Counter((piece.at[:10], piece.reason) for piece in erased).items():
        yield f"✗ {count(number, 'piece')} erased on {day} because {reason}"


def redaction_words(kept: KeptEvidence) -> str:
    """Say how many pieces of a text were removed by which rules, "" where none was."""
    rules = Counter(mark.rule for mark in kept.evidence.redactions)
    named = ", ".join(f"{rule} {number}×" if number > 1 else rule for rule, number in rules.items())
    return f"{count(len(kept.evidence.redactions), 'redaction')}: {named}" if rules else ""
