"""Scores of single runs: which runs are scored, what is kept of it, and how far they go with outcomes."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import asdict, dataclass
from itertools import zip_longest
from math import log
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.judge_events import RunsScored
from registry.decide.commands import RecordFact
from strategies.gate.replay.evaluation_set import ground_of
from strategies.gate.stats.correlation import Association, CorrelatedRun, beside_outcomes, on_mixed_tasks
from strategies.judge.ask_criteria import CRITERIA, MOST_RUN_CHARS, criteria_prompt
from strategies.models.protocol import Reply
from strategies.models.transcript_text import transcripts
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.errors import SpendingCapError
    from events.model_errors import ModelError
    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.episodes.episode import EpisodeRecord
    from strategies.judge.ask_criteria import RunScorer

KIND: Final = "run scores"


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """One run with its marks. Units: outcome in [0, 1], chars of all that it wrote and did, marks from 1 to 5."""

    episode: str
    task: str
    outcome: float
    chars: int
    marks: dict[str, int]


class Scoring(NamedTuple):
    """What scoring came to: the event, None where no run was scored; how many had no text left; what failed."""

    event: RunsScored | None
    gone: int
    failed: tuple[ModelError | SpendingCapError, ...]


@dataclass(frozen=True)
class Criterion:
    """One criterion: its mean mark, and how it goes with outcomes on tasks with mixed results, if that shows."""

    name: str
    mean: float
    association: Association | None


@dataclass(frozen=True)
class Tested:
    """What the scores of one model and one prompt are worth; `length` is how they follow length, outcomes held."""

    model: str
    prompt: str
    runs: int
    criteria: tuple[Criterion, ...]
    length: Association | None


def explore_to_score(library: Library, scorer: tuple[str, str], most: int) -> list[EpisodeRecord]:
    """Choose runs that a model, by its name and the hash of its prompt, has not scored yet; writes nothing."""
    known = (row.episode for row in scored_runs(library).get(scorer, ()))
    return runs_to_score(ground_of(library, refresh=True).division.explore, known, most)


def runs_to_score(explore: Sequence[EpisodeRecord], known: Iterable[str], most: int) -> list[EpisodeRecord]:
    """Choose runs of tasks with mixed results that were not scored yet, lost and won ones in turn.

    Only of the explore split: scores are shown to people who propose.
    """
    seen = frozenset(known)
    tasks: dict[str, list[tuple[float, EpisodeRecord]]] = defaultdict(list)
    for record in explore:
        outcome = truth(record)
        if outcome is not None:
            tasks[record.task].append((outcome, record))
    mixed = [runs for _, runs in sorted(tasks.items()) if len({outcome for outcome, _ in runs}) > 1]
    order = [_in_turn(runs) for runs in mixed]
    in_order = (record for group in zip_longest(*order) for pair in group if pair for record in pair)
    return [record for record in in_order if record.id not in seen][:most]


def _in_turn(runs: Sequence[tuple[float, EpisodeRecord]]) -> list[tuple[EpisodeRecord, ...]]:
    """Pair the worst run of a task with the best, then the next ones."""
    ranked = [record for _, record in sorted(runs, key=lambda run: (run[0], run[1].id))]
    half = len(ranked) // 2
    pairs: list[tuple[EpisodeRecord, ...]] = list(zip(ranked[:half], ranked[::-1][:half], strict=True))
    return [*pairs, (ranked[half],)] if len(ranked) % 2 else pairs


def score_runs(registry: Registry, scorer: RunScorer, chosen: Sequence[EpisodeRecord]) -> Scoring:
    """Ask for the marks of runs and keep them beside the runs; no verdict looks at them.

    Raises: what the model raises for all of them; what it raises for one run is among `failed`.
    """
    runs = transcripts(registry, chosen, MOST_RUN_CHARS)
    asked = [(record, run) for record, run in zip(chosen, runs, strict=True) if run is not None]
    replies = scorer.score([run for _, run in asked])
    rows = [
        ScoredRun(record.id, record.task, truth(record) or 0.0, run.chars, reply.answer.marks())
        for (record, run), reply in zip(asked, replies, strict=True)
        if isinstance(reply, Reply)
    ]
    failed = tuple(reply for reply in replies if not isinstance(reply, Reply))
    gone = len(chosen) - len(asked)
    if not rows:
        return Scoring(None, gone, failed)
    body = json.dumps([asdict(row) for row in rows], separators=(",", ":")).encode()
    with registry.log.transaction():
        event = RunsScored(
            model=scorer.name,
            prompt=criteria_prompt(),
            runs=len(rows),
            scores=registry.log.put_blob(body, kind=KIND),
            unusable=len(failed),
            cost_usd=sum(reply.cost_usd or 0.0 for reply in replies if isinstance(reply, Reply)),
        )
        registry.execute(RecordFact((event,)))
    return Scoring(event, gone, failed)


def scored_runs(library: Library) -> dict[tuple[str, str], list[ScoredRun]]:
    """Read the scores that are kept, by model and prompt; of a run that was scored twice the last ones."""
    by_judge: dict[tuple[str, str], dict[str, ScoredRun]] = defaultdict(dict)
    for envelope in library.log.read(types=("RunsScored",)):
        event = envelope.event
        body = library.log.get_blob(event.scores) if isinstance(event, RunsScored) else None
        if isinstance(event, RunsScored) and body is not None:
            rows = (ScoredRun(**row) for row in json.loads(body))
            by_judge[event.model, event.prompt].update({row.episode: row for row in rows})
    return {key: list(rows.values()) for key, rows in by_judge.items()}


def tested(model: str, prompt: str, rows: Sequence[ScoredRun]) -> Tested:
    """Tell how far each criterion goes with outcomes, and whether the marks follow length rather than outcomes."""
    criteria = tuple(
        Criterion(
            name,
            fmean(row.marks[name] for row in rows),
            on_mixed_tasks(CorrelatedRun(row.task, row.outcome, row.marks[name]) for row in rows),
        )
        for name in CRITERIA
    )
    length = beside_outcomes(
        CorrelatedRun(row.task, row.outcome, fmean(row.marks.values()), log(max(row.chars, 1))) for row in rows
    )
    return Tested(model, prompt, len(rows), criteria, length)
