"""Models compared: the same sealed tasks under several models and versions, paired with the first of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strategies.gate.rollout_rule import figures_of
from strategies.rollouts.compare.comparison import Rig, register_evaluator, require_sound, runs_of
from strategies.rollouts.compare.rounds import in_random_order
from strategies.rollouts.compare.run_pairs import values
from strategies.rollouts.run.runner import CapReachedError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strategies.gate.rollout_rule import RolloutFigures
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.runner import Runs

    Outcomes = list[list[float | None]]


@dataclass(frozen=True)
class ComparedModel:
    """One version under one model.

    `score` is the mean over tasks with its interval, `against` the difference to the first row on the tasks that
    both finished; None for the first itself. Units: `cost_usd` is what its runs cost, now or when they were made;
    `unpriced` counts those whose cost is not known; `missing` those that were lost, or not made before a cap.
    """

    model: str
    version: str
    evaluator: str
    score: RolloutFigures
    against: RolloutFigures | None
    runs: int
    missing: int
    cost_usd: float
    unpriced: int


@dataclass(frozen=True)
class ModelsCompared:
    """All rows; of the runs `made` are new, `reused` came from the bank; `stopped` says which cap ended it."""

    rows: tuple[ComparedModel, ...]
    tasks: int
    rounds: int
    made: int
    reused: int
    stopped: str


def compare_models(rigs: Mapping[str, Rig], arms: Sequence[Arm], rounds: int) -> ModelsCompared:
    """Run each model with each version on every sealed task, so many times, and compare with the first of all.

    Shapes: rigs by model, all on the same task set, with one meter. Finished runs are found in the bank.
    Raises: what the runner raises, but for a cap: what is known by then is compared.
    """
    rows: list[ComparedModel] = []
    first: Outcomes = []
    made, reused, stopped = 0, 0, ""
    for model, rig in rigs.items():
        sealed = rig.harness.divided.sealed
        with runs_of(rig) as runs:
            _register(rig, runs)
            try:
                runs.make(in_random_order(arms, sealed, range(rounds), rig.seed))
            except CapReachedError as reached:
                stopped = reached.what
            for arm in arms:
                outcomes = [values(runs.of(arm, task, range(rounds))) for task in sealed]
                against = figures_of(_pairs(outcomes, first), rounds) if rows else None
                first = first or outcomes
                rows.append(_row(model, rig, runs, arm, outcomes, against))
            made, reused = made + runs.spent.runs, reused + runs.spent.reused
    tasks = len(next(iter(rigs.values())).harness.divided.sealed)
    return ModelsCompared(tuple(rows), tasks, rounds, made, reused, stopped)


def _register(rig: Rig, runs: Runs) -> None:
    """Check the tasks, and register the evaluator, once for each."""
    harness = rig.harness
    if rig.registry.log.document("evaluator", harness.evaluator) is None:
        require_sound(harness, harness.divided.sealed, runs)
        register_evaluator(rig.registry, harness)


def _row(
    model: str, rig: Rig, runs: Runs, arm: Arm, outcomes: Outcomes, against: RolloutFigures | None
) -> ComparedModel:
    rounds = max(map(len, outcomes), default=0)
    trials = [
        run for task in rig.harness.divided.sealed for run in runs.of(arm, task, range(rounds)) if run is not None
    ]
    return ComparedModel(
        model=model,
        version=arm.name,
        evaluator=rig.harness.evaluator,
        score=figures_of(outcomes, rounds),
        against=against,
        runs=len(trials),
        missing=sum(value is None for task in outcomes for value in task),
        cost_usd=sum(trial.cost_usd or 0.0 for trial in trials),
        unpriced=sum(trial.cost_usd is None for trial in trials),
    )


def _pairs(outcomes: Outcomes, first: Outcomes) -> Outcomes:
    """Subtract by task and round; None where either is missing."""
    return [
        [
            None if outcome is None or first_outcome is None else outcome - first_outcome
            for outcome, first_outcome in zip(task, beside, strict=True)
        ]
        for task, beside in zip(outcomes, first, strict=True)
    ]
