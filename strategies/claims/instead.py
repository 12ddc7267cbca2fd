"""The claim `instead`: which of two classes is used first, where either is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import Instead
from strategies.claims.applicability import Moment, first_use
from strategies.claims.claim_kind import ClaimKind
from strategies.claims.phrases import command

if TYPE_CHECKING:
    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord


def instead(claim: Instead, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `instead`, at the first use of either; what comes later shows nothing more."""
    done, avoided = first_use(record, claim.do), first_use(record, claim.avoid)
    if done is None and avoided is None:
        return None
    if done is None or (avoided is not None and avoided < done):
        return Moment(avoided or 0, obeyed=False)
    return Moment(done, obeyed=True)


def _contradicts(claim: Instead, other: Claim) -> bool:
    return isinstance(other, Instead) and (other.do, other.avoid) == (claim.avoid, claim.do)


def _sentence(claim: Instead) -> str:
    return f"To do what either does, {command(claim.do)}; do not {command(claim.avoid)}."


INSTEAD: Final = ClaimKind(moment=instead, contradicts=_contradicts, sentence=_sentence)
