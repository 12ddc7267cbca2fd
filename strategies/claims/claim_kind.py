"""What every kind of claim brings: its moment, its contradictions and its sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from events.types.frozen import Frozen

if TYPE_CHECKING:
    from collections.abc import Callable

    from events.types.claims import Claim
    from strategies.claims.applicability import Moment
    from strategies.episodes.episode import EpisodeRecord

ClaimT = TypeVar("ClaimT", bound=Frozen)


@dataclass(frozen=True)
class ClaimKind(Generic[ClaimT]):
    """One kind of claim; all three are pure functions.

    `moment` finds where a claim applies to an episode, and whether it was obeyed there: exposure is decided at
    one moment, by the very next action, never by how long an episode went on. `contradicts` tells whether it and
    another claim ask for actions that exclude each other at the same moment; one of the two kinds needs to know.
    `sentence` writes the line for a skill, without a line ending.
    """

    moment: Callable[[ClaimT, EpisodeRecord], Moment | None]
    contradicts: Callable[[ClaimT, Claim], bool]
    sentence: Callable[[ClaimT], str]
