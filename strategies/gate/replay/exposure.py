"""Which claim an episode is judged by, and whether it obeyed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from strategies.claims.applicability import Moment
from strategies.claims.catalogue import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord


@dataclass(frozen=True)
class Inverse:
    """A claim turned round, which asks for what the claim forbids; it is measured, never written down."""

    claim: Claim


def moment_of(claim: Claim | Inverse, record: EpisodeRecord) -> Moment | None:
    """Find the moment at which a claim applies to an episode; None where it never does.

    Raises: TypeError for what is no claim; UsageError for a claim whose package is not installed.
    """
    return moments_of(claim)(record)


def moments_of(claim: Claim | Inverse) -> Callable[[EpisodeRecord], Moment | None]:
    """Give what `moment_of` answers for any episode, for those who ask about many.

    Raises: as `moment_of`.
    """
    if not isinstance(claim, Inverse):
        return partial(kind_of(claim).moment, claim)
    itself = moments_of(claim.claim)

    def turned(record: EpisodeRecord) -> Moment | None:
        moment = itself(record)
        return None if moment is None else Moment(moment.step, not moment.obeyed)

    return turned


def first_moment(claims: Sequence[Claim | Inverse], record: EpisodeRecord) -> tuple[int, Moment] | None:
    """Find the claim that an episode is judged by: the one whose moment comes first; ties go to the first named.

    Shapes: claims in gene order; answers with an index of the claims and its moment.
    """
    return first_moments_of(claims)(record)


def first_moments_of(
    claims: Sequence[Claim | Inverse],
) -> Callable[[EpisodeRecord], tuple[int, Moment] | None]:
    """Give what `first_moment` answers for any episode, for those who ask about many."""
    ways = [moments_of(claim) for claim in claims]

    def judge(record: EpisodeRecord) -> tuple[int, Moment] | None:
        first: tuple[int, Moment] | None = None
        for index, find in enumerate(ways):
            moment = find(record)
            if moment is not None and (first is None or moment.step < first[1].step):
                first = index, moment
        return first

    return judge
