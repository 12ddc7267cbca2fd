"""The claim `instead`: which of two classes is used first, where either is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import Instead
from strategies.claims.action_phrases import command
from strategies.claims.applicability import Moment
from strategies.claims.claim_kind import ClaimKind
from strategies.episodes.action_class import covered_by

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord


def instead(claim: Instead, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `instead`, at the first use of either; what comes later shows nothing more."""
    does, avoided = covered_by(claim.do), covered_by(claim.avoid)
    for at, step in enumerate(record.steps):
        if (does[step.action] or avoided[step.action]) and step.kind == "call":
            return Moment(at, does[step.action])
    return None


def _contradicts(claim: Instead, other: Claim) -> bool:
    return isinstance(other, Instead) and (other.do, other.avoid) == (claim.avoid, claim.do)


def _sentence(claim: Instead) -> str:
    return f"To do what either does, {command(claim.do)}; do not {command(claim.avoid)}."


INSTEAD: Final = ClaimKind(moment=instead, contradicts=_contradicts, sentence=_sentence)
