"""The verifier of a Harbor task in a container of the task, on a copy of what an agent left."""

from __future__ import annotations

from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import ContainerError
from strategies.rollouts.run.harbor_script import reward_in
from strategies.rollouts.run.task_container import running
from strategies.rollouts.tasks.task import TaskImage
from strategies.rollouts.tasks.workspace import copy_workspace, read_text, write_files
from strategies.sandbox.confined_run import run_folder
from strategies.sandbox.container_program import WHY_NONE

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from strategies.rollouts.run.leftovers import AgentWork
    from strategies.rollouts.tasks.check_types import Fixture
    from strategies.rollouts.tasks.task import HarborGrader
    from strategies.sandbox.confined_run import Ran

_LOGS: Final = ("verifier", "agent", "artifacts")
_PRINTED: Final = "printed.txt"
_SCRIPT: Final = f'bash "$1" </dev/null >/logs/{_PRINTED} 2>&1'
"""Output goes to a file: who holds a pipe open would be waited for."""
_TAIL_LINES: Final = 3


class Verified(NamedTuple):
    """What came of a verifier: the reward as it was written, or "", the end of what it printed, its tampering."""

    reward: str
    output: str
    tampering: tuple[str, ...] = ()


class _Phase(NamedTuple):
    """One script of a task, in a container of its own: the folder of the task that it lies in, and what it may."""

    folder: str
    script: str
    uses: tuple[Fixture, ...]
    network: bool
    variables: Mapping[str, str]


def verified_in_container(grader: HarborGrader, work: AgentWork, *, solved: bool) -> Verified:
    """Run a verifier, or before it the known good solution, where /tests, /solution and /logs are as in Harbor.

    Each has a container of its own: as from an agent, only what is in the working directory reaches the verifier.
    Raises: ContainerError where there is no container, or it went away; CheckFailedError.
    """
    outputs, reward = [], ""
    with run_folder("look-") as root:
        copy_workspace(work.folder, root / "workspace", any_link=True)
        for phase in _phases(grader, solved=solved):
            logs = root / f"{phase.folder}-logs"
            ran = _run(phase, grader, work, root, logs)
            if ran.ended == "void":
                what = f"task {work.task.id}: what the agent left could not be looked at: {ran.error}"
                raise ContainerError(what, hint=WHY_NONE)
            if ran.ended == "limit":
                return Verified("", "", (f"ran past its limit of {grader.limit_s:g} s",))
            outputs.append(_end(phase, ran, read_text(logs, _PRINTED)))
            reward = reward_in(partial(_written, logs))
    return Verified(reward, " ".join(outputs))


def _written(logs: Path, name: str) -> str:
    """Read what a verifier wrote, through no link: this is no longer its container."""
    return read_text(logs, f"verifier/{name}") or ""


def _end(phase: _Phase, ran: Ran, printed: str | None) -> str:
    """Write how a script ended, and the last of what it printed."""
    last = (printed or ran.stderr).strip().splitlines()[-_TAIL_LINES:]
    return f"{phase.folder}/{phase.script}: {' / '.join((*last, f'exit code {ran.code}'))}"


def _phases(grader: HarborGrader, *, solved: bool) -> Iterator[_Phase]:
    image = grader.image or TaskImage()
    if solved:
        yield _Phase("solution", "solve.sh", grader.solution, image.network, image.solution_environment)
    uses = (grader.script, *grader.uses)
    yield _Phase("tests", "test.sh", uses, image.verifier_network, image.verifier_environment)


def _run(phase: _Phase, grader: HarborGrader, work: AgentWork, root: Path, logs: Path) -> Ran:
    """Run one script on the copy of the workspace, with logs of its own."""
    for name in _LOGS:
        (logs / name).mkdir(parents=True)
    files = root / phase.folder
    write_files(files, {use.path: use for use in phase.uses}, work.task.folder)
    own = files / PurePosixPath(grader.script.path).parent.parent / phase.folder
    mounts = {root / "workspace": ".", logs: "/logs", own: f"/{phase.folder}"}
    with running(work.task, mounts, limit_s=grader.limit_s, network=phase.network) as container:
        argv = ("sh", "-c", _SCRIPT, "sh", f"/{phase.folder}/{phase.script}")
        return container.run(argv, limit_s=grader.limit_s, environment=phase.variables)
