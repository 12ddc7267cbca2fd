"""What tests of isolation share: confinement with and without namespaces, and pipes that tell who still lives."""

from __future__ import annotations

import os
import select
import sys
from typing import TYPE_CHECKING, Final

import pytest

from strategies.rollouts import sandbox
from strategies.rollouts.confine import landlock
from strategies.rollouts.sandbox import Command, Ran, SandboxPolicy, missing_isolation, run

if TYPE_CHECKING:
    from pathlib import Path

_START: Final = "import sys; sys.path.insert(0, sys.argv.pop(1)); "
_MAIN: Final = "from strategies.rollouts.confine.launcher import main; main()"
_NO_NAMESPACES: Final = """
from strategies.rollouts.confine import landlock, namespaces, seccomp
def refused(*_, **__):
    raise OSError(1, "refused")
namespaces.leave = refused
"""
_NOTHING: Final = """
seccomp.install = refused
landlock.version = lambda: 0
"""
POLICY: Final = SandboxPolicy()


def require_isolation() -> None:
    """Skip, by name, where this machine cannot isolate."""
    if missing_isolation():
        pytest.skip(f"this machine cannot isolate: {', '.join(missing_isolation())} missing")


def without_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Confine as on a machine that gives no namespaces; skip where Landlock cannot do it alone."""
    if sys.platform != "linux" or landlock.version() < landlock.SIGNALS_SINCE:
        pytest.skip("Landlock is missing, or too old to keep signals inside")
    monkeypatch.setattr(sandbox, "_LAUNCH", f"{_START}{_NO_NAMESPACES}{_MAIN}")


def without_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Confine as on a machine that can isolate nothing."""
    monkeypatch.setattr(sandbox, "_LAUNCH", f"{_START}{_NO_NAMESPACES}{_NOTHING}{_MAIN}")


def workspace(tmp_path: Path) -> Path:
    """Make a folder that a command may write to, below one that it may not."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def run_python(code: str, folder: Path, *, limit_s: float = 20, policy: SandboxPolicy = POLICY) -> Ran:
    """Run Python code, confined to a folder."""
    return run(
        Command(
            argv=(sys.executable, "-I", "-S", "-c", code),
            cwd=folder,
            root=folder.parent,
            writable=(folder,),
            limit_s=limit_s,
        ),
        policy,
    )


class Pulse:
    """A named pipe that processes hold open while they live: its end tells when all are gone."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "pulse"
        os.mkfifo(self.path)
        self._reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def has_stopped(self) -> bool:
        """Tell whether nobody holds it any more, right now."""
        try:
            return os.read(self._reader, 1) == b""
        except BlockingIOError:
            return False

    def wait_for_end(self) -> None:
        """Wait until nobody holds it any more."""
        os.set_blocking(self._reader, True)
        while os.read(self._reader, 1):
            pass

    def wait_for_beat(self) -> None:
        """Wait until somebody has written a byte to it."""
        waiting = select.poll()  # a read would return at once for as long as nobody has opened it
        waiting.register(self._reader, select.POLLIN)
        waiting.poll()
        os.read(self._reader, 1)
