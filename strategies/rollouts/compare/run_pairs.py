"""Pairing: which two versions each round compares for one candidate, by itself or in company of others."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from statistics import fmean
from typing import TYPE_CHECKING

from events.errors import EditError
from strategies.gate.stats.balanced_rounds import balanced_signs, noise_beside
from strategies.gate.vetoes import judge_figures
from strategies.rollouts.tasks.task import judge_layers

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from events.types.runs import JudgeFigures
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.runner import Runs
    from strategies.rollouts.run.trial import LayerResult, Trial
    from strategies.rollouts.tasks.task import RolloutTask

    Together = Callable[[frozenset[str]], Arm]


@dataclass(frozen=True)
class Block:
    """Balanced rounds in a row: the first of them, the members by name, and for each round the sign of every one.

    `member` is the candidate's own place among them, `part` the tasks that these rounds run by their ids; None for
    all.
    """

    start: int
    names: tuple[str, ...]
    signs: tuple[tuple[int, ...], ...]
    member: int
    part: frozenset[str] | None = None

    @property
    def rounds(self) -> range:
        """The rounds of the block."""
        return range(self.start, self.start + len(self.signs))


@dataclass(frozen=True)
class Pairing:
    """The versions that are compared for one candidate, round by round: one holds it, the other does not.

    `sides` names them, with it first, for rounds in company of others; in all other rounds the candidate is
    compared with the incumbent.
    """

    candidate: Arm
    incumbent: Arm
    sides: Mapping[int, tuple[Arm, Arm]] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()

    @property
    def company(self) -> frozenset[str]:
        """The names of the others that were run beside it."""
        return frozenset(name for block in self.blocks for name in block.names) - {self.candidate.name}

    def both(self, at: int) -> tuple[Arm, Arm]:
        """Give the version with the candidate and the one without it."""
        return self.sides.get(at, (self.candidate, self.incumbent))

    def arms(self, span: Iterable[int]) -> tuple[Arm, ...]:
        """Give all versions that some rounds compare, each once."""
        return tuple({arm.key: arm for at in span for arm in self.both(at)}.values())

    def rounds_of(self, task: RolloutTask, span: Iterable[int]) -> list[int]:
        """Give those of some rounds that run a task: a block may be for a part of the tasks."""
        others = [block.rounds for block in self.blocks if block.part is not None and task.id not in block.part]
        return [at for at in span if not any(at in rounds for rounds in others)]

    def after(self, runs: Runs, task: RolloutTask, span: Iterable[int]) -> list[Trial | None]:
        """Give the runs of a task with the candidate, None for those that are missing."""
        return [runs.of(self.both(at)[0], task, (at,))[0] for at in self.rounds_of(task, span)]

    def before(self, runs: Runs, task: RolloutTask, span: Iterable[int]) -> list[Trial | None]:
        """Give the runs of a task without the candidate, None for those that are missing."""
        return [runs.of(self.both(at)[1], task, (at,))[0] for at in self.rounds_of(task, span)]

    def pairs(self, runs: Runs, tasks: Iterable[RolloutTask], span: Sequence[int]) -> list[list[float | None]]:
        """Pair the runs: with it minus without it, for each task and each of its rounds; None for a void one."""
        return [differences(self.after(runs, task, span), self.before(runs, task, span)) for task in tasks]

    def gains_beside(self, other: str, runs: Runs, tasks: Sequence[RolloutTask], span: Sequence[int]) -> bool:
        """Tell whether the candidate gains at least half as much where another one of its company is there too.

        Two that do the same gain in the versions without the other, and nothing in the rest.
        """
        sides: tuple[list[float], list[float]] = ([], [])
        for block in (block for block in self.blocks if other in block.names):
            beside = block.names.index(other)
            for at, row in zip(block.rounds, block.signs, strict=True):
                side = 0 if row[block.member] == row[beside] else 1  # the version that holds the other
                trials = [runs.of(self.both(at)[side], task, (at,))[0] for task in tasks]
                sides[side].extend(value for value in values(trials) if value is not None)
        gains = [pair for task in self.pairs(runs, tasks, span) for pair in task if pair is not None]
        return not all(sides) or fmean(sides[0]) - fmean(sides[1]) >= fmean(gains) / 2

    def noise(self, runs: Runs, tasks: Iterable[RolloutTask]) -> list[list[float]]:
        """Give the pairs of all rounds of its blocks, task by task, without what the company explains of them."""
        return [
            [
                rest
                for block in self.blocks
                for rest in noise_beside(self.pairs(runs, (task,), block.rounds)[0], block.signs, block.member)
            ]
            for task in tasks
        ]


def with_block(
    pairings: Mapping[str, Pairing], start: int, together: Together, part: frozenset[str] | None = None
) -> dict[str, Pairing]:
    """Add balanced rounds from `start` on in which all of these are run, each in one of the two versions.

    `together` gives the version that holds some candidates, by their names; `part` are the tasks, None for all.
    """
    names, number = list(pairings), max(len(pairing.blocks) for pairing in pairings.values())
    signs = balanced_signs(len(names), number)
    sides = [
        {
            side: together(frozenset(name for name, sign in zip(names, row, strict=True) if sign == side))
            for side in (1, -1)
        }
        for row in signs
    ]
    extended = {}
    for member, (name, pairing) in enumerate(pairings.items()):
        own = {
            start + at: (both[row[member]], both[-row[member]])
            for at, (row, both) in enumerate(zip(signs, sides, strict=True))
        }
        blocks = (*pairing.blocks, Block(start, tuple(names), signs, member, part))
        extended[name] = replace(pairing, sides={**pairing.sides, **own}, blocks=blocks)
    return extended


def companies(arms: Sequence[Arm], together: Together, most: int) -> list[list[Arm]]:
    """Divide candidates into companies of at most so many that can be one version: in order, as few as can be."""
    formed: list[list[Arm]] = []
    for arm in arms:
        company = next((each for each in formed if len(each) < most and _has_room(each, arm, together)), None)
        if company is None:
            formed.append([arm])
        else:
            company.append(arm)
    return formed


def _has_room(company: Sequence[Arm], arm: Arm, together: Together) -> bool:
    """Tell whether a candidate fits beside those of a company, into the same skill."""
    try:
        together(frozenset(member.name for member in (*company, arm)))
    except EditError:
        return False
    return True


def differences(after: Iterable[Trial | None], before: Iterable[Trial | None]) -> list[float | None]:
    """Subtract outcomes run by run; None where either is void, or worth nothing because of tampering."""
    return [
        None if outcome is None or beside is None else outcome - beside
        for outcome, beside in zip(values(after), values(before), strict=True)
    ]


def values(trials: Iterable[Trial | None]) -> list[float | None]:
    """Give the outcomes of runs; None for those that are void, or worth nothing because of tampering."""
    return [None if trial is None or trial.tampered else trial.value for trial in trials]


def judged(
    runs: Runs, pairing: Pairing, tasks: Sequence[RolloutTask], span: Sequence[int]
) -> tuple[JudgeFigures, ...]:
    """Tell what judges made of both versions, layer by layer."""
    layers = sorted({layer.name for task in tasks for layer in judge_layers(task)})
    figures = []
    for name in layers:
        before = [_results(pairing.before(runs, task, span), name) for task in tasks]
        after = [_results(pairing.after(runs, task, span), name) for task in tasks]
        both = [
            [None if a is None or b is None else (a.value, b.value) for a, b in zip(*task, strict=True)]
            for task in zip(before, after, strict=True)
        ]
        counts = all(layer.counts for task in after for layer in task if layer)
        figures.append(judge_figures(name, both, counts=counts))
    return tuple(layer for layer in figures if layer is not None)


def _results(trials: Iterable[Trial | None], layer: str) -> list[LayerResult | None]:
    """Give what a layer came to in runs; None for those that it saw nothing of."""
    return [
        next((result for result in trial.layers if result.name == layer), None)
        if trial and not trial.tampered
        else None
        for trial in trials
    ]
