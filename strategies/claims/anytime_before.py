"""The claim `anytime_before`: what is done at some time before the first use of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import AnytimeBefore, Before
from strategies.claims.applicability import Moment, first_use
from strategies.claims.claim_kind import ClaimKind
from strategies.claims.phrases import command
from strategies.episodes.action_class import is_of

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord


def anytime_before(claim: AnytimeBefore, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `anytime_before`: a call of an earlier turn obeys, whatever came of it."""
    end = first_use(record, claim.action)
    if end is None:
        return None
    turn = record.steps[end].turn
    earlier = (step for step in record.steps[:end] if step.turn < turn and step.kind == "call")
    return Moment(end, any(is_of(step.action, claim.do) for step in earlier))


def _contradicts(claim: AnytimeBefore, other: Claim) -> bool:
    """Two orders turned round exclude each other."""
    return isinstance(other, AnytimeBefore | Before) and (other.action, other.do) == (claim.do, claim.action)


def _sentence(claim: AnytimeBefore) -> str:
    return f"Before you {command(claim.action)}, {command(claim.do)} at least once."


ANYTIME_BEFORE: Final = ClaimKind(moment=anytime_before, contradicts=_contradicts, sentence=_sentence)
