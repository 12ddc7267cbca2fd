"""Everything that was tried for one signal, as rows: what it said, how it was measured, why it fell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.figures import age, interval, signed
from tui.views.claims import claim_text
from tui.views.marks import VERDICTS, tone_of
from tui.views.rows import BLANK, Part, clean, cut_row, labelled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.candidate import Candidate
    from tui.views.rows import Row


def tried_rows(tried: Sequence[Candidate], width: int, now: str) -> list[Row]:
    """Write each candidate with its lines, its claims, its figures and the reasons of its verdict."""
    rows: list[Row] = []
    for one in tried:
        rows += [BLANK] if rows else []
        rows += _candidate(one, width - 2, now)
    rows = rows or [(Part("nothing else was tried", "dim"),)]
    return [(Part(" "), *cut_row(row, width - 2)) if row else BLANK for row in rows]


def _candidate(one: Candidate, width: int, now: str) -> list[Row]:
    mark, tone = VERDICTS["reject" if one.reverted else one.verdict]
    proposed = one.proposed
    where = (
        f"{proposed.capsule}@{one.version}" if one.version else f"for {proposed.capsule}@{proposed.base_version}"
    )
    head = f"{where}, {proposed.strategy} by {clean(proposed.proposer)}, {age(one.at, now)}, event {one.position}"
    rows: list[Row] = [(Part(f"{mark} {verdict_word(one)}", tone), Part(f"   {head}", "dim"))]
    for text in (text for text in proposed.new_lines if text.strip()):
        rows += labelled("", (Part(clean(text).strip(), "strong"),), width, limit=3)
    for at, claim in enumerate((*proposed.claims, *proposed.removes)):
        rows += labelled("" if at else "claim", (Part(claim_text(claim)),), width, limit=3)
    if figures := effect_part(one):
        rows += labelled("effect", (figures,), width)
    for at, reason in enumerate(one.reasons):
        rows += labelled("" if at else "because", (Part(clean(reason)),), width, limit=3)
    return rows


def verdict_word(one: Candidate) -> str:
    """Say what became of a candidate."""
    if one.reverted:
        return "promoted, and taken back since"
    words = {"promote": "promoted", "reject": "rejected", "hold": "held", None: "not judged"}
    return words[one.verdict]


def effect_part(one: Candidate) -> Part | None:
    """Write what was measured of a candidate in a few cells; None where nothing was."""
    scored = one.scored
    if scored and scored.rollouts and scored.delta:
        delta = scored.delta
        return Part(
            f"{signed(delta.value, 2)} {interval(delta.low, delta.high, 2)}", tone_of(delta.low, delta.high)
        )
    if scored and scored.effect:
        effect = scored.effect
        figures = f"{signed(effect.risk_difference, 2)} {interval(effect.low, effect.high, 2)}"
        return Part(figures, tone_of(effect.low, effect.high))
    return None
