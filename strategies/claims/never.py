"""The claim `never`: a class that is not used at all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.claims.action_phrases import command
from strategies.claims.applicability import Moment, first_use, last_action
from strategies.claims.claim_kind import ClaimKind
from strategies.episodes.action_class import is_of

if TYPE_CHECKING:
    from events.types.claims import Claim, Never
    from strategies.episodes.episode import EpisodeRecord


def never(claim: Never, record: EpisodeRecord) -> Moment | None:
    """Judge an episode by `never`: at the first use, else at its end."""
    used = first_use(record, claim.avoid)
    if used is not None:
        return Moment(used, obeyed=False)
    last = last_action(record)
    return None if last is None else Moment(last, obeyed=True)


def _contradicts(claim: Never, other: Claim) -> bool:
    do = getattr(other, "do", None)
    return do is not None and is_of(do, claim.avoid)


def _sentence(claim: Never) -> str:
    return f"Do not {command(claim.avoid)}."


NEVER: Final = ClaimKind(moment=never, contradicts=_contradicts, sentence=_sentence)
