"""Episodes of made-up worlds, and shuffles of real ones: what a gate must see through, and what it must see."""

from __future__ import annotations

import random
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from strategies.gate.decide import Verdict, judge
from strategies.gate.evaluator import evaluator_id
from strategies.gate.measure import Evidence, Stamp, measure
from strategies.gate.policy import WRITTEN_RULE
from strategies.gate.splits import divide, form_groups
from strategies.logs.episode import EpisodeRecord, Outcome, Span, StepRecord
from strategies.proposers.recovery import recovery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from strategies.gate.splits import Division

NO_TABLE = "Table <*> doesn't exist"


def call(action: str, error: str = "", *, turn: int | None = None, same: int | None = None) -> StepRecord:
    """One call of an agent; `turn` and `same` default to the step's own place, which `episode` fills in."""
    return StepRecord(
        turn=-1 if turn is None else turn,
        kind="call",
        actor="agent",
        action=action,
        template=error,
        error=bool(error),
        writes=False,
        same_call=-1 if same is None else same,
        same_result=-1 if same is None else same,
        started_at=None,
        duration_ms=None,
        span=Span(0, 1, 1),
    )


def episode(
    steps: Sequence[StepRecord],
    *,
    outcome: float | None = 1.0,
    task: str = "t1",
    run: str = "r1",
    difficulty: str = "easy",
    trial: int = 0,
) -> EpisodeRecord:
    """One episode with these steps."""
    placed = [
        msgspec.structs.replace(
            step,
            turn=index if step.turn < 0 else step.turn,
            same_call=index if step.same_call < 0 else step.same_call,
            same_result=index if step.same_result < 0 else step.same_result,
        )
        for index, step in enumerate(steps)
    ]
    return EpisodeRecord(
        id=f"{run}/{task}/{trial}",
        name=task,
        source="world",
        format="world",
        task=task,
        run=run,
        difficulty=difficulty,
        labels={},
        prompt_key=f"prompt of {task}",
        answer_key="",
        started_at=None,
        outcome=None if outcome is None else Outcome(outcome, "reward"),
        ended_by="environment",
        skills=(),
        steps=tuple(placed),
    )


def linked(task: str, *, prompt: str = "", answer: str = "", trial: int = 0) -> EpisodeRecord:
    """One episode of a task, with what links the task to others."""
    record = episode([call("sql:SELECT")], task=task, trial=trial)
    return msgspec.structs.replace(record, prompt_key=prompt, answer_key=answer)


def world_with_a_rule(seed: int, *, tasks: int = 300, lift: float = 0.45) -> list[EpisodeRecord]:
    """A world in which looking at the schema after a missing table is what helps."""
    draws = random.Random(seed)
    records = []
    for number in range(tasks):
        hard = draws.random() < 0.5
        for run in ("large", "small"):
            looks = draws.random() < (0.6 if run == "large" else 0.4)
            chance = (0.2 if hard else 0.35) + lift * looks
            won = float(draws.random() < chance)
            steps = [call("sql:SELECT", NO_TABLE), call("sql:SHOW" if looks else "sql:SELECT"), call("sql:SELECT")]
            difficulty = "hard" if hard else "easy"
            records.append(episode(steps, outcome=won, task=f"t{number:04}", run=run, difficulty=difficulty))
    return records


def world_without_a_rule(seed: int, *, tasks: int = 300) -> list[EpisodeRecord]:
    """A world in which actions do not matter, and success ends the episode."""
    draws = random.Random(seed)
    records = []
    for number in range(tasks):
        chance = draws.betavariate(0.6, 2.0)  # of success at each step, by task
        for run, habit in (("large", 0.5), ("small", 0.2)):
            steps: list[StepRecord] = []
            won = False
            while not won and len(steps) < 10:
                action = "sql:SHOW" if draws.random() < habit else draws.choice(["sql:SELECT", "sql:DESC"])
                won = draws.random() < chance
                steps.append(call(action, NO_TABLE if not won and draws.random() < 0.6 else ""))
            difficulty = "hard" if chance < 0.2 else "easy"
            records.append(
                episode(steps, outcome=float(won), task=f"t{number:04}", run=run, difficulty=difficulty)
            )
    return records


def outcomes_shuffled(records: Sequence[EpisodeRecord], seed: int) -> list[EpisodeRecord]:
    """Shuffle outcomes among the episodes of one run and difficulty."""
    return _dealt(records, seed, lambda record: (record.run, record.difficulty), lambda record: record.id)


def tasks_permuted(records: Sequence[EpisodeRecord], seed: int) -> list[EpisodeRecord]:
    """Permute whole outcome vectors of tasks: each task takes all outcomes of another, run by run."""
    return _dealt(records, seed, lambda record: record.run, lambda record: record.task)


def _dealt(
    records: Sequence[EpisodeRecord],
    seed: int,
    pool_of: Callable[[EpisodeRecord], object],
    order: Callable[[EpisodeRecord], str],
) -> list[EpisodeRecord]:
    """Deal the outcomes of each pool out again; pools with equally many members share one permutation."""
    pools: defaultdict[object, list[EpisodeRecord]] = defaultdict(list)
    for record in sorted(records, key=order):
        pools[pool_of(record)].append(record)
    dealt = []
    for members in pools.values():
        places = list(range(len(members)))
        random.Random(seed).shuffle(places)
        dealt += [
            msgspec.structs.replace(record, outcome=members[place].outcome)
            for record, place in zip(members, places, strict=True)
        ]
    return dealt


class Judgement(NamedTuple):
    """What became of one template's candidate."""

    template: str
    evidence: Evidence
    verdict: Verdict


def division_of(records: Sequence[EpisodeRecord], split_key: str) -> Division:
    """Divide episodes as a first scan does."""
    return divide(records, form_groups({}, records), split_key)


def evolved(records: Sequence[EpisodeRecord], templates: Iterable[str], split_key: str) -> list[Judgement]:
    """Mine each template on explore and send what survives through the gate, one after the other."""
    division = division_of(records, split_key)
    stamp = Stamp(evaluator_id(division, split_key), "2026-01-01T00:00:00.000000Z")
    judgements: list[Judgement] = []
    for template in templates:
        proposal = recovery(template, division.explore).proposal
        if proposal is not None:
            evidence = measure(proposal.claims, (), division, stamp, seed=7)
            verdict = judge(evidence.figures, WRITTEN_RULE, len(judgements) + 1)
            judgements.append(Judgement(template, evidence, verdict))
    return judgements
