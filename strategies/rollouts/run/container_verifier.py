"""The verifier of a Harbor task in a container of the task, on a copy of what an agent left."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import ContainerError
from strategies.rollouts.run.harbor_script import reward_in
from strategies.rollouts.run.task_container import running
from strategies.rollouts.tasks.workspace import copy_workspace, read_text, write_files
from strategies.sandbox.confined_run import run_folder

if TYPE_CHECKING:
    from pathlib import Path

    from strategies.rollouts.run.leftovers import AgentWork
    from strategies.rollouts.tasks.task import HarborGrader

_LOGS: Final = ("verifier", "agent", "artifacts")
_SCRIPT: Final = """n=0; for script do
  bash "$script" </dev/null >"/logs/printed-$n.txt" 2>&1; echo "exit code $?"; n=$((n + 1))
done"""
"""Output goes to files: who holds a pipe open would be waited for."""
_TAIL_LINES: Final = 3


class Verified(NamedTuple):
    """What came of a verifier: the reward as it was written, or "", the end of what it printed, its tampering."""

    reward: str
    output: str
    tampering: tuple[str, ...] = ()


def verified_in_container(grader: HarborGrader, work: AgentWork, *, solved: bool) -> Verified:
    """Run a verifier, or before it the known good solution, where /tests, /solution and /logs are as in Harbor.

    Raises: ContainerError where there is no container, or it went away; CheckFailedError.
    """
    image, task = grader.image, work.task
    if image is None:
        raise ContainerError(f"task {task.id} asks for no container")
    folder = PurePosixPath(grader.script.path).parent.parent
    scripts = ("/solution/solve.sh", "/tests/test.sh") if solved else ("/tests/test.sh",)
    variables = image.verifier_environment | (image.solution_environment if solved else {})
    network = image.verifier_network or (solved and image.network)
    with run_folder("look-") as root:
        copy, logs, files = root / "workspace", root / "logs", root / "files"
        copy_workspace(work.folder, copy, any_link=True)
        for name in _LOGS:
            (logs / name).mkdir(parents=True)
        uses = (grader.script, *grader.uses, *(grader.solution if solved else ()))
        write_files(files, {use.path: use for use in uses}, task.folder)
        mounts = {copy: ".", logs: "/logs", files / folder / "tests": "/tests"}
        if solved:
            mounts[files / folder / "solution"] = "/solution"
        with running(task, mounts, limit_s=grader.limit_s, network=network) as container:
            argv = ("sh", "-c", _SCRIPT, "sh", *scripts)
            ran = container.run(argv, limit_s=grader.limit_s, environment=variables)
        if ran.ended == "void":
            raise ContainerError(f"task {task.id}: what the agent left could not be looked at: {ran.error}")
        if ran.ended == "limit":
            return Verified("", "", (f"ran past its limit of {grader.limit_s:g} s",))
        reward = reward_in(lambda name: read_text(logs, f"verifier/{name}") or "")
        codes = ran.stdout.splitlines() or [ran.stderr.strip()]
        ends = [_end(logs, number, *pair) for number, pair in enumerate(zip(scripts, codes, strict=False))]
        return Verified(reward, " ".join(ends))


def _end(logs: Path, number: int, script: str, code: str) -> str:
    """Write the last of what a script printed, and how it ended."""
    printed = (read_text(logs, f"printed-{number}.txt") or "").strip().splitlines()[-_TAIL_LINES:]
    return f"{script.lstrip('/')}: {' / '.join((*printed, code))}"
