"""The world: tasks of six kinds, a line that helps each kind, lures, answers by heart, fillers, and who has ideas.

Without its line a task passes with a rate drawn for it (mean about .33), with it 84.5 % of the room is gained
(mean about .90). A lure gains 40 % of the room of one kind and takes half of what the two next kinds have. An
answer by heart solves one task for certain. A filler does nothing. Each true line and each lure has several
wordings: a model says the same thing again in other words. Said twice, a line counts once.
"""

from __future__ import annotations

import hashlib
import random
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Final

from strategies.models.tasks.training_case import TrainingChange, TrainingEdit
from strategies.rollouts.run.trial import Trial
from strategies.rollouts.tasks.check_types import FileExists
from strategies.rollouts.tasks.task import ChecksGrader, RolloutTask
from strategies.train.training_proposers import ProposedChange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.models.tasks.training_case import TaskAttempt, TrainingCase
    from strategies.rollouts.run.store import PlannedRun

KINDS: Final = ("dates", "amounts", "names", "files", "counts", "links")
LURES: Final = KINDS[:3]
"""The kinds that a lure seems to help."""
SHARES: Final = {"true": 0.30, "lure": 0.15, "heart": 0.30, "filler": 0.25}
"""What an idea is, by how often."""
IDEAS: Final = 3
"""Ideas on each minibatch of failures."""
WORDINGS: Final = ("Always", "In every case", "First of all", "Without exception")
GAINS: Final = 0.845
"""The share of the room that a task has which its line gains: .331 becomes .896."""
BASE: Final = (0.8, 1.617)
"""The Beta distribution of rates without any line: mean .331."""
LURE_GAINS: Final = 0.4
LURE_COSTS: Final = 0.5
_RULE: Final = re.compile(r"mind the (\w+)")
_LURE: Final = re.compile(r"guess the (\w+)")
_HEART: Final = re.compile(r"answer of (task-\S+) is")


@dataclass(frozen=True)
class LiveLines:
    """What stands in a skill, by what it does."""

    true: frozenset[str]
    lures: frozenset[str]
    by_heart: frozenset[str]
    fillers: int

    @classmethod
    def of(cls, text: str) -> LiveLines:
        """Read a skill's text."""
        fillers = sum("it is worth knowing" in line for line in text.splitlines())
        return cls(
            frozenset(_RULE.findall(text)),
            frozenset(_LURE.findall(text)),
            frozenset(_HEART.findall(text)),
            fillers,
        )


@dataclass(frozen=True)
class World:
    """The tasks of one seed: those of the set, and others of the same make that nobody is ever shown."""

    seed: int
    tasks: tuple[RolloutTask, ...]
    held_out: tuple[RolloutTask, ...]
    kinds: ClassVar[tuple[str, ...]] = KINDS
    base: ClassVar[tuple[float, float]] = BASE

    @classmethod
    def of(cls, seed: int, tasks: int, held_out: int = 240) -> World:
        """Make as many tasks of each kind as there is room for."""
        return cls(
            seed,
            tuple(task_of(f"task-{number:03}", KINDS[number % len(KINDS)]) for number in range(tasks)),
            tuple(task_of(f"unseen-{number:03}", KINDS[number % len(KINDS)]) for number in range(held_out)),
        )

    @staticmethod
    def kind_of(task: RolloutTask | TaskAttempt) -> str:
        """Say what a task is about."""
        return task.prompt.rpartition(" ")[2].rstrip(".")

    def rate_before(self, task: RolloutTask) -> float:
        """Tell how often a task passes without any line."""
        return random.Random(f"{self.seed} {task.id}").betavariate(*self.base)

    def rate(self, lines: LiveLines, task: RolloutTask) -> float:
        """Tell how often a task passes with these lines."""
        if task.id in lines.by_heart:
            return 1.0
        kind, before = self.kind_of(task), self.rate_before(task)
        rate = before + GAINS * (1 - before) if kind in lines.true else before
        at = KINDS.index(kind)
        if kind in lines.lures:
            rate += LURE_GAINS * (1 - rate)
        for behind in (1, 2):
            if KINDS[at - behind] in lines.lures:
                rate *= 1 - LURE_COSTS
        return rate

    def score(self, text: str) -> float:
        """Give the expected score on tasks that nobody was shown."""
        lines = LiveLines.of(text)
        return sum(self.rate(lines, task) for task in self.held_out) / len(self.held_out)

    def passes(self, text: str, task: RolloutTask, *place: object) -> bool:
        """Run once: chance is drawn from the place of the run."""
        mark = hashlib.sha256(repr((self.seed, task.id, *place)).encode()).digest()
        return int.from_bytes(mark[:6]) / 2**48 < self.rate(LiveLines.of(text), task)

    def trial(self, text: str, job: PlannedRun) -> Trial:
        """Make the run that a comparison asks for."""
        passed = self.passes(text, job.task, job.arm.key, job.round)
        return Trial(task=job.task.id, status="done", value=float(passed), tags=job.task.tags, cost_usd=0.0)


def task_of(name: str, kind: str, tags: tuple[str, ...] = ()) -> RolloutTask:
    """Make a task of a kind; that is its tag where none are named."""
    done = ChecksGrader(name="done", checks=(FileExists(path="done"),))
    prompt = f"Do {name}, which is about {kind}."
    return RolloutTask(id=name, prompt=prompt, graders=(done,), tags=tags or (kind,))


@dataclass
class Ideas:
    """Has ideas about runs that failed, of stated kinds in stated shares; the same for the same case.

    With `tagged` it says which tag of tasks each is for. `prompts` counts the minibatches that it was asked about.
    """

    only: str = ""
    tagged: bool = True
    name: str = "ideas"
    prompts: int = 0
    shares: ClassVar[dict[str, float]] = SHARES
    kinds: ClassVar[tuple[str, ...]] = KINDS
    lured: ClassVar[tuple[str, ...]] = LURES
    wordings: ClassVar[tuple[str, ...]] = WORDINGS
    no_tag: ClassVar[float] = 0.0
    wrong_tag: ClassVar[float] = 0.0

    def propose(self, case: TrainingCase) -> list[ProposedChange]:
        """Have some on each minibatch of failures; each is for the kind of the task that it comes from."""
        text = "\n".join(line.text for line in case.lines)
        ideas = []
        for at, batch in enumerate(batch for batch in case.batches if batch.kind == "failures"):
            self.prompts += 1
            draws = random.Random(f"{case.seed} {case.epoch} {at}")
            failed = [(attempt.task, World.kind_of(attempt)) for attempt in batch.attempts]
            for _ in range(IDEAS):
                line, kind = self.idea(draws, text, failed)
                ideas.append((line, tuple(self.tags_of(draws, kind))))
        gene = case.lines[-1].gene
        return [
            ProposedChange(
                TrainingChange(
                    reason="an idea",
                    tags=tags,
                    edits=(TrainingEdit(op="append", gene=gene, text=line),),
                ),
                "proposer:ideas",
            )
            for line, tags in ideas
        ]

    def idea(self, draws: random.Random, text: str, failed: Sequence[tuple[str, str]]) -> tuple[str, str]:
        """Have one idea, with the kind that it is about.

        One that is true is about a kind that failed and that the skill has no line for, if there is any.
        """
        what = self.only or draws.choices(list(self.shares), list(self.shares.values()))[0]
        lines, wording = LiveLines.of(text), draws.choice(self.wordings)
        task, kind = draws.choice(list(failed))
        lacking = sorted({kind for _, kind in failed} - lines.true)
        number = draws.randrange(10**6)
        if what == "true" and lacking:
            about = draws.choice(lacking)
            return self.true_line(wording, about), about
        if what == "lure":
            near = kind if kind in self.lured else draws.choice(self.lured)
            return self.lure_line(wording, near), near
        if what == "heart":
            return f"- The answer of {task} is {number}.", kind
        return f"- Of {kind} it is worth knowing that they come in lot {number}.", kind

    def true_line(self, wording: str, about: str) -> str:
        """Write a line that helps a kind."""
        return f"- {wording} mind the {about} of what is asked."

    def lure_line(self, wording: str, about: str) -> str:
        """Write a line that helps a kind and harms others."""
        return self.true_line(wording, about).replace("mind", "guess")

    def tags_of(self, draws: random.Random, about: str) -> Sequence[str]:
        """Name the tags that an idea is for."""
        chance = draws.random() if self.no_tag + self.wrong_tag else 1.0
        if not self.tagged or chance < self.no_tag:
            return ()
        return (draws.choice(self.kinds) if chance < self.no_tag + self.wrong_tag else about,)
