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
from strategies.intake import all_episodes, split_groups

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
    """Episodes divided once and for all, and the evaluator that they make.

    `sent` counts the claims that were sent to this evaluator before.
    """

    division: Division
    evaluator: str
    sent: int


def prepare(registry: Registry, *, only: Collection[str] | None = None) -> Ground:
    """Find or register the evaluator for these episodes, or for the whole pool where none are named.

    For the pool the last evaluator stays in force, on the episodes it was frozen with, until the sealed tasks
    have grown by a quarter: new logs wait. Naming episodes freezes exactly those.
    """
    every = all_episodes(registry)
    records = every if only is None else [record for record in every if record.id in only]
    registered = registry.evaluators()
    if only is None:
        last = next((event for event in reversed(registered) if event.scope == "pool"), None)
        if last and _sealed_tasks(_divided(registry, records)) < last.sealed_tasks * GROWTH:
            frozen = set(_frozen(registry, last.evaluator))
            records = [record for record in every if record.id in frozen]
    division = _divided(registry, records)
    evaluator = evaluator_id(division, registry.about().split_key)
    if registry.log.document("evaluator", evaluator) is None:
        _register(registry, evaluator, division, scope="named" if only is not None else "pool")
    return Ground(division, evaluator, _sent(registry, evaluator))


def _divided(library: Library, records: Sequence[EpisodeRecord]) -> Division:
    return divide(records, split_groups(library), library.about().split_key)


def _sealed_tasks(division: Division) -> int:
    return len({record.task for record in division.sealed})


def _register(registry: Registry, evaluator: str, division: Division, *, scope: Literal["pool", "named"]) -> None:
    records = division.explore + division.sealed + division.audit
    event = EvaluatorRegistered(
        evaluator=evaluator,
        kind="replay",
        scope=scope,
        method=METHOD,
        policy=policy_text(),
        episodes=len(records),
        tasks=len({record.task for record in records}),
        sealed_tasks=_sealed_tasks(division),
    )
    with registry.log.transaction():
        body = json.dumps(sorted(record.id for record in records), separators=(",", ":")).encode()
        if registry.log.document("evaluator", evaluator) is not None:
            return  # another process was faster, with the same episodes
        registry.log.put_checkpoint(f"evaluator:{evaluator}", body)
        registry.execute(Record((event,)), actor="germline")


def _frozen(library: Library, evaluator: str) -> list[str]:
    """Return the episodes that an evaluator was frozen with, by content hash."""
    ids: list[str] = json.loads(library.log.checkpoints()[f"evaluator:{evaluator}"])
    return ids


def _sent(library: Library, evaluator: str) -> int:
    candidates = library.candidates()
    return sum(1 for one in candidates if one.proposed.evaluator == evaluator and one.times_scored)
