"""Moves of audits as facts: what each changed, and who asked for it; many commands tell them, and run no audit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.facts.fact import fact

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from events.types.audit_events import AuditMove
    from tui.facts.fact import Fact


def move_facts(moves: Iterable[AuditMove]) -> Iterator[Fact]:
    """Say who asked for each move of an audit and why, with the two runs side by side where they part."""
    for move in moves:
        yield fact("audit", move_words(move))
        yield fact("asked by", f"{move.evaluator} on {move.task}: {move.reason}")
        if not move.step:
            yield fact("runs", "the agent did the same with the skill and without")
            continue
        yield fact("with it", f"step {move.step}: {move.with_skill}")
        yield fact("without", f"step {move.step}: {move.without_skill}")


def move_words(move: AuditMove) -> str:
    """Say what a move takes away and brings."""
    brought = " / ".join(line.strip() for line in move.lines if line.strip())
    what = f"{move.quote} → {brought}" if move.quote and brought else move.quote or brought
    return f"{move.move}: {what or ', '.join(move.files)}"
