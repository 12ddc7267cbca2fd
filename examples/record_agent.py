"""The agent program whose work is recorded: no model, only a temper and dice, against a real tool.

The agent tries its plan command by command. Where a command fails it reacts by temper, and what comes of
that is decided by the tool alone: the program is told neither the right name nor whether the task passed.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, Protocol

if TYPE_CHECKING:
    import random

Temper = Literal["mend", "guess", "repeat", "dither", "force"]
"""mend: look, or do what the tool advises; guess: another likely name; repeat: the same again; dither: ask
something that cannot answer; force: make the error go away."""

Difficulty = Literal["easy", "medium", "hard"]

TEMPERS: Final[tuple[Temper, ...]] = ("mend", "guess", "repeat", "dither", "force")

RUNS: Final[dict[str, tuple[int, int, int, int, int]]] = {
    # Weights in the order of TEMPERS, chosen so that every run does some of everything: a stratum that holds
    # one arm only says nothing.
    "careful": (50, 18, 6, 12, 14),
    "mixed": (35, 25, 10, 15, 15),
    "hasty": (16, 44, 8, 14, 18),
    "stubborn": (20, 18, 32, 14, 16),
}

RESULT_CAP_CHARS: Final = 160
"""Results are kept to show what the agent saw, not to be read whole."""


@dataclass(frozen=True)
class Task:
    """What is asked of the agent; `limit` counts commands."""

    id: str
    difficulty: Difficulty
    prompt: str
    limit: int


@dataclass(frozen=True)
class Seen:
    """What a tool said to one command."""

    failed: bool
    text: str


@dataclass(frozen=True)
class Step:
    """One recorded command with its answer, or the closing message (no tool)."""

    text: str
    tool: str = ""
    head: str = ""
    seen: Seen = Seen(failed=False, text="")
    writes: bool = False


class World(Protocol):
    """A place to work in: one database, or one repository with its remote."""

    tool: str

    def fill(self, pattern: str) -> str:
        """Write a command of the plan with the names that the agent believes in now."""
        ...

    def head(self, command: str) -> str:
        """Name the action of a command: `SELECT`, `git push`."""
        ...

    def writes(self, command: str) -> bool:
        """Tell whether a command changes something when it works."""
        ...

    def run(self, command: str) -> Seen:
        """Run a command for real."""
        ...

    def learn(self, command: str, seen: Seen) -> None:
        """Take in what a command that worked has shown."""
        ...

    def react(self, pattern: str, seen: Seen, temper: Temper) -> list[str]:
        """Give the commands that take the place of a failed one."""
        ...

    def report(self) -> str:
        """Say what the agent says at its end."""
        ...

    def passed(self) -> bool:
        """Check the state that the agent left behind, or its answer."""
        ...


@dataclass(frozen=True)
class Work:
    """What came of one task: the steps, who ended it and whether the check passed."""

    steps: tuple[Step, ...]
    ended_by: Literal["agent", "limit"]
    passed: bool


def work(world: World, plan: list[str], limit: int, weights: tuple[int, ...], dice: random.Random) -> Work:
    """Carry out a plan, reacting to each failure by a temper drawn with the run's weights."""
    todo = deque(plan)
    steps: list[Step] = []
    while todo and len(steps) < limit:
        pattern = todo.popleft()
        command = world.fill(pattern)
        seen = world.run(command)
        writes = world.writes(command) and not seen.failed
        steps.append(Step(command, world.tool, world.head(command), seen, writes))
        if seen.failed:
            temper = dice.choices(TEMPERS, weights)[0]
            todo.extendleft(reversed(world.react(pattern, seen, temper)))
        else:
            world.learn(command, seen)
    if todo:
        return Work(tuple(steps), "limit", passed=False)
    return Work((*steps, Step(world.report())), "agent", passed=world.passed())


def likeliest(wanted: tuple[str, ...], shown: list[str], dice: random.Random) -> str:
    """Choose among the names shown: the shortest that holds a wanted word, the words in order, else any."""
    for word in wanted:
        holding = [name for name in shown if word in name.lower()]
        if holding:
            return min(holding, key=lambda name: (len(name), name))
    return dice.choice(shown)
