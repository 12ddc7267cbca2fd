"""The live version of a skill: how episodes under it went, and what its measurement does not cover."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.types.score import Score
from strategies.claims.applicability import live_claims
from strategies.episodes.episode import moment_s
from strategies.gate.staleness import Staleness, staleness
from strategies.gate.track_record import track_record
from strategies.pool.frozen_sets import measured_on
from strategies.pool.known_episodes import with_longer_readings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.query.library import Library
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.track_record import TrackRecord
    from strategies.scope.scope import Scope


def live_record(library: Library, skill: str, under: Iterable[EpisodeRecord]) -> TrackRecord:
    """Sum up the episodes that ran under what the live version of a skill says; `under` are attributed ones."""
    same = set(map(str, library.outline(skill).lineage()[-1]))
    ran = [record for record in under if dict(record.skills).get(skill) in same]
    return track_record(live_claims(library.capsule(skill)), ran)


def staleness_of(library: Library, skill: str, scope: Scope, now: str) -> Staleness | None:
    """Tell what the measurement of the live version of a skill does not cover; None where there is none.

    Only episodes of its own logs count, where any are known to be; and of these, where logs tell which episodes
    ran under the skill, only those.
    """
    score = library.capsule(skill).score
    if not isinstance(score, Score):
        return None
    age_s = (moment_s(now) or 0.0) - (moment_s(score.measured_at) or 0.0)
    frozen = measured_on(library, score.evaluator)
    if frozen is None:
        return staleness((), (), age_s=age_s)
    ids = with_longer_readings(library, frozen)
    belonging = scope.own(skill, scope.records)
    own = [record for record in belonging if skill in dict(record.skills)] or belonging
    then = [record for record in scope.records if record.id in ids]
    return staleness(then, [record for record in own if record.id not in ids], age_s=age_s)
