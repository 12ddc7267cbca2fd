"""Tasks that an agent is run on: what it is given, how its work is graded, and what must hold all the same."""

from __future__ import annotations

import hashlib
from collections import Counter
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import Field, model_validator

from events.types.frozen import Frozen
from strategies.rollouts.tasks.check_types import (
    MAX_LIMIT_S,
    AnswerOrPath,
    Argv,
    Check,
    CommandExits,
    Fixture,
    RelativePath,
    check_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_TASKS: Final = 10_000
MAX_TASK_FILES: Final = 500
MAX_TEXT_CHARS: Final = 1_000_000
MAX_REFERENCE_CHARS: Final = 10_000
MAX_FIXTURE_BYTES: Final = 64 * 1024 * 1024
"""Guesses with room to spare: tasks of published sets hold a handful of files below a megabyte."""

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", max_length=120)]
Limit = Annotated[float, Field(gt=0, le=MAX_LIMIT_S)]
Text = Annotated[str, Field(max_length=MAX_TEXT_CHARS)]


Variables = Annotated[
    dict[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")], Text], Field(max_length=MAX_TASK_FILES)
]
"""Variables of commands, by name."""
Files = Annotated[dict[RelativePath, Text | Fixture], Field(max_length=MAX_TASK_FILES)]
"""Files by path, each a text or a file of the set."""


class _Layer(Frozen):
    """One layer of grading; it passes from `threshold` on. Units: values in [0, 1], limit_s in seconds."""

    name: Name
    threshold: Annotated[float, Field(gt=0, le=1)] = 1.0


class ChecksGrader(_Layer):
    """The share of declarative checks that hold."""

    kind: Literal["checks"] = "checks"
    checks: Annotated[tuple[Check, ...], Field(min_length=1, max_length=200)]


class PythonGrader(_Layer):
    """A Python script of the set, run in a copy of the workspace; `uses` are the other files that it reads.

    `scores` says how it gives its value: by exit code (0 is 1, anything else 0), or as the last line it prints.
    """

    kind: Literal["python"] = "python"
    script: Fixture
    arguments: Annotated[tuple[str, ...], Field(max_length=200)] = ()
    uses: Annotated[tuple[Fixture, ...], Field(max_length=MAX_TASK_FILES)] = ()
    scores: Literal["exit_code", "printed"] = "exit_code"
    limit_s: Limit = 30.0


class CommandGrader(_Layer):
    """Any allowed command, run as the scripts are; see PythonGrader."""

    kind: Literal["command"] = "command"
    argv: Argv
    uses: Annotated[tuple[Fixture, ...], Field(max_length=MAX_TASK_FILES)] = ()
    scores: Literal["exit_code", "printed"] = "exit_code"
    limit_s: Limit = 30.0


class TaskImage(Frozen):
    """The image that a task's containers are made of, and what they may do and use; see HarborGrader.

    It is built from `context`, or has a `name`. `network` is that of the task, `verifier_network` that of its
    verifier; so are `environment`, `verifier_environment` and `solution_environment` variables of all commands, of
    the verifier and of the known good solution. Units: build_limit_s in seconds; 0 megabytes and 0 processors mean
    that the task does not say.
    """

    name: Annotated[str, Field(pattern=r"^([A-Za-z0-9][A-Za-z0-9._/:@+-]*)?$", max_length=500)] = ""
    context: Annotated[tuple[Fixture, ...], Field(max_length=MAX_TASK_FILES)] = ()
    build_limit_s: Limit = 600.0  # Harbor's own
    memory_mb: Annotated[int, Field(ge=0)] = 0
    cpus: Annotated[float, Field(ge=0)] = 0.0
    network: bool = False
    verifier_network: bool = False
    environment: Variables = Field(default_factory=dict)
    verifier_environment: Variables = Field(default_factory=dict)
    solution_environment: Variables = Field(default_factory=dict)


class HarborGrader(_Layer):
    """The reward that the verifier of a Harbor task writes: `script`, run by bash, with `uses` beside it.

    A copy of the workspace is in the place of `workdir`. `solution` are the files of the known good solution, with
    a `solve.sh`. With an `image` all of it happens in containers, from the image's own working directory on;
    without one it is left out of what is hashed, as in tasks from before there were containers.
    """

    kind: Literal["harbor"] = "harbor"
    script: Fixture
    uses: Annotated[tuple[Fixture, ...], Field(max_length=MAX_TASK_FILES)] = ()
    solution: Annotated[tuple[Fixture, ...], Field(max_length=MAX_TASK_FILES)] = ()
    workdir: Annotated[str, Field(pattern=r"^/.*[^/]$", max_length=500)] = "/app"
    limit_s: Limit = 600.0  # Harbor's own
    image: Annotated[TaskImage | None, Field(exclude_if=lambda image: image is None)] = None


class SimilarityGrader(_Layer):
    """How alike a file or the answer is to a reference, as difflib has it."""

    kind: Literal["similarity"] = "similarity"
    path: AnswerOrPath = ""
    reference: Annotated[str, Field(min_length=1, max_length=MAX_REFERENCE_CHARS)] | Fixture


class JudgeGrader(_Layer):
    """A model that compares a file or the answer with a reference, by the judge's rubric, in both orders.

    1 where the work is better, .5 for a tie, 0 where the reference is. It counts while the judge is calibrated on
    the family of tasks that is named; else it is a note beside the others.
    """

    kind: Literal["judge"] = "judge"
    threshold: Annotated[float, Field(gt=0, le=1)] = 0.5
    family: Name
    path: AnswerOrPath = ""
    reference: Annotated[str, Field(min_length=1, max_length=MAX_REFERENCE_CHARS)] | Fixture


OwnGrader = ChecksGrader | PythonGrader | CommandGrader | HarborGrader | SimilarityGrader
"""The layers that need no model."""
GraderSpec = Annotated[OwnGrader | JudgeGrader, Field(discriminator="kind")]


class Solution(Frozen):
    """A known good solution: the files it adds or replaces, and what the agent would have answered."""

    files: Files = Field(default_factory=dict)
    answer: Text = ""


class RolloutTask(Frozen):
    """One task: the prompt, the workspace it begins with, and how the work is judged.

    `anchors` are locked by the set's digest; a regression on one vetoes. Only tasks of an audit have no grader.
    Units: limit_s bounds the agent's run.
    """

    id: Name
    prompt: Annotated[str, Field(min_length=1, max_length=MAX_TEXT_CHARS)]
    files: Files = Field(default_factory=dict)
    graders: Annotated[tuple[GraderSpec, ...], Field(max_length=20)] = ()
    anchors: Annotated[tuple[Check, ...], Field(max_length=50)] = ()
    limit_s: Limit = 300.0
    tags: Annotated[tuple[Name, ...], Field(max_length=50)] = ()
    solution: Solution | None = None
    folder: Annotated[Path, Field(exclude=True, repr=False)] = Path()
    """Where fixtures lie on this machine: no part of the task, so it is neither hashed nor stored."""

    @model_validator(mode="after")
    def _graders_and_anchors_fit(self) -> Self:
        for what, names in (
            ("anchors", map(check_name, self.anchors)),
            ("graders", (grader.name for grader in self.graders)),
        ):
            twice = [name for name, times in Counter(names).items() if times > 1]
            if twice:
                raise ValueError(f"two {what} are called {twice[0]!r}: give each a name of its own")
        if self.graders and all(isinstance(grader, JudgeGrader) for grader in self.graders):
            raise ValueError("a judge is its only grader: add one that needs no model, for a judge may not count")
        return self

    @property
    def fixtures(self) -> tuple[Fixture, ...]:
        """Every file of the set that the task refers to, once."""
        named = [*self.files.values(), *(self.solution.files.values() if self.solution else ())]
        checks = list(self.anchors)
        for grader in self.graders:
            if isinstance(grader, ChecksGrader):
                checks += grader.checks
            elif isinstance(grader, SimilarityGrader | JudgeGrader):
                named.append(grader.reference)
            else:
                named += grader.uses
            if isinstance(grader, PythonGrader | HarborGrader):
                named.append(grader.script)
            if isinstance(grader, HarborGrader):
                named += (*grader.solution, *(grader.image.context if grader.image else ()))
        named += [use for check in checks if isinstance(check, CommandExits) for use in check.uses]
        return tuple(
            {check_file.path: check_file for check_file in named if isinstance(check_file, Fixture)}.values()
        )


def judge_layers(task: RolloutTask) -> Iterator[JudgeGrader]:
    """Give the layers of a task that ask a judge."""
    return (grader for grader in task.graders if isinstance(grader, JudgeGrader))


class TaskSet(Frozen):
    """The tasks of one file or folder, in its order, under one name.

    `notes` say what a reader could not take over; they are no part of what is hashed.
    """

    name: Name
    tasks: Annotated[tuple[RolloutTask, ...], Field(min_length=1, max_length=MAX_TASKS)]
    folder: Annotated[Path, Field(exclude=True, repr=False)] = Path()
    notes: Annotated[tuple[str, ...], Field(exclude=True, repr=False)] = ()

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of everything that decides a result: prompts, files, fixtures, scripts, checks, limits."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()
