"""Which claim an episode is judged by, and whether it obeyed; one line of registration for each kind of claim."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING

from events.claims import After, AfterError
from strategies.gate.after import after
from strategies.gate.after_error import after_error
from strategies.gate.moment import Moment, matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.claims import Claim
    from strategies.logs.episode import EpisodeRecord


@singledispatch
def moment_of(claim: Claim, record: EpisodeRecord) -> Moment | None:
    """Find the moment at which a claim applies to an episode; None where it never does."""
    raise TypeError(f"no way to judge a claim of kind {claim.kind!r} over {record.id}")


moment_of.register(AfterError)(after_error)
moment_of.register(After)(after)


def first_moment(claims: Sequence[Claim], record: EpisodeRecord) -> tuple[int, Moment] | None:
    """Find the claim that an episode is judged by: the one whose moment comes first; ties go to the first named.

    Shapes: claims in gene order; answers with an index of the claims and its moment.
    """
    first: tuple[int, Moment] | None = None
    for index, claim in enumerate(claims):
        moment = moment_of(claim, record)
        if moment is not None and (first is None or moment.step < first[1].step):
            first = index, moment
    return first


def contradicts(one: Claim, other: Claim) -> bool:
    """Tell whether two claims ask for actions that exclude each other at the same moment."""
    if isinstance(one, AfterError) and isinstance(other, AfterError):
        if not (matches(one.template, other.template) or matches(other.template, one.template)):
            return False
        both_do = one.do is not None and other.do is not None and one.do != other.do
        crossed = (one.do is not None and one.do == other.avoid) or (
            other.do is not None and other.do == one.avoid
        )
        return both_do or crossed
    return False  # two `after` claims only ever avoid
