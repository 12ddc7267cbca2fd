"""What tests of isolation share: each way to confine a command, and pipes that show which processes still live."""

from __future__ import annotations

import ast
import os
import select
import sys
from typing import TYPE_CHECKING, Final

import pytest

from strategies.sandbox import bubblewrap, confined_run, landlock
from strategies.sandbox.confined_run import ConfinedCommand, Ran, SandboxPolicy, missing_isolation, run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_START: Final = "import sys; sys.path.insert(0, sys.argv.pop(1)); "
_MAIN: Final = "from strategies.sandbox.launcher import main; main()"
_NO_NAMESPACES: Final = """
from strategies.sandbox import landlock, namespaces, seccomp
def refused(*_, **__):
    raise OSError(1, "refused")
namespaces.leave = refused
"""
_NOTHING: Final = """
seccomp.install = refused
landlock.version = lambda: 0
"""
POLICY: Final = SandboxPolicy()


def confine_by(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Confine by `bwrap`, by our own `namespaces`, or `landlock` alone; skip, by name, where it cannot be done."""
    if way == "landlock":
        without_namespaces(monkeypatch)
        return
    require_isolation()
    if way == "namespaces":
        monkeypatch.setattr(bubblewrap, "working_bwrap", str)
    elif not bubblewrap.working_bwrap():
        pytest.skip("bubblewrap is not installed, or may not make namespaces")


def require_isolation() -> None:
    """Skip, by name, where this machine cannot isolate."""
    if missing_isolation():
        pytest.skip(f"this machine cannot isolate: {', '.join(missing_isolation())} missing")


def without_namespaces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Confine as on a machine that gives no namespaces; skip where Landlock cannot do it alone."""
    if sys.platform != "linux" or landlock.version() < landlock.SIGNALS_SINCE:
        pytest.skip("Landlock is missing, or too old to keep signals inside")
    monkeypatch.setattr(bubblewrap, "working_bwrap", str)
    monkeypatch.setattr(confined_run, "_LAUNCH", f"{_START}{_NO_NAMESPACES}{_MAIN}")


def without_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Confine as on a machine that can isolate nothing."""
    monkeypatch.setattr(bubblewrap, "working_bwrap", str)
    monkeypatch.setattr(confined_run, "_LAUNCH", f"{_START}{_NO_NAMESPACES}{_NOTHING}{_MAIN}")


WAYS: Final = ("bwrap", "namespaces", "landlock")


def workspace(tmp_path: Path) -> Path:
    """Make a folder that a command may write to, below one that it may not."""
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


def run_python(code: str, folder: Path, *, limit_s: float = 20, policy: SandboxPolicy = POLICY) -> Ran:
    """Run Python code, confined to a folder."""
    return run(
        ConfinedCommand(
            argv=(sys.executable, "-I", "-S", "-c", code),
            cwd=folder,
            root=folder.parent,
            writable=(folder,),
            limit_s=limit_s,
        ),
        policy,
    )


def outcomes_of(
    deeds: Mapping[str, str], folder: Path, *, policy: SandboxPolicy = POLICY
) -> tuple[dict[str, str], Ran]:
    """Run pieces of Python code one after the other, in one confined process.

    Of each: what it leaves as `seen`, else "done", or "stopped" where it ends with an OSError.
    """
    ran = run_python(f"deeds = {dict(deeds)!r}\n{_EACH}", folder, policy=policy)
    assert ran.stdout, ran.stderr
    return ast.literal_eval(ran.stdout), ran


_EACH: Final = """
import os
outcomes = {}
for name, deed in deeds.items():
    given = {"os": os}
    try:
        exec(deed, given)
        outcomes[name] = given.get("seen", "done")
    except OSError:
        outcomes[name] = "stopped"
print(outcomes)
"""


class Pulse:
    """A named pipe that processes hold open while they live: its end shows that all are gone."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "pulse"
        os.mkfifo(self.path)
        self._reader = os.open(self.path, os.O_RDONLY | os.O_NONBLOCK)

    def has_stopped(self) -> bool:
        """Return whether no process holds it any more, right now."""
        try:
            return os.read(self._reader, 1) == b""
        except BlockingIOError:
            return False

    def wait_for_end(self) -> None:
        """Wait until no process holds it any more."""
        os.set_blocking(self._reader, True)
        while os.read(self._reader, 1):
            pass

    def wait_for_beat(self) -> None:
        """Wait until somebody has written a byte to it."""
        waiting = select.poll()  # a read would return at once for as long as nobody has opened it
        waiting.register(self._reader, select.POLLIN)
        waiting.poll()
        os.read(self._reader, 1)
