"""The trigger audit: in which sessions a skill was offered, loaded and needed, and what its description finds.

A skill is needed where one of its claims applied. A skill that keeps what it is for from happening looks wider
than it is: there the precision is a lower bound.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from events.types.claims import After, AfterCall, AfterError, AnytimeBefore, Before, Instead, Replace
from registry.query.signals import erased_records
from registry.skill_md.front_matter import description_of
from strategies.episodes.episode import moment_s
from strategies.episodes.skill_version import known_versions
from strategies.gate.replay.exposure import moments_of
from strategies.logs.first_requests import first_requests
from strategies.scope.word_ranking import words_of
from strategies.signals.open_signals import described_in
from strategies.signals.proportion import wilson
from strategies.usage.action_names import ActionNames
from strategies.usage.line_usage import claims_by_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.claims import Claim
    from registry.query.library import Library
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord
    from strategies.scope.scope import Scope

Finding = Literal["too wide", "too narrow"]
BOUND: Final = 0.5
"""Where surely less than this share of the loads was needed a description is too wide; where surely less than this
share of the sessions that needed the skill loaded it, too narrow (a guess)."""
_MOST_HOLD: Final = 0.5
"""A word of more requests than this share tells no two of them apart (a guess)."""
_TELLING: Final = (AfterError, Replace, After, Before, AfterCall, AnytimeBefore, Instead)
"""Claims that apply to some sessions and not to others: how one begins or ends does not tell what it is about."""


class OfferedSession(NamedTuple):
    """A session that a skill was offered to: words of its request, whether it loaded and needed the skill."""

    record: EpisodeRecord
    words: frozenset[str]
    loaded: bool
    needed: bool


class TriggerProportion(NamedTuple):
    """A share of `n`, with its 95 % interval."""

    hits: int
    n: int
    low: float
    high: float

    @classmethod
    def of(cls, marks: Sequence[bool]) -> TriggerProportion:
        """Count it."""
        return cls(sum(marks), len(marks), *wilson(sum(marks), len(marks)))


@dataclass(frozen=True)
class TriggerAudit:
    """What sessions show of the description of a skill; without `claims` nothing tells where it is needed.

    `precision` is the share of its loads that were needed, `recall` that of the sessions which needed it that
    loaded it.
    """

    capsule: Capsule
    description: str
    claims: tuple[Claim, ...]
    sessions: tuple[OfferedSession, ...]
    precision: TriggerProportion
    recall: TriggerProportion

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Name what is surely wrong with the description."""
        wide = self.precision.n > 0 and self.precision.high < BOUND
        narrow = self.recall.n > 0 and self.recall.high < BOUND
        return (*(("too wide",) if wide else ()), *(("too narrow",) if narrow else ()))


def trigger_audit(library: Library, name: str, scope: Scope) -> TriggerAudit:
    """Read the sessions that a skill was offered to; those whose request cannot be read again are left out."""
    capsule = library.capsule(name)
    records = scope.restricted(name, scope.records)
    offered = _offered(library, capsule, records)
    claims = _telling_claims(library, capsule, records)
    moments = [moments_of(claim) for claim in claims]
    requests = [frozenset(words_of(text)) for text in first_requests(offered, erased_records(library))]
    held = Counter(word for words in requests for word in words)
    common = {word for word, count in held.items() if count > _MOST_HOLD * len(requests)}
    sessions = tuple(
        OfferedSession(
            record,
            words - common,
            name in dict(record.skills),
            any(moment_of(record) is not None for moment_of in moments),
        )
        for record, words in zip(offered, requests, strict=True)
        if words
    )
    return TriggerAudit(
        capsule,
        description_of(capsule),
        claims,
        sessions,
        TriggerProportion.of([session.needed for session in sessions if session.loaded]),
        TriggerProportion.of([session.loaded for session in sessions if session.needed]),
    )


def seems_amiss(library: Library, name: str, scope: Scope) -> bool:
    """Tell whether a skill may be loaded where nothing needs it, or not where it is needed; reads no log."""
    capsule = library.capsule(name)
    records = scope.restricted(name, scope.records)
    if not any(name in dict(record.skills) for record in records):
        return False
    claims = _telling_claims(library, capsule, records)
    moments = [moments_of(claim) for claim in claims]
    marks = [
        (name in dict(record.skills), any(moment_of(record) is not None for moment_of in moments))
        for record in _offered(library, capsule, records)
    ]
    loaded = [needed for is_loaded, needed in marks if is_loaded]
    needing = [is_loaded for is_loaded, needed in marks if needed]
    shares = [TriggerProportion.of(each) for each in (loaded, needing) if claims and each]
    return any(share.high < BOUND for share in shares)


def _telling_claims(library: Library, capsule: Capsule, records: Sequence[EpisodeRecord]) -> tuple[Claim, ...]:
    rows = claims_by_line(library, capsule, ActionNames.of(records))
    return tuple(dict.fromkeys(claim for _, claim, _ in rows if isinstance(claim, _TELLING)))


def _offered(library: Library, capsule: Capsule, records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """Keep the sessions that saw the description as it is now; that of version 1 may be older than its import."""
    described = described_in(capsule)
    if described == 1:
        return list(records)
    offers = known_versions(library).projected.get(capsule.name, ())
    since = min((offer.since_s for offer in offers if offer.version >= described), default=inf)
    return [record for record in records if (moment_s(record.started_at) or -inf) >= since]


def matches(description: Iterable[str], session: OfferedSession) -> bool:
    """Tell whether a request shares a word with a description, given as its words."""
    return not session.words.isdisjoint(description)
