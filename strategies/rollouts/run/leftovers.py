"""What an agent left behind, and commands that are run on copies of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.errors import StorageError
from strategies.rollouts.tasks.workspace import changed_fixtures, copy_workspace, read_text, write_files
from strategies.sandbox.confined_run import ConfinedCommand, Ran, run, run_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from strategies.rollouts.tasks.check_types import Fixture
    from strategies.rollouts.tasks.task import RolloutTask
    from strategies.sandbox.confined_run import SandboxPolicy

ANSWER: Final = ""
"""Replaces the agent's answer where a path is expected."""
OVERRUNS: Final = {
    "processes": "started too many processes",
    "memory": "took more memory than a run may",
    "disk": "took more of the disk than a run may",
    "lost": "lost its confinement",
}
"""What a command did that ended so: each is its own doing, or cannot be told from that."""


@dataclass(frozen=True)
class AgentWork:
    """The workspace that an agent left, what it answered, and on which terms commands may look at it."""

    task: RolloutTask
    folder: Path
    answer: str
    policy: SandboxPolicy

    def text(self, path: str) -> str | None:
        """Give the answer, or a file of the workspace; None where there is no such file to read."""
        return self.answer if path == ANSWER else read_text(self.folder, path)


@dataclass(frozen=True)
class Look:
    """How a command on a copy ended, and what it did that it should not have."""

    ran: Ran
    tampering: tuple[str, ...]


class VoidLookError(StorageError):
    """The machine did not let a command look at what an agent left; nothing is known of the work."""


def look_with(work: AgentWork, argv: Sequence[str], uses: Sequence[Fixture], limit_s: float) -> Look:
    """Run a command on a fresh copy of the workspace, with the files that it uses beside it, read-only.

    `{workspace}`, `{answer_file}` and `{files}` in its arguments become the copy, a file that holds the answer,
    and the folder of the files it uses. Raises: what `sandbox.run` raises; CheckFailedError if a file is not what
    was loaded; VoidLookError where the machine let nobody look.
    """
    with run_folder("look-") as root:
        copy, files, answer = root / "workspace", root / "files", root / "answer.txt"
        home, temporary = root / "home", root / "tmp"
        copy_workspace(work.folder, copy)
        for folder in (files, home, temporary):
            folder.mkdir()
        write_files(files, {use.path: use for use in uses}, work.task.folder)
        answer.write_text(work.answer, encoding="utf-8", newline="")
        places = {"{workspace}": copy, "{answer_file}": answer, "{files}": files}
        ran = run(
            ConfinedCommand(
                argv=tuple(filled(word, places) for word in argv),
                cwd=copy,
                root=root,
                writable=(copy, home, temporary),
                limit_s=limit_s,
                environment={"HOME": str(home), "TMPDIR": str(temporary)},
            ),
            work.policy,
        )
        rewritten = changed_fixtures(files, uses)
    if ran.ended == "void":
        raise VoidLookError(
            f"what the agent left could not be looked at: {ran.error}", hint="make room, and try again"
        )
    overruns = _overruns(ran, limit_s, work.policy)
    return Look(ran, (*overruns, *ran.attempts, *(f"rewrote {path}" for path in rewritten)))


def filled(word: str, places: dict[str, Path]) -> str:
    """Put paths in the place of their names."""
    for name, place in places.items():
        word = word.replace(name, str(place))
    return word


def _overruns(ran: Ran, limit_s: float, policy: SandboxPolicy) -> tuple[str, ...]:
    if ran.ended == "limit":
        return (f"ran past its limit of {limit_s:g} s",)
    if ran.ended == "processes":
        return (f"started more than {policy.processes} processes",)
    return (OVERRUNS[ran.ended],) if ran.ended in OVERRUNS else ()
