"""The claim `finish_with`: what an agent does last before it ends the episode itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import FinishWith
from strategies.claims.action_phrases import command
from strategies.claims.applicability import Moment, is_preceded_by, last_action
from strategies.claims.claim_kind import ClaimKind
from strategies.episodes.action_class import overlap

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord


def finish_with(claim: FinishWith, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `finish_with`, where the agent itself ends it; never where success or a limit did."""
    last = last_action(record) if record.ended_by == "agent" else None
    if last is None:
        return None
    return Moment(last, is_preceded_by(record, last, claim.do))


def _contradicts(claim: FinishWith, other: Claim) -> bool:
    """Only one action can stand last."""
    return isinstance(other, FinishWith) and not overlap(other.do, claim.do)


def _sentence(claim: FinishWith) -> str:
    return f"Before you finish, {command(claim.do)} as the last step."


FINISH_WITH: Final = ClaimKind(moment=finish_with, contradicts=_contradicts, sentence=_sentence)
