"""Episodes that a claim is held against: what all who ask about it need to know, found once."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from strategies.gate.replay.contrast import cases_at
from strategies.gate.replay.decisions import decisions_in
from strategies.gate.replay.exposure import moments_in
from strategies.gate.stats.mantel_haenszel import stratifier

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from events.types.claims import Claim
    from strategies.claims.applicability import Moment
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.contrast import Case
    from strategies.gate.replay.decisions import Decision
    from strategies.gate.replay.exposure import Inverse
    from strategies.gate.stats.mantel_haenszel import Stratum


class ClaimedEpisodes:
    """A claim, the episodes that it is held against, its moment in each, and what was decided there.

    Shapes: all records have an outcome; the moment of each, and their strata, where these are known already.
    """

    def __init__(
        self,
        claim: Claim | Inverse,
        records: Sequence[EpisodeRecord],
        moments: Sequence[Moment | None] | None = None,
        strata: Callable[[EpisodeRecord], Stratum] | None = None,
    ) -> None:
        self.claim = claim
        self.records = records
        self.moments = list(moments_in(claim, records)) if moments is None else moments
        self._strata = strata

    def with_more(self, records: Sequence[EpisodeRecord]) -> ClaimedEpisodes:
        """Hold the claim against further episodes as well."""
        moments = [*self.moments, *moments_in(self.claim, records)]
        return ClaimedEpisodes(self.claim, [*self.records, *records], moments)

    @cached_property
    def stratum_of(self) -> Callable[[EpisodeRecord], Stratum]:
        """How these episodes are stratified."""
        return self._strata or stratifier(self.records)

    @cached_property
    def cases(self) -> list[Case]:
        """The episodes that reach the moment."""
        return cases_at(self.records, self.moments, self.stratum_of)

    @cached_property
    def decisions(self) -> list[list[Decision]]:
        """What was decided in each episode."""
        return decisions_in(self.claim, self.records, self.moments)
