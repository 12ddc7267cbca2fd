"""The live version of a skill: how episodes under it went, and what its measurement does not cover."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from events.types.candidate_events import ComparisonFrozen
from events.types.score import Score
from strategies.claims.applicability import live_claims
from strategies.episodes.episode import model_of, moment_s
from strategies.gate.staleness import Staleness, staleness
from strategies.gate.track_record import track_record
from strategies.pool.frozen_sets import measured_on
from strategies.pool.known_episodes import with_longer_readings

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from registry.query.library import Library
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.track_record import TrackRecord
    from strategies.scope.scope import Scope


class LiveMeasurement(NamedTuple):
    """What the live version of a skill was measured on, and when (RFC 3339).

    `episodes` are those that are known, in their longest readings, None where it was runs; `models` those that
    the episodes or the runs tell.
    """

    at: str
    episodes: Sequence[EpisodeRecord] | None
    models: tuple[str, ...]


def live_record(library: Library, skill: str, under: Iterable[EpisodeRecord]) -> TrackRecord:
    """Sum up the episodes that ran under what the live version of a skill says; `under` are attributed ones."""
    same = set(map(str, library.outline(skill).lineage()[-1]))
    ran = [record for record in under if dict(record.skills).get(skill) in same]
    return track_record(live_claims(library.capsule(skill)), ran)


def measurement_of(library: Library, skill: str, records: Iterable[EpisodeRecord]) -> LiveMeasurement | None:
    """Look up what the live version of a skill was measured on, among known episodes; None where it never was."""
    score = library.capsule(skill).score
    if not isinstance(score, Score):
        return None
    frozen = measured_on(library, score.evaluator)
    if frozen is None:
        return LiveMeasurement(score.measured_at, None, _models_of_runs(library, score.evaluator))
    ids = with_longer_readings(library, frozen)
    then = [record for record in records if record.id in ids]
    return LiveMeasurement(score.measured_at, then, tuple(sorted({model_of(record) for record in then} - {""})))


def staleness_of(measured: LiveMeasurement | None, skill: str, scope: Scope, now: str) -> Staleness | None:
    """Tell what the measurement of the live version of a skill does not cover; None where there is none.

    Only episodes of its own logs count, where any are known to be; and of these, where logs tell which episodes
    ran under the skill, only those.
    """
    if measured is None:
        return None
    age_s = (moment_s(now) or 0.0) - (moment_s(measured.at) or 0.0)
    belonging = scope.own(skill, scope.records)
    own = [record for record in belonging if skill in dict(record.skills)] or belonging
    if measured.episodes is None:
        models = {model_of(record) for record in own} - {"", *measured.models} if measured.models else set()
        return replace(staleness((), (), age_s=age_s), models=tuple(sorted(models)))
    then = {record.id for record in measured.episodes}
    return staleness(measured.episodes, [record for record in own if record.id not in then], age_s=age_s)


def _models_of_runs(library: Library, evaluator: str) -> tuple[str, ...]:
    """Name the model that ran the comparisons of an evaluator; a command as agent does not tell which it asks."""
    models = set()
    for envelope in library.log.read(types=("ComparisonFrozen",)):
        event = envelope.event
        if isinstance(event, ComparisonFrozen) and event.evaluator == evaluator:
            body = library.log.get_blob(event.comparison)
            models.add(str(json.loads(body)["agent"].get("model", "")) if body else "")
    return tuple(sorted(models - {""}))
