"""Scoring: a version measured by replay under an evaluator, and written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from events.errors import RefusedError
from events.types.capsule_events import VersionScored
from events.types.score import Score
from registry.decide.commands import ScoreVersion
from strategies.claims.applicability import live_claims
from strategies.gate.replay.measure import score

if TYPE_CHECKING:
    from events.store.protocol import Receipt
    from events.types.score import Measured
    from registry.registry import Registry
    from strategies.gate.replay.evaluation_set import Ground


@dataclass(frozen=True, slots=True)
class Scored:
    """A version measured on a ground; `receipt` is None where this evaluator had measured it before."""

    score: Score
    audit: Measured
    receipt: Receipt | None


def score_version(
    registry: Registry,
    name: str,
    version: int,
    ground: Ground,
    *,
    seed: int,
    cause: Literal["asked", "recheck"] = "asked",
) -> Scored:
    """Measure a version by replaying its claims, and record the score unless it is there already.

    Raises: RefusedError where no sealed episode has an outcome; NotFoundError for an unknown version.
    """
    capsule = registry.capsule(name, str(version))
    stamp = ground.stamp(registry.clock.now())
    sealed, audit = score(live_claims(capsule), ground.division, stamp, seed=seed)
    if not isinstance(sealed, Score):
        raise RefusedError(
            f"{name}@{version} cannot be measured: {sealed.reason}",
            hint="germline outcome EPISODE --value V --source S   or scan logs that say how episodes ended",
        )
    if isinstance(capsule.score, Score) and capsule.score.evaluator == ground.evaluator:
        return Scored(capsule.score, audit, None)
    event = VersionScored(capsule=name, version=version, score=sealed, audit=audit, cause=cause)
    actor = "germline" if cause == "recheck" else ""
    return Scored(sealed, audit, registry.execute(ScoreVersion(event), actor=actor))


def measure_live_first(registry: Registry, ground: Ground, *, seed: int) -> list[str]:
    """Measure every live version whose last score is older than the evaluator of the pool; answers with the names.

    So a timeline shows the seam between two evaluators instead of comparing across it. What an interrupted run
    left unmeasured is measured by the next.
    """
    envelope = registry.registration(ground.evaluator)
    if envelope is None or getattr(envelope.event, "scope", "") != "pool":
        return []
    older = [name for name in registry.names() if _measured_before(registry, name, envelope.position)]
    return [name for name in older if _measure(registry, name, ground, seed)]


def _measured_before(registry: Registry, name: str, position: int) -> bool:
    """Tell whether the live version was measured by replay, the last time before an event."""
    row = registry.version(name, registry.outline(name).version)
    last = max(row.position, row.rescored_at)
    return isinstance(row.score, Score) and row.score.kind == "replay" and last < position


def _measure(registry: Registry, name: str, ground: Ground, seed: int) -> bool:
    capsule = registry.capsule(name)
    stamp = ground.stamp(registry.clock.now())
    sealed, audit = score(live_claims(capsule), ground.division, stamp, seed=seed)
    if not isinstance(sealed, Score):
        return False
    event = VersionScored(capsule=name, version=capsule.version, score=sealed, audit=audit, cause="evaluator")
    registry.execute(ScoreVersion(event), actor="germline")
    return True
