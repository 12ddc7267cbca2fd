"""The tier of a draft: what its figures come to where a preset or a person keeps it from becoming a version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.types.candidate_events import AWAITS_PERSON
from registry.query.tier_sentences import tier_sentence
from registry.state.tiers import tier_at_promotion
from strategies.tiers.seen import is_offered

if TYPE_CHECKING:
    from events.types.candidate_events import CandidateProposed, CandidateScored
    from events.types.tiers import SeenFigures, TierFigures
    from strategies.policy.presets import Preset


def unprojected(preset: Preset, proposed: CandidateProposed, *, by_runs: bool) -> str:
    """Say that a preset lets no line of a tier become a version by itself; "" where it does."""
    tier = "proven" if by_runs else "supported"
    if not proposed.new_lines or tier in preset.projected:
        return ""
    return f"{AWAITS_PERSON}the preset {preset.name} lets no {tier} line become a version without a person"


def draft_tier(
    proposed: CandidateProposed,
    scored: CandidateScored,
    seen: SeenFigures | None,
    reasons: tuple[str, ...],
    preset: Preset,
) -> TierFigures | None:
    """Tell the tier of a candidate that is held; None where its figures speak for nothing.

    Where only a person's word is missing it is what a promotion would have made of it; else at most seen.
    """
    if reasons[:1] and reasons[0].startswith(AWAITS_PERSON):
        return tier_at_promotion(proposed, scored)
    return seen if seen is not None and preset.drafts_seen and is_offered(seen) else None


def draft_reason(figures: TierFigures) -> str:
    """Say why a held candidate has a tier: it is offered to a person with what is known."""
    return f"offered as {figures.tier}: {tier_sentence(figures)}"
