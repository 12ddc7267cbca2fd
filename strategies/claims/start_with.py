"""The claim `start_with`: what the first action of an episode is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import StartWith
from strategies.claims.action_phrases import command
from strategies.claims.applicability import Moment, first_action
from strategies.claims.claim_kind import ClaimKind
from strategies.episodes.action_class import is_class, overlap

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord


def start_with(claim: StartWith, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `start_with`; one without any action is no moment."""
    first = first_action(record)
    return None if first is None else Moment(first, is_class(record.steps[first].action, claim.do))


def _contradicts(claim: StartWith, other: Claim) -> bool:
    """An episode begins only once."""
    return isinstance(other, StartWith) and not overlap(other.do, claim.do)


def _sentence(claim: StartWith) -> str:
    return f"Begin each task with this: {command(claim.do)}."


START_WITH: Final = ClaimKind(moment=start_with, contradicts=_contradicts, sentence=_sentence)
