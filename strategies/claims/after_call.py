"""The claim `after_call`: what the next action is after the first (failing) call of a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import After, AfterCall
from strategies.claims.action_phrases import command
from strategies.claims.applicability import Moment, next_action
from strategies.claims.claim_kind import ClaimKind
from strategies.episodes.action_class import is_class, of_class, overlap

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord


def after_call(claim: AfterCall, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `after_call`, at the first call of the class that counts."""
    called, failing = of_class(claim.action), claim.failing
    for at, step in enumerate(record.steps):
        if (step.error or not failing) and called[step.action] and step.kind == "call":
            following = next_action(record, at)
            return None if following is None else Moment(at, is_class(record.steps[following].action, claim.do))
    return None


def _contradicts(claim: AfterCall, other: Claim) -> bool:
    """One action alone can come next, and not the one that another line forbids there."""
    if isinstance(other, After):
        return overlap(claim.action, other.action) and not other.identical and is_class(claim.do, other.avoid)
    if not isinstance(other, AfterCall) or claim.failing != other.failing:
        return False
    return overlap(claim.action, other.action) and not overlap(claim.do, other.do)


def _sentence(claim: AfterCall) -> str:
    if claim.failing:
        return f"When you {command(claim.action)} and it fails, {command(claim.do)} before you try again."
    return f"After you {command(claim.action)} for the first time, {command(claim.do)} next."


AFTER_CALL: Final = ClaimKind(moment=after_call, contradicts=_contradicts, sentence=_sentence)
