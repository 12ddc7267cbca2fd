"""Logs in which something is dealt out again at random, so that a claim about it cannot be true."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING, Literal

from strategies.episodes.action_class import is_hand_in
from strategies.episodes.episode_records import ended, ended_like, relabelled
from strategies.gate.replay.contrast import outcome_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from strategies.episodes.episode import EpisodeRecord, StepRecord


def shuffled(records: Sequence[EpisodeRecord], seed: int) -> list[EpisodeRecord]:
    """Shuffle outcomes among the episodes of one run configuration and difficulty."""
    pools: defaultdict[tuple[str, str], list[EpisodeRecord]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.id):
        pools[record.run, record.difficulty].append(record)
    draws = random.Random(seed)  # noqa: S311 - a seeded shuffle, not a secret
    dealt = []
    for _, members in sorted(pools.items()):
        outcomes = [outcome_of(record) for record in members]
        draws.shuffle(outcomes)
        dealt += [ended(record, outcome) for record, outcome in zip(members, outcomes, strict=True)]
    return dealt


def tasks_permuted(records: Sequence[EpisodeRecord], seed: int) -> list[EpisodeRecord]:
    """Permute whole outcome vectors of tasks: each task takes all outcomes of another that the same runs did."""
    by_task: defaultdict[str, list[EpisodeRecord]] = defaultdict(list)
    for record in sorted(records, key=lambda record: (record.task, record.run, record.id)):
        by_task[record.task].append(record)
    pools: defaultdict[tuple[str, ...], list[list[EpisodeRecord]]] = defaultdict(list)
    for members in by_task.values():
        pools[tuple(record.run for record in members)].append(members)
    dealt = []
    for tasks in pools.values():
        others = list(tasks)
        random.Random(seed).shuffle(others)  # noqa: S311 - a seeded shuffle, not a secret
        dealt += [
            ended_like(record, other)
            for members, theirs in zip(tasks, others, strict=True)
            for record, other in zip(members, theirs, strict=True)
        ]
    return dealt


def actions_relabelled(records: Sequence[EpisodeRecord], seed: int) -> list[EpisodeRecord]:
    """Deal the classes of all actions of a run out again over its actions, without handing in."""
    return _relabelled(records, seed, "action", _is_action)


def templates_relabelled(records: Sequence[EpisodeRecord], seed: int) -> list[EpisodeRecord]:
    """Deal the error templates of a run out again over its failures."""
    return _relabelled(records, seed, "template", lambda step: step.error)


def _is_action(step: StepRecord) -> bool:
    return step.actor == "agent" and step.kind == "call" and not is_hand_in(step.action)


def _relabelled(
    records: Sequence[EpisodeRecord],
    seed: int,
    field: Literal["action", "template"],
    is_dealt: Callable[[StepRecord], bool],
) -> list[EpisodeRecord]:
    """Shuffle a field among the steps of one run configuration; each value is as frequent there as it was."""
    pools: defaultdict[str, list[str]] = defaultdict(list)
    ordered = sorted(records, key=lambda record: record.id)
    for record in ordered:
        pools[record.run] += [getattr(step, field) for step in record.steps if is_dealt(step)]
    draws = random.Random(seed)  # noqa: S311 - a seeded shuffle, not a secret
    for _, values in sorted(pools.items()):
        draws.shuffle(values)
    hands = {run: iter(values) for run, values in pools.items()}
    return [
        relabelled(record, field, [next(hands[record.run]) if is_dealt(step) else None for step in record.steps])
        for record in ordered
    ]
