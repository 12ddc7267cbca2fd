"""The claim `anytime_before`: what is done at some time before the first use of a class, or before the end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import HAND_IN, AnytimeBefore, Before, StartWith
from strategies.claims.action_phrases import command
from strategies.claims.applicability import Moment, first_use, last_action
from strategies.claims.claim_kind import ClaimKind
from strategies.episodes.action_class import covered_by, overlap

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord


def anytime_before(claim: AnytimeBefore, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `anytime_before`: a call of an earlier turn obeys, whatever came of it.

    Before the end means of every episode: of those that the agent ends itself, who checked has mostly seen a check
    that passed, and who saw one fail went on.
    """
    end = last_action(record) if claim.action == HAND_IN else first_use(record, claim.action)
    if end is None:
        return None
    turn, does = record.steps[end].turn, covered_by(claim.do)
    obeyed = any(does[step.action] and step.turn < turn and step.kind == "call" for step in record.steps[:end])
    return Moment(end, obeyed)


def _contradicts(claim: AnytimeBefore, other: Claim) -> bool:
    """Two orders turned round exclude each other, and nothing comes before the first action of all."""
    if isinstance(other, StartWith):
        return overlap(other.do, claim.action)
    if not isinstance(other, (AnytimeBefore, Before)):
        return False
    return overlap(other.action, claim.do) and overlap(other.do, claim.action)


def _sentence(claim: AnytimeBefore) -> str:
    return f"Before you {command(claim.action)}, {command(claim.do)} at least once."


ANYTIME_BEFORE: Final = ClaimKind(moment=anytime_before, contradicts=_contradicts, sentence=_sentence)
