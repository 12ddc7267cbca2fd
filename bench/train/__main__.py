"""What a training finds and what it lets in, beside "the mean rose", in a world whose true lines are known.

    python -m bench.train [--seeds 6] [--first 1] [--tasks 60] [--runs 3000] [--by-heart] [--untagged] [--second]
                          [--population pareto gepa]

Both have the same ideas (shares in world.py), the same tasks, the same number of runs. Printed are, after a third
of the runs and after all of them: the expected score on tasks that nobody was shown, how many of the true lines
(six; seven in the second world) are live, how many harmful ones, answers by heart and fillers; and what the runs
were for, with the minibatches that the proposer was asked about. With --by-heart
every idea is an answer. With --second it is the world that is kept aside: nothing is decided on it.
Runs need no agent here, they are drawn; everything else is the product's own loop, registry and gate.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections import Counter
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Final, NamedTuple

from bench.train.division import PURPOSES, RunDivision, division_row
from bench.train.practice import MeanRises
from bench.train.second_world import SecondIdeas, SecondWorld
from bench.train.world import Ideas, LiveLines, World
from events.clock import SystemClock
from events.sqlite.log import SqliteLog
from registry.actions.publish import take_in
from registry.decide.commands import CreateRegistry
from registry.registry import Registry
from registry.skill_md.skill_files import SKILL_FILE
from strategies.policy.canonical_json import digest
from strategies.policy.presets import PRESETS
from strategies.pool.task_sets import SplitBook
from strategies.rollouts.compare.comparison import Rig
from strategies.rollouts.compare.harness import Harness
from strategies.rollouts.compare.hashes import rollout_evaluator
from strategies.rollouts.compare.task_division import divide_tasks
from strategies.rollouts.run.agent_templates import Agent
from strategies.rollouts.tasks.task import TaskSet
from strategies.train.train_skill import train
from strategies.train.training_plan import TrainingCaps, TrainingPlan
from strategies.train.training_proposers import population_proposer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strategies.rollouts.run.runner import Runner
    from strategies.rollouts.run.store import PlannedRun
    from strategies.rollouts.run.trial import Trial

NAME: Final = "desk"
SKILL: Final = (
    f"---\nname: {NAME}\ndescription: Does what is asked.\n---\n\nDo what is asked.\n\n## Known\n\n- Be brief.\n"
)
MINIBATCH: Final = 8
_ENDLESS: Final = 10_000
"""Epochs, and quiet ones in a row: the runs alone end it."""


class Found(NamedTuple):
    """What a skill came to after some runs."""

    runs: int
    held_out: float
    true: int
    harmful: int
    by_heart: int
    fillers: int


def counted(world: World, text: str, runs: int) -> Found:
    """Say what stands in a text, and what it is worth."""
    lines = LiveLines.of(text)
    return Found(runs, world.score(text), len(lines.true), len(lines.lures), len(lines.by_heart), lines.fillers)


def trained(
    world: World, tasks: TaskSet, ideas: Ideas, population: str, marks: Sequence[int], folder: Path
) -> tuple[list[Found], list[Counter[str]]]:
    """Train with the product, and look after some numbers of runs: each time the same command goes on.

    Returned is what was found at each mark, and what the runs were for. Without a `population` ideas are proposed
    as they are.
    """
    registry = Registry(SqliteLog.open(folder / "registry.db", create=True), SystemClock(), "person:bench")
    registry.execute(CreateRegistry(split_key(world), "balanced"))
    place = folder / NAME
    place.mkdir()
    (place / SKILL_FILE).write_text(SKILL, encoding="utf-8")
    take_in(registry, place)

    def make(job: PlannedRun) -> Trial:
        text = job.arm.files[SKILL_FILE].body.decode() if job.arm.files else ""
        division.count(text, job)
        return world.trial(text, job)

    def runner_in(_: Path) -> Runner:
        return make

    divided = divide_tasks(tasks, SplitBook(split_key(world)))
    division = RunDivision(divided.splits, place / SKILL_FILE)
    harness = Harness(
        divided=divided,
        tasks=tasks.digest,
        agent=Agent(name="drawn", argv=("drawn",)),
        digest=digest(["world", world.seed]),
        evaluator=rollout_evaluator(tasks.digest, "world", split_key(world), divided.splits),
        runner=runner_in,
        workers=1,
    )
    rig = Rig(registry, harness, PRESETS["balanced"], seed=world.seed)
    proposer = population_proposer(population, ideas) if population else ideas
    counts, divisions = [], []
    for runs in marks:
        plan = TrainingPlan(
            NAME,
            rig,
            proposer,
            epochs=_ENDLESS,
            minibatch=MINIBATCH,
            patience=_ENDLESS,
            caps=TrainingCaps(runs=runs),
        )
        made = train(plan).record.epochs[-1].runs
        lines = (line.text for gene in registry.capsule(NAME).genes for line in gene.lines)
        counts.append(counted(world, "".join(lines), made))
        divisions.append(division.counts + Counter(prompts=ideas.prompts))
    registry.log.close()
    return counts, divisions


def practised(world: World, tasks: TaskSet, ideas: Ideas, marks: Sequence[int]) -> list[Found]:
    """Do what common practice does, and look after as many runs."""
    greedy = MeanRises(world, ideas, divide_tasks(tasks, SplitBook(split_key(world))), MINIBATCH)
    counts = []
    for runs in marks:
        greedy.until(runs)
        counts.append(counted(world, greedy.text, greedy.runs))
    return counts


def split_key(world: World) -> str:
    """Give the registry's key of a seed."""
    return f"{world.seed:032x}"


def row(name: str, counts: Sequence[Found]) -> str:
    """Write the means over seeds."""
    means = [fmean(values) for values in zip(*counts, strict=True)]
    runs, held_out, *lines = means
    return f"{name:<12}{runs:>8,.0f}{held_out:>10.3f}" + "".join(f"{value:>10.2f}" for value in lines)


def print_means(
    rows: Mapping[str, Sequence[Sequence[Found]]],
    spent: Mapping[str, Sequence[Sequence[Counter[str]]]],
    marks: Sequence[int],
) -> None:
    """Print the means over seeds at each mark: what was found, and what the runs were for."""
    print(f"{'':<12}{'runs':>8}{'held-out':>10}{'true':>10}{'harmful':>10}{'by heart':>10}{'fillers':>10}")
    for at in range(len(marks)):
        for name, counts in rows.items():
            print(row(name, [each[at] for each in counts]))
    print(f"{'for':<12}{'runs':>8}" + "".join(f"{purpose:>10}" for purpose in (*PURPOSES, "prompts")))
    for at, runs in enumerate(marks):
        for name, divisions in spent.items():
            print(division_row(name, runs, [each[at] for each in divisions]))


def main(arguments: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=6)
    parser.add_argument("--first", type=int, default=1, help="the first seed")
    parser.add_argument("--tasks", type=int, default=60)
    parser.add_argument("--runs", type=int, default=3_000)
    parser.add_argument("--by-heart", action="store_true", help="every idea is an answer by heart")
    parser.add_argument("--untagged", action="store_true", help="ideas do not say which tasks they are for")
    parser.add_argument("--population", nargs="*", default=(), help="pareto, gepa: beside it, with the same ideas")
    parser.add_argument("--second", action="store_true", help="the world that is kept aside (second_world.py)")
    asked = parser.parse_args(arguments)
    worlds, ideas_of = (SecondWorld, SecondIdeas) if asked.second else (World, Ideas)
    marks = (asked.runs // 3, asked.runs)
    names = ("germline", *asked.population, "mean rises")
    rows: dict[str, list[list[Found]]] = {name: [] for name in names}
    spent: dict[str, list[list[Counter[str]]]] = {name: [] for name in names[:-1]}
    bounds = []
    began = time.perf_counter()
    for seed in range(asked.first, asked.first + asked.seeds):
        world = worlds.of(seed, asked.tasks)
        tasks = TaskSet(name="world", tasks=world.tasks)
        for name in names[:-1]:
            ideas = ideas_of(only="heart" if asked.by_heart else "", tagged=not asked.untagged)
            with tempfile.TemporaryDirectory(prefix="germline-bench-") as folder:
                population = "" if name == "germline" else name
                counts, divisions = trained(world, tasks, ideas, population, marks, Path(folder))
            rows[name].append(counts)
            spent[name].append(divisions)
        rows["mean rises"].append(practised(world, tasks, ideas, marks))
        every = " ".join(f"mind the {kind}" for kind in world.kinds)
        bounds.append((world.score(""), world.score(every)))
        print(f"seed {seed}: {[rows[name][-1][-1] for name in names[:-1]]}", flush=True)
    low, high = (fmean(values) for values in zip(*bounds, strict=True))
    print(f"{asked.seeds} seeds, {asked.tasks} tasks; without a line {low:.3f}, with all true ones {high:.3f}")
    print_means(rows, spent, marks)
    print(f"{time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
