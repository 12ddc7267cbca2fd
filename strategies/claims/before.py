"""The claim `before`: what comes immediately before the first use of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import Before, StartWith
from strategies.claims.action_phrases import command
from strategies.claims.applicability import Moment, is_preceded_by
from strategies.claims.claim_kind import ClaimKind
from strategies.episodes.action_class import of_class, overlap

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord


def before(claim: Before, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `before`: it looks one step back from the first use of the class.

    An episode that opens with the class has nothing before it, and did not obey.
    """
    called = of_class(claim.action)
    for at, step in enumerate(record.steps):
        if called[step.action] and step.kind == "call":
            return Moment(at, is_preceded_by(record, at, claim.do))
    return None


def _contradicts(claim: Before, other: Claim) -> bool:
    """Only one action can stand immediately before another, and none before the first of all."""
    if isinstance(other, StartWith):
        return overlap(other.do, claim.action)
    if not isinstance(other, Before):
        return False
    same = other.action == claim.action and not overlap(other.do, claim.do)
    turned_round = overlap(other.action, claim.do) and overlap(other.do, claim.action)
    return same or turned_round


def _sentence(claim: Before) -> str:
    return f"Before you {command(claim.action)} for the first time, {command(claim.do)}."


BEFORE: Final = ClaimKind(moment=before, contradicts=_contradicts, sentence=_sentence)
