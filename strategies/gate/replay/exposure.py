"""The moments at which claims apply to an episode, and whether it obeyed there."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from strategies.claims.applicability import Moment
from strategies.claims.catalogue import in_short_form, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

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
        return partial(kind_of(claim).moment, in_short_form(claim))
    itself = moments_of(claim.claim)

    def turned(record: EpisodeRecord) -> Moment | None:
        moment = itself(record)
        return None if moment is None else Moment(moment.step, not moment.obeyed)

    return turned


def first_moment(claims: Sequence[Claim | Inverse], record: EpisodeRecord) -> tuple[int, Moment] | None:
    """Find the claim whose moment comes first in an episode; ties go to the first named.

    Shapes: claims in gene order; answers with an index of the claims and its moment.
    """
    moments = [(at, moment) for at, claim in enumerate(claims) if (moment := moment_of(claim, record)) is not None]
    return min(moments, key=lambda met: met[1].step, default=None)


def moments_in(claim: Claim | Inverse, records: Iterable[EpisodeRecord]) -> Iterator[Moment | None]:
    """Find the moment of a claim in each of several episodes, one after the other."""
    return map(moments_of(claim), records)


def moments_of_each(
    claims: Iterable[Claim | Inverse], records: Sequence[EpisodeRecord]
) -> dict[Claim | Inverse, list[Moment | None]]:
    """Find the moment of each of several claims in each episode, once for all that ask."""
    return {claim: list(moments_in(claim, records)) for claim in dict.fromkeys(claims)}


def course_at(moments: Iterable[Moment | None]) -> list[tuple[int, bool]]:
    """List by which claims an episode is judged, by their index, and whether it obeyed each.

    Of claims that share a step, a later one asks only those who obeyed the earlier. Shapes: one moment a claim.
    """
    judged: list[tuple[int, bool]] = []
    disobeyed: set[int] = set()
    for index, moment in enumerate(moments):
        if moment is not None and moment.step not in disobeyed:
            judged.append((index, moment.obeyed))
            if not moment.obeyed:
                disobeyed.add(moment.step)
    return judged
