"""The explore split as proposers see it: what it shows of a claim is worked out once, however many signals ask."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from strategies.gate.contrast import cases_of, contrast
from strategies.gate.outcomes import judged
from strategies.gate.recovered import attempts, endpoint_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.claims import Claim
    from events.score import Endpoint
    from strategies.gate.contrast import Contrast
    from strategies.gate.exposure import Inverse
    from strategies.gate.outcomes import Judged
    from strategies.logs.episode import EpisodeRecord


class Shown(NamedTuple):
    """What a claim is judged by, and its figures there; None where no stratum holds both arms."""

    endpoint: Endpoint
    figures: Contrast | None


class Explore:
    """Episodes that anyone may mine, and the figures of each claim that was held against them so far.

    Signals of one run lead to the same claims over and over: a run makes one of these and passes it to them all.
    """

    def __init__(self, records: Sequence[EpisodeRecord]) -> None:
        self.records = records
        self._by_outcome: dict[Claim | Inverse, Contrast | None] = {}
        self._shown: dict[Claim, Shown] = {}

    @property
    def judged(self) -> tuple[EpisodeRecord, ...]:
        """The episodes whose outcome is known, or guessed where none is known."""
        return self._judged.records

    @cached_property
    def _judged(self) -> Judged:
        return judged(self.records)

    def endpoint_for(self, claim: Claim) -> Endpoint:
        """Choose what a claim is judged by here."""
        return endpoint_for(claim, self.records, self._judged)

    def by_outcome(self, claim: Claim | Inverse) -> Contrast | None:
        """Compare those who obeyed with those who did not, by how their tasks ended."""
        if claim not in self._by_outcome:
            self._by_outcome[claim] = contrast(cases_of(claim, self.judged))
        return self._by_outcome[claim]

    def shows(self, claim: Claim) -> Shown:
        """Compare the same by whatever judges this claim here."""
        if claim not in self._shown:
            self._shown[claim] = self._compared(claim)
        return self._shown[claim]

    def _compared(self, claim: Claim) -> Shown:
        endpoint = self.endpoint_for(claim)
        if endpoint == "outcome":
            return Shown(endpoint, self.by_outcome(claim))
        return Shown(endpoint, contrast(cases_of(claim, attempts(claim, self.records))))
