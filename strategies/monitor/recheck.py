"""Rechecking: versions in use measured again from time to time, on all that is known by then."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from events.errors import RefusedError
from events.types.score import Score
from strategies.episodes.episode import moment_s
from strategies.gate.replay.evaluation_set import prepare
from strategies.gate.replay.score_version import score_version
from strategies.pool.known_episodes import all_episodes
from strategies.scope.scope import scope_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from registry.registry import Registry
    from strategies.scope.log_globs import LogGlobs


@dataclass(frozen=True, slots=True)
class Recheck:
    """How often versions in use are measured again, and under which score that is reported. Units: seconds."""

    every_s: float
    floor: float = 0.0


@dataclass(frozen=True, slots=True)
class Rechecked:
    """A version that was due: its score, or why there is none; `fallen` where that is under the floor."""

    skill: str
    version: int
    score: Score | None
    unmeasured: str = ""
    fallen: bool = False


def recheck(
    registry: Registry, terms: Recheck, *, seed: int, logs: LogGlobs | None = None
) -> tuple[Rechecked, ...]:
    """Measure the versions in use whose last measurement is older than the terms allow, and record it.

    They are measured on an evaluator of their own, on all that is known now and counts for the skill: that of the
    pool, which the gate counts its errors by, stays what it is.
    """
    due = [(name, version) for name in registry.live_names() for version in _due(registry, name, terms)]
    if not due:
        return ()
    known = all_episodes(registry)
    scope = scope_of(registry, known, logs)
    rechecked = []
    for name, version in due:
        ground = prepare(registry, only={record.id for record in scope.restricted(name, known)})
        try:
            score = score_version(registry, name, version, ground, seed=seed, cause="recheck").score
        except RefusedError as error:
            rechecked.append(Rechecked(name, version, None, unmeasured=error.message))
            continue
        rechecked.append(Rechecked(name, version, score, fallen=score.value < terms.floor))
    return tuple(rechecked)


def next_due_s(registry: Registry, terms: Recheck, just: Collection[tuple[str, int]]) -> float:
    """Tell in how many seconds a version is due next; those that were `just` looked at wait the whole time."""
    ages = [
        age_s
        for name in registry.live_names()
        for version, age_s in _ages_s(registry, name).items()
        if (name, version) not in just
    ]
    return max(0.0, terms.every_s - max(ages, default=0.0))


def _due(registry: Registry, name: str, terms: Recheck) -> list[int]:
    """List the versions on offer that were measured too long ago, or never."""
    return [version for version, age_s in _ages_s(registry, name).items() if age_s >= terms.every_s]


def _ages_s(registry: Registry, name: str) -> dict[int, float]:
    """Tell how long ago each version on offer was measured, infinity where it never was."""
    now_s = moment_s(registry.clock.now()) or 0.0
    rows = registry.version_rows(name, registry.outline(name).offered())
    scores = {version: row.score for version, row in rows.items()}
    return {
        version: now_s - (moment_s(score.measured_at) or 0.0) if isinstance(score, Score) else inf
        for version, score in scores.items()
    }
