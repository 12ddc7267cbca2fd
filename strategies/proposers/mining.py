"""Fitting claims on explore: the one mechanism behind every proposer that needs no model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.claims.kinds import sentence
from strategies.gate.policy import WRITTEN_RULE
from strategies.gate.strata import survivors, two_sided_p
from strategies.proposers.proposal import LearnedLine, Mined, Proposal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from events.claims import Claim
    from events.score import Endpoint
    from strategies.gate.contrast import Contrast
    from strategies.proposers.proposal import Ask

FALSE_DISCOVERIES: Final = 0.05
"""The rate that Benjamini-Yekutieli holds on explore (replay_and_gate.md, Offline miner)."""


class Fitted(NamedTuple):
    """What was compared on explore: those that survive, how many were tried, and the strongest of all."""

    surviving: dict[Claim, Contrast]
    tried: int
    strongest: Contrast | None


def fitted(compared: Mapping[Claim, Contrast | None], *, tried_before: int = 0) -> Fitted:
    """Try what has 20 episodes on either side, and keep what survives Benjamini-Yekutieli over all tried.

    `tried_before` claims of the same cycle did not survive: they count as tried with p = 1.
    """
    known = {claim: figures for claim, figures in compared.items() if figures is not None}
    tried = [claim for claim, figures in known.items() if _large_enough(figures)]
    p_values = [*(two_sided_p(known[claim].z) for claim in tried), *([1.0] * tried_before)]
    kept = survivors(p_values, FALSE_DISCOVERIES)
    return Fitted(
        surviving={claim: known[claim] for index, claim in enumerate(tried) if index in kept},
        tried=len(tried),
        strongest=max(known.values(), key=lambda figures: abs(figures.z), default=None),
    )


def mine(proposer: str, ask: Ask, claims: Iterable[Claim], lines: Mapping[Claim, str] | None = None) -> Mined:
    """Fit claims on explore, and propose the one that goes with better outcomes most surely, of those not refused.

    Claims that the skill makes already are passed over. `lines` are the words for claims that have words already;
    the others get the sentence of their kind.
    """
    live = {one.claim for gene in ask.capsule.genes for one in gene.claims} if ask.capsule else set()
    shown = ask.explore.shows_all(claim for claim in claims if claim not in live)
    found = fitted({claim: one.figures for claim, one in shown.items()}, tried_before=ask.tried_before)
    helping = {claim: figures for claim, figures in found.surviving.items() if figures.z > 0}
    left = [claim for claim in helping if claim not in ask.refused]
    best = max(left, key=lambda claim: helping[claim].z, default=None)
    if best is None:
        return Mined(None, found.tried, found.strongest, refused=len(helping))
    line = (lines or {}).get(best) or sentence(best)
    reason = explained(helping[best], found.tried + ask.tried_before, len(found.surviving), shown[best].endpoint)
    proposal = Proposal(proposer, (LearnedLine(line, best),), reason, shown[best].endpoint)
    return Mined(proposal, found.tried, found.strongest)


def explained(figures: Contrast, tried: int, kept: int, endpoint: Endpoint = "outcome") -> str:
    """Say what explore showed for the claim that is judged, and by what."""
    alone = "by `recovered` alone (whether the next attempt works): " if endpoint == "recovered" else ""
    return (
        f"{alone}explore: {figures.obeyed} episodes obeyed, {figures.disobeyed} did not; "
        f"risk difference {figures.difference.value:+.2f}, z {figures.z:+.1f}; "
        f"{kept} of {tried} claims tried survive Benjamini-Yekutieli at q = {FALSE_DISCOVERIES:g}"
    )


def _large_enough(figures: Contrast) -> bool:
    return min(figures.obeyed, figures.disobeyed) >= WRITTEN_RULE.least_arm
