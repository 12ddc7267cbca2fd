"""Tasks of Harbor where a `docker` is there that only plays at containers: stub_docker.sh."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from strategies.rollouts.run.task_container import ANNOUNCER
from strategies.rollouts.tasks.load import load_tasks
from strategies.sandbox.container_program import container_program
from tests.harbor_folders import harbor

if TYPE_CHECKING:
    import pytest

    from strategies.rollouts.tasks.task import RolloutTask, TaskSet

DOCKERFILE: Final = "FROM base\nWORKDIR /app\nCOPY data/word.txt .\nRUN echo made > made.txt\n"


class StubDocker:
    """A `docker` on PATH, and what it was asked."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        folder.mkdir()
        shutil.copy(Path(__file__).with_name("stub_docker.sh"), folder / "docker")
        (folder / "docker").chmod(0o700)
        monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
        self.heard: list[str] = []
        monkeypatch.setattr(ANNOUNCER, "tell", self.heard.append)

    def goes_wrong(self, how: str, at: str = "") -> None:
        """Make a subcommand fail or hang, or containers vanish."""
        (self.folder / how).write_text(at)

    def asked(self, word: str) -> list[list[str]]:
        """List the calls of one subcommand."""
        file = self.folder / "calls"
        calls = file.read_text().split("\x1e")[:-1] if file.exists() else []
        return [call.split("\x1f")[:-1] for call in calls if call.startswith(f"{word}\x1f")]

    def kept(self, what: str) -> list[str]:
        """List the containers or images that are there."""
        return sorted(place.name for place in (self.folder / what).glob("*"))


def contained_set(folder: Path, *names: str, **other: str) -> TaskSet:
    """Write tasks of Harbor and load them as ones that ask for containers."""
    place = harbor(folder, *names, **{"environment__Dockerfile": DOCKERFILE, **other})
    return load_tasks(place, containers=partial(container_program, "auto"))


def contained_task(folder: Path, **other: str) -> RolloutTask:
    """Write one task of Harbor, and load it as one that asks for a container."""
    return contained_set(folder, "a-task", **other).tasks[0]
