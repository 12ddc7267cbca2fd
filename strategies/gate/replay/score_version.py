"""Scoring: a version measured by replay under an evaluator, and written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from events.errors import RefusedError
from events.types.capsule_events import VersionScored
from events.types.score import Score
from registry.decide.commands import ScoreVersion
from strategies.claims.applicability import counted_claims
from strategies.gate.replay.measure import score

if TYPE_CHECKING:
    from events.store.protocol import Receipt
    from events.types.score import Measured
    from registry.registry import Registry
    from strategies.gate.replay.evaluation_set import Ground
    from strategies.gate.replay.skill_grounds import SkillGrounds


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
    sealed, audit = score(counted_claims(registry, capsule), ground.division, stamp, seed=seed)
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


def measure_live_first(registry: Registry, grounds: SkillGrounds, *, seed: int) -> list[str]:
    """Measure every live version whose last score is older than its skill's evaluator; answers with the names.

    So a timeline shows the seam between two evaluators instead of comparing across it. What an interrupted run
    left unmeasured is measured by the next. It is the pool's evaluator, or the skill's part of that.
    """
    if _registered(registry, grounds.whole.evaluator, "pool") is None:
        return []
    return [name for name in registry.live_names() if _measured_again(registry, name, grounds, seed)]


def _registered(registry: Registry, evaluator: str, *scopes: str) -> int | None:
    """Give the position of the event that registered an evaluator of these scopes, None where none did."""
    envelope = registry.registration(evaluator)
    scope = getattr(envelope.event, "scope", "") if envelope else ""
    return envelope.position if envelope and scope in scopes else None


def _measured_again(registry: Registry, name: str, grounds: SkillGrounds, seed: int) -> bool:
    """Measure a live version where it was measured by replay, the last time before its evaluator came."""
    row = registry.version(name, registry.outline(name).version)
    if not isinstance(row.score, Score) or row.score.kind != "replay":
        return False
    ground = grounds.prepared(registry, name)
    position = _registered(registry, ground.evaluator, "pool", "skill")
    if position is None or max(row.position, row.rescored_at) >= position:
        return False
    return _measure(registry, name, ground, seed)


def _measure(registry: Registry, name: str, ground: Ground, seed: int) -> bool:
    capsule = registry.capsule(name)
    stamp = ground.stamp(registry.clock.now())
    sealed, audit = score(counted_claims(registry, capsule), ground.division, stamp, seed=seed)
    if not isinstance(sealed, Score):
        return False
    event = VersionScored(capsule=name, version=capsule.version, score=sealed, audit=audit, cause="evaluator")
    registry.execute(ScoreVersion(event), actor="germline")
    return True
