"""The ground that candidates are judged on: episodes in splits, under one evaluator."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from events.registry_events import EvaluatorRegistered
from registry.commands import Record
from strategies.gate.evaluator import evaluator_id
from strategies.gate.policy import METHOD, policy_text
from strategies.gate.splits import divide
from strategies.intake import all_episodes, every_reading, split_groups
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from registry.library import Library
    from registry.registry import Registry
    from strategies.gate.splits import Division
    from strategies.logs.episode import EpisodeRecord

GROWTH: Final = 1.25
"""Sealed tasks must have grown by a quarter before the pool gets a new evaluator (domain.md, Scores)."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Episodes divided once and for all, and the evaluator that they make."""

    division: Division
    evaluator: str


def prepare(registry: Registry, *, only: Collection[str] | None = None) -> Ground:
    """Find or register the evaluator for these episodes, or for the whole pool where none are named.

    For the pool the last evaluator stays in force, on the episodes and outcomes it was frozen with, until the
    sealed tasks have grown by a quarter: new logs and late outcomes wait. A task counts as grown when it is new,
    or when it has its first outcome since. Naming episodes freezes exactly those, as they are known now.
    """
    upto = registry.log.head().position
    every = all_episodes(registry, upto=upto)
    if only is not None:
        now = _divided(registry, [record for record in every if record.id in only])
        return _frozen_as(registry, now, scope="named", upto=upto)
    now = _divided(registry, every)
    last = next((event for event in reversed(registry.evaluators()) if event.scope == "pool"), None)
    if last is not None:
        before = _as_frozen(registry, last.evaluator)
        if _grown(before, now) < last.sealed_tasks * GROWTH:
            return Ground(before, last.evaluator)
    return _frozen_as(registry, now, scope="pool", upto=upto)


def _grown(before: Division, now: Division) -> int:
    """Count the sealed tasks that are known now, those twice that an outcome reached since."""
    answered = _answered_tasks(now) & _tasks(before) - _answered_tasks(before)
    return len(_tasks(now)) + len(answered)


def _tasks(division: Division) -> set[str]:
    return {record.task for record in division.sealed}


def _answered_tasks(division: Division) -> set[str]:
    return {record.task for record in division.sealed if truth(record) is not None}


def _frozen_as(registry: Registry, division: Division, *, scope: Literal["pool", "named"], upto: int) -> Ground:
    evaluator = evaluator_id(division, registry.about().split_key)
    if registry.log.document("evaluator", evaluator) is None:
        _register(registry, evaluator, division, scope=scope, upto=upto)
    return Ground(division, evaluator)


def _divided(library: Library, records: Sequence[EpisodeRecord]) -> Division:
    return divide(records, split_groups(library), library.about().split_key)


def _register(
    registry: Registry, evaluator: str, division: Division, *, scope: Literal["pool", "named"], upto: int
) -> None:
    records = division.everything
    event = EvaluatorRegistered(
        evaluator=evaluator,
        kind="replay",
        scope=scope,
        method=METHOD,
        policy=policy_text(),
        episodes=len(records),
        tasks=len({record.task for record in records}),
        sealed_tasks=len(_tasks(division)),
    )
    with registry.log.transaction():
        frozen = {"upto": upto, "episodes": sorted(record.id for record in records)}
        if registry.log.document("evaluator", evaluator) is not None:
            return  # another process was faster, with the same episodes
        registry.log.put_checkpoint(f"evaluator:{evaluator}", json.dumps(frozen, separators=(",", ":")).encode())
        registry.execute(Record((event,)), actor="germline")


def _as_frozen(library: Library, evaluator: str) -> Division:
    """Return the episodes that an evaluator was frozen with, with the outcomes that were known then."""
    frozen = json.loads(library.log.checkpoints()[f"evaluator:{evaluator}"])
    ids = set(frozen["episodes"])
    records = [record for record in every_reading(library, upto=frozen["upto"]) if record.id in ids]
    return _divided(library, records)


def sent_to(library: Library, evaluator: str) -> int:
    """Count the claims that were sent to an evaluator so far: what shares its error rate; mere words are none."""
    sent = (one for one in library.candidates() if one.proposed.evaluator == evaluator and one.times_scored)
    return sum(1 for one in sent if one.proposed.claims or one.proposed.removes)
