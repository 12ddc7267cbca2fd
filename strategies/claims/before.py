"""The claim `before`: what comes immediately before the first use of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import Before, StartWith
from strategies.claims.applicability import Moment, previous_action
from strategies.claims.claim_kind import ClaimKind
from strategies.claims.phrases import command

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord


def before(claim: Before, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `before`: it looks one step back from the first use of the class.

    An episode that opens with the class has nothing before it, and did not obey.
    """
    first = next(
        (i for i, step in enumerate(record.steps) if step.kind == "call" and step.action == claim.action), None
    )
    if first is None:
        return None
    earlier = previous_action(record, first)
    return Moment(first, earlier is not None and record.steps[earlier].action == claim.do)


def _contradicts(claim: Before, other: Claim) -> bool:
    """Only one action can stand immediately before another, and none before the first of all."""
    if isinstance(other, StartWith):
        return other.do == claim.action
    if not isinstance(other, Before):
        return False
    same = other.action == claim.action and other.do != claim.do
    turned_round = other.action == claim.do and other.do == claim.action
    return same or turned_round


def _sentence(claim: Before) -> str:
    return f"Before you {command(claim.action)} for the first time, {command(claim.do)}."


BEFORE: Final = ClaimKind(moment=before, contradicts=_contradicts, sentence=_sentence)
