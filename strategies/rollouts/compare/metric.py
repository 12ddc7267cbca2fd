"""The metric harness: one command that prints one number, measured side by side again and again."""

from __future__ import annotations

import hashlib
import math
import re
import shlex
import shutil
import tomllib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal, Self

from pydantic import Field, ValidationError, model_validator

from events.errors import UsageError
from events.types.frozen import Frozen
from strategies.policy.canonical_json import digest
from strategies.rollouts.compare.harness import Harness
from strategies.rollouts.compare.hashes import harness_of, rollout_evaluator
from strategies.rollouts.compare.task_division import DividedTasks
from strategies.rollouts.run.agent_templates import Agent
from strategies.rollouts.run.arms import write_arm
from strategies.rollouts.run.leftovers import OVERRUNS, filled
from strategies.rollouts.run.trial import Trial
from strategies.rollouts.tasks.check_types import Argv, Fixture, RelativePath
from strategies.rollouts.tasks.task import CommandGrader, Name, RolloutTask
from strategies.rollouts.tasks.workspace import write_files
from strategies.sandbox.confined_run import ConfinedCommand, installed, run, run_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.runner import RunCaps, Runner
    from strategies.rollouts.run.store import PlannedRun
    from strategies.sandbox.confined_run import Ran, SandboxPolicy

LEAST_REPEATS: Final = 20
"""Pairs of repeats that stand for tasks: a lucky number is not kept."""
_NUMBER: Final = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_NOTE_CHARS: Final = 300


class Guard(Frozen):
    """A command that must end with exit code 0, and print the `same_output`, with what is measured as without it.

    It is run as the metric's command is, with seeds that nobody knows before.
    """

    command: Argv
    same_output: bool = True


class MetricFile(Frozen):
    """What a person wrote down about a metric, in TOML.

    `command` is run in a copy of `files`, with the version that is measured at `{skill_dir}`, and in `{seed}` a
    number that both of a pair share; the last line that it prints holds the number. `bounds` are its least and
    greatest value, `direction` says which is better. `steering` names the text that says what is wanted, for
    the one who proposes changes. `guards` are asked before experiments are measured. Units: limit_s in seconds.
    """

    name: Name
    command: Argv
    direction: Literal["higher", "lower"]
    bounds: tuple[float, float]
    steering: RelativePath
    files: tuple[RelativePath, ...] = ()
    limit_s: Annotated[float, Field(gt=0, le=86_400)] = 300.0
    repeats: Annotated[int, Field(ge=LEAST_REPEATS, le=1_000)] = LEAST_REPEATS
    guards: tuple[Guard, ...] = ()

    @model_validator(mode="after")
    def _bounded(self) -> Self:
        least, most = self.bounds
        if not (math.isfinite(least) and math.isfinite(most) and least < most):
            raise ValueError(f"bounds go from {least:g} to {most:g}: the first is the least")
        return self

    def scaled(self, number: float) -> float:
        """Write a number as an outcome in [0, 1], higher is better; beyond the bounds it counts as they do."""
        least, most = self.bounds
        share = min(max((number - least) / (most - least), 0.0), 1.0)
        return share if self.direction == "higher" else 1.0 - share


@dataclass(frozen=True)
class Metric:
    """A metric as it was when it was loaded: its files by hash, the steering text and the hash of it.

    `measured` is the path of the one file that is measured, "" for a skill: it is put there among `files`. Seeds
    follow `first_seed`.
    """

    file: MetricFile
    folder: Path
    fixtures: tuple[Fixture, ...]
    steering: str
    steering_text: str
    measured: str = ""
    first_seed: int = 0

    @property
    def digest(self) -> str:
        """The hash of everything that decides a number."""
        locked = [fixture.model_dump(mode="json") for fixture in self.fixtures]
        plain = self.file.model_dump(mode="json", exclude={"guards"})
        asked = [guard.model_dump(mode="json") for guard in self.file.guards]
        more = [asked, self.measured, self.first_seed] if asked or self.measured or self.first_seed else []
        return digest(["metric", plain, locked, self.steering, *more])

    def seed_of(self, task: RolloutTask, at: int) -> int:
        """Give the seed of a repeat in a round: both of a pair share it, and no other has it."""
        return self.first_seed + int(task.id.rpartition("-")[2]) + at * self.file.repeats

    @property
    def repeats(self) -> tuple[RolloutTask, ...]:
        """The pairs of repeats, which stand for tasks; their values are taken by `MetricRunner` alone."""
        grader = CommandGrader(
            name=self.file.name, argv=self.file.command, scores="printed", limit_s=self.file.limit_s
        )
        return tuple(
            RolloutTask(
                id=f"{self.file.name}-{number:03d}",
                prompt=f"repeat {number} of {self.file.name}",
                files={fixture.path: fixture for fixture in self.fixtures},
                graders=(grader,),
                limit_s=self.file.limit_s,
                folder=self.folder,
            )
            for number in range(1, self.file.repeats + 1)
        )


def load_metric(path: Path) -> Metric:
    """Read a metric file, and hash what it names; raises UsageError that says what is wrong with it."""
    hint = "docs/rollouts.md shows a metric file"
    folder = path.resolve().parent
    try:
        file = MetricFile.model_validate(tomllib.loads(path.read_text(encoding="utf-8")))
        steering = (folder / file.steering).read_bytes()
        fixtures = tuple(
            Fixture(path=name, sha256=hashlib.sha256((folder / name).read_bytes()).hexdigest())
            for name in file.files
        )
    except OSError as error:
        raise UsageError(f"cannot read {error.filename or path}: {error.strerror}", hint=hint) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no TOML: {error}", hint=hint) from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"]) or "it"
        raise UsageError(f"{path}: {place}: {first['msg'].removeprefix('Value error, ')}", hint=hint) from error
    digest_of_steering = hashlib.sha256(steering).hexdigest()
    return Metric(file, folder, fixtures, digest_of_steering, steering.decode(errors="replace"))


def harness_on_metric(
    metric: Metric, policy: SandboxPolicy, split_key: str, *, workers: int, caps: RunCaps
) -> Harness:
    """Set up side-by-side repeats of a metric: nothing can be learned by heart, so all of them are sealed."""
    agent = Agent(name=f"metric {metric.file.name}", argv=metric.file.command)
    harness = harness_of(agent, policy)
    if metric.first_seed:
        harness = digest([harness, metric.first_seed])

    def runner(place: Path) -> Runner:
        return MetricRunner(metric, policy, place)

    return Harness(
        divided=DividedTasks((), metric.repeats, ()),
        tasks=metric.digest,
        agent=agent,
        digest=harness,
        evaluator=rollout_evaluator(metric.digest, harness, split_key),
        runner=runner,
        workers=workers,
        caps=caps,
        against_nothing=False,
        side_by_side=True,
        provenance=(f"steering {metric.file.steering} sha256:{metric.steering}",),
        steering=metric.steering_text,
    )


@dataclass(frozen=True)
class MetricRunner:
    """Runs the command once with a version of the skill, and scales the number that it prints."""

    metric: Metric
    policy: SandboxPolicy
    place: Path

    def __call__(self, job: PlannedRun) -> Trial:
        """Measure; a command that fails, or prints no number, has the worst value there is, not none."""
        ran = self.ran(job.arm, self.metric.file.command, self.metric.seed_of(job.task, job.round))
        if ran.ended in {"unstarted", "void"}:
            return Trial(task=job.task.id, status="infrastructure", note=ran.error[:_NOTE_CHARS])
        if ran.ended != "exited":
            past = f"ran past its limit of {self.metric.file.limit_s:g} s"
            note = f"the command {OVERRUNS.get(ran.ended, past)}"
            return Trial(task=job.task.id, status="stopped", seconds=ran.seconds, note=note)
        number = printed(ran.stdout) if ran.succeeded else None
        last = (ran.stderr or ran.stdout).strip().splitlines()[-1:]
        return Trial(
            task=job.task.id,
            status="done",
            value=0.0 if number is None else self.metric.file.scaled(number),
            number=number,
            lenient=number is not None,
            seconds=ran.seconds,
            cost_usd=0.0,
            attempts=ran.attempts,
            note="" if number is not None else f"no number, exit code {ran.code}: {''.join(last)}"[:_NOTE_CHARS],
        )

    def ran(self, arm: Arm, command: Sequence[str], seed: int) -> Ran:
        """Run a command with a version of the skill, in a fresh folder that holds the metric's files."""
        with run_folder("metric-") as root:
            return self._ran(arm, command, seed, root)

    def _ran(self, arm: Arm, command: Sequence[str], seed: int, root: Path) -> Ran:
        workspace, skill, home, temporary = (root / name for name in ("workspace", "skill", "home", "tmp"))
        for folder in (workspace, skill, home, temporary):
            folder.mkdir()
        write_files(workspace, {fixture.path: fixture for fixture in self.metric.fixtures}, self.metric.folder)
        version = write_arm(arm, self.place)
        if version is not None:
            shutil.copytree(version, skill / version.name)
        places = {"{skill_dir}": skill / arm.skill.rpartition("/")[2], "{workspace}": workspace}
        if self.metric.measured and version is not None:
            places["{file}"] = workspace / self.metric.measured
            places["{file}"].parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(version / self.metric.measured, places["{file}"])
        program, *words = (word.replace("{seed}", str(seed)) for word in command)
        return run(
            ConfinedCommand(
                argv=(installed(program), *(filled(word, places) for word in words)),
                cwd=workspace,
                root=root,
                writable=(workspace, home, temporary),
                limit_s=self.metric.file.limit_s,
                environment={"HOME": str(home), "TMPDIR": str(temporary)},
            ),
            self.policy,
        )


def guard_problem(runner: MetricRunner, before: Arm, after: Arm, seeds: Sequence[int]) -> str:
    """Say which guard does not hold with a changed version, "" where all do.

    Raises: UsageError where one fails with the version as it was.
    """
    for guard in runner.metric.file.guards:
        name = shlex.join(guard.command)
        for seed in seeds:
            was = runner.ran(before, guard.command, seed)
            if not was.succeeded:
                raise UsageError(
                    f"the guard {name} fails on the files as they are: {_end_of(was)}",
                    hint="a guard must hold before anything is changed; docs/rollouts.md",
                )
            now = runner.ran(after, guard.command, seed)
            if not now.succeeded:
                return f"guard: {name} fails: {_end_of(now)}"
            if guard.same_output and now.stdout != was.stdout:
                return f"guard: {name} prints something else with seed {seed}"
    return ""


def _end_of(ran: Ran) -> str:
    """Say how a command ended, and the last that it printed."""
    last = (ran.error or ran.stderr or ran.stdout).strip().splitlines()[-1:]
    return f"{ran.ended}, exit code {ran.code}: {''.join(last)}"[:_NOTE_CHARS]


def printed(stdout: str) -> float | None:
    """Take the last number of the last line that says anything; None where there is none."""
    lines = [line for line in stdout.splitlines() if line.strip()]
    numbers = _NUMBER.findall(lines[-1]) if lines else []
    number = float(numbers[-1]) if numbers else math.nan
    return number if math.isfinite(number) else None
