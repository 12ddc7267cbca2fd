"""The explore split as proposers see it: what it shows of a claim is worked out once, however many signals ask."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar, cast

from strategies.engines.share import HERE
from strategies.episodes.episode_records import packed, unpacked
from strategies.gate.replay.claimed_episodes import ClaimedEpisodes
from strategies.gate.replay.contrast import cases_of, contrast, judged, settings_of
from strategies.gate.replay.episode_index import EpisodeIndex
from strategies.gate.replay.leave_one_out import replication, stands
from strategies.gate.replay.recovery_endpoint import attempts, endpoint_for, recoverable
from strategies.gate.replay.replicates import turned_part
from strategies.gate.stats.mantel_haenszel import stratifier

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Sequence

    from events.types.claims import Claim
    from events.types.score import Endpoint
    from strategies.engines.share import Sharing
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.contrast import Case, Contrast, JudgeableEpisodes, Setting
    from strategies.gate.replay.exposure import Inverse
    from strategies.gate.stats.mantel_haenszel import Stratum

_T = TypeVar("_T")
_AskedT = TypeVar("_AskedT", bound="Claim | Inverse")

_CLAIM_S: Final = 6e-6
"""What one claim takes on one episode of six steps (measured)."""


class Shown(NamedTuple):
    """What a claim is judged by, and its figures there; None where no stratum holds both arms."""

    endpoint: Endpoint
    figures: Contrast | None


class Explore:
    """Episodes that anyone may mine, and the figures of each claim that was held against them so far.

    Signals of one run lead to the same claims over and over: a run makes one of these and passes it to them all.
    Claims that are asked about together are shared among workers, where that is worth it. To those it travels as
    its episodes, packed once; a worker unpacks them once, and remembers what they showed.
    """

    def __init__(self, records: Sequence[EpisodeRecord], sharing: Sharing = HERE) -> None:
        self.records = records
        self._sharing = sharing
        self._by_outcome: dict[Claim | Inverse, Contrast | None] = {}
        self._shown: dict[Claim, Shown] = {}
        self._known: dict[Hashable, object] = {}

    def __reduce__(self) -> tuple[Callable[[bytes], Explore], tuple[bytes]]:
        """Travel to another process as packed episodes."""
        return _arrived, (self._packed,)

    @property
    def judged(self) -> tuple[EpisodeRecord, ...]:
        """The episodes whose outcome is known, or guessed where none is known."""
        return self._judged.records

    @cached_property
    def _judged(self) -> JudgeableEpisodes:
        return judged(self.records)

    @cached_property
    def stratum_of(self) -> Callable[[EpisodeRecord], Stratum]:
        """How the judged episodes are stratified."""
        return stratifier(self.judged)

    @cached_property
    def _settings(self) -> list[Setting]:
        return settings_of(self.judged)

    @cached_property
    def _index(self) -> EpisodeIndex:
        """What is in the judged episodes."""
        return EpisodeIndex(self.judged)

    @cached_property
    def _whole_index(self) -> EpisodeIndex:
        """What is in all episodes."""
        return self._index if len(self.judged) == len(self.records) else EpisodeIndex(self.records)

    def judged_failing(self, template: str) -> tuple[EpisodeRecord, ...]:
        """The judged episodes in which a step failed with what fits a template."""
        return tuple(self.judged[place] for place in self._index.failing(template))

    def _reaching(self, claim: Claim) -> list[EpisodeRecord]:
        """All episodes that could reach the moment of a claim."""
        return [self.records[place] for place in self._whole_index.reaching(claim)]

    @cached_property
    def _packed(self) -> bytes:
        return packed(self.records)

    def endpoint_for(self, claim: Claim) -> Endpoint:
        """Choose what a claim is judged by here."""
        if len(self.judged) == len(self.records) and not self._judged.heuristic:
            return "outcome"
        return endpoint_for(claim, self._reaching(claim) if recoverable(claim) else ())

    def by_outcome(self, claim: Claim | Inverse) -> Contrast | None:
        """Compare those who obeyed with those who did not, by how their tasks ended."""
        if claim not in self._by_outcome:
            self._by_outcome[claim] = contrast(self._cases_of(claim))
        return self._by_outcome[claim]

    def _cases_of(self, claim: Claim | Inverse) -> list[Case]:
        """Find the judged episodes that reach a claim's moment, among those that could."""
        places, records, settings = self._index.reaching(claim), self.judged, self._settings
        if len(places) == len(records):
            return cases_of(claim, records, settings)
        return cases_of(claim, [records[place] for place in places], [settings[place] for place in places])

    def shows(self, claim: Claim) -> Shown:
        """Compare the same by whatever judges this claim here."""
        if claim not in self._shown:
            self._shown[claim] = self._compared(claim)
        return self._shown[claim]

    def once(self, question: Hashable, answer: Callable[[], _T]) -> _T:
        """Work out the answer to a question about these episodes when it is first asked."""
        if question not in self._known:
            self._known[question] = answer()
        return cast("_T", self._known[question])

    def judged_by(self, claim: Claim, endpoint: Endpoint) -> tuple[EpisodeRecord, ...]:
        """The episodes that can judge a claim, each with what it is judged by for its outcome."""
        return self.judged if endpoint == "outcome" else attempts(claim, self._reaching(claim))

    def held(self, claim: Claim, endpoint: Endpoint) -> ClaimedEpisodes:
        """Hold a claim against the episodes that can judge it."""
        if endpoint != "outcome":
            return ClaimedEpisodes(claim, self.judged_by(claim, endpoint))
        return ClaimedEpisodes(claim, self.judged, self._index.moments(claim), self.stratum_of)

    def replicates(self, claim: Claim, endpoint: Endpoint) -> bool:
        """Tell whether a claim holds here without the logs of any single origin."""

        def answer() -> bool:
            left = replication(self.held(claim, endpoint))
            return left is not None and stands(left, 0.0)

        return self.once(("replicates", claim, endpoint), answer)

    def turns(self, claim: Claim, endpoint: Endpoint) -> bool:
        """Tell whether obeying a claim surely goes with the opposite in some part of these episodes."""
        return self.once(("turns", claim, endpoint), lambda: bool(turned_part(self.held(claim, endpoint))))

    def all_by_outcome(self, claims: Iterable[_AskedT]) -> dict[_AskedT, Contrast | None]:
        """Compare by how tasks ended, for each of several claims."""
        asked = tuple(dict.fromkeys(claims))
        new = [claim for claim in asked if claim not in self._by_outcome]
        self._by_outcome.update(zip(new, self._shared(self._each_by_outcome, new), strict=True))
        return {claim: self._by_outcome[claim] for claim in asked}

    def shows_all(self, claims: Iterable[Claim]) -> dict[Claim, Shown]:
        """Compare by whatever judges each of several claims."""
        asked = tuple(dict.fromkeys(claims))
        new = [claim for claim in asked if claim not in self._shown]
        for claim, shown in zip(new, self._shared(self._each_shown, new), strict=True):
            self._shown[claim] = shown
            if shown.endpoint == "outcome":
                self._by_outcome[claim] = shown.figures
        return {claim: self._shown[claim] for claim in asked}

    def _shared(self, answers: Callable[[Sequence[_AskedT]], list[_T]], claims: Sequence[_AskedT]) -> list[_T]:
        return self._sharing.map(answers, claims, seconds=_CLAIM_S * len(self.records) * len(claims))

    def _each_by_outcome(self, claims: Sequence[Claim | Inverse]) -> list[Contrast | None]:
        return [self.by_outcome(claim) for claim in claims]

    def _each_shown(self, claims: Sequence[Claim]) -> list[Shown]:
        return [self.shows(claim) for claim in claims]

    def _compared(self, claim: Claim) -> Shown:
        endpoint = self.endpoint_for(claim)
        if endpoint == "outcome":
            return Shown(endpoint, self.by_outcome(claim))
        return Shown(endpoint, contrast(cases_of(claim, self.judged_by(claim, endpoint))))


@lru_cache(maxsize=1)
def _arrived(episodes: bytes) -> Explore:
    """Unpack what a worker is asked about; the next call most likely asks about the same."""
    return Explore(unpacked(episodes))


def forget() -> None:
    """Let go of what a worker has unpacked."""
    _arrived.cache_clear()
