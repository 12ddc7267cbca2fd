"""The live version of a skill: how episodes under it went, and what its measurement does not cover."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from events.types.candidate_events import ComparisonFrozen
from events.types.score import Score
from strategies.claims.applicability import live_claims
from strategies.episodes.episode import model_of, moment_s
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
    belonging = scope.own(skill, scope.records)
    own = [record for record in belonging if skill in dict(record.skills)] or belonging
    if frozen is None:
        ran = set(_models_of_runs(library, score.evaluator))
        models = {model_of(record) for record in own} - {"", *ran} if ran else set()
        return replace(staleness((), (), age_s=age_s), models=tuple(sorted(models)))
    ids = with_longer_readings(library, frozen)
    then = [record for record in scope.records if record.id in ids]
    return staleness(then, [record for record in own if record.id not in ids], age_s=age_s)


def measured_models(library: Library, skill: str, records: Iterable[EpisodeRecord]) -> tuple[str, ...]:
    """Name the models that the live version of a skill was measured under, as far as logs and runs tell."""
    score = library.capsule(skill).score
    if not isinstance(score, Score):
        return ()
    frozen = measured_on(library, score.evaluator)
    if frozen is None:
        return _models_of_runs(library, score.evaluator)
    ids = with_longer_readings(library, frozen)
    return tuple(sorted({model_of(record) for record in records if record.id in ids} - {""}))


def _models_of_runs(library: Library, evaluator: str) -> tuple[str, ...]:
    """Name the model that ran the comparisons of an evaluator; a command as agent does not tell which it asks."""
    models = set()
    for envelope in library.log.read(types=("ComparisonFrozen",)):
        event = envelope.event
        if isinstance(event, ComparisonFrozen) and event.evaluator == evaluator:
            body = library.log.get_blob(event.comparison)
            models.add(str(json.loads(body)["agent"].get("model", "")) if body else "")
    return tuple(sorted(models - {""}))
