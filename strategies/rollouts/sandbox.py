"""One command at a time, in isolation: as an argument list, in a copy, with limits, and with an eye on it.

This is the only place of the project that runs graders and agents. The confinement itself is in `confine/`, which
runs as a process of its own between this one and the command.
"""

from __future__ import annotations

import math
import os
import selectors
import shutil
import signal
import subprocess
import sys
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

from pydantic import Field

from events.base import Frozen
from events.clock import monotonic_s
from events.errors import IsolationError, NotFoundError, RefusedError, StorageError
from strategies.rollouts.confine.spec import PARTS, Report, Spec

if TYPE_CHECKING:
    from collections.abc import Mapping

_LAUNCH: Final = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); "
    "from strategies.rollouts.confine.launcher import main; main()"
)
_PACKAGES: Final = str(Path(__file__).resolve().parent.parent.parent)
_PYTHON: Final = frozenset({"python", "python3"})
_GRACE_S: Final = 5.0
"""What the confinement gets to end a command by itself, before all of it is killed from outside (guess)."""
_END_S: Final = 2.0
"""The same, once nobody waits for its report (guess: a hundred times what it takes)."""
_CHUNK_BYTES: Final = 65_536
on_behalf_of: Final = ContextVar("on_behalf_of", default="")
"""Whose commands a thread runs, in a process that works for several people."""
_RUNNING: Final[dict[int, str]] = {}
"""The process groups that run now, each with the one it runs for."""

Ended = Literal["exited", "limit", "processes", "disk", "unstarted", "lost"]

MISSING: Final = {
    "files": "writes outside the copy are not stopped",
    "network": "the network is not cut off",
    "processes": "a process may outlive its run",
    "watch": "attempts to reach out are not reported",
}
"""What it means when a part of the isolation is missing."""


class SandboxPolicy(Frozen):
    """What commands may do and use; the defaults fit a laptop (guesses).

    `allow_unisolated` (`rollouts.allow_unisolated` in germline.toml) is the person's consent to run without full
    isolation. `commands` (`rollouts.commands`) are the programs that checks and graders may name beside Python.
    `environment` names the variables that are let through. Limits are per process but for `processes`, which
    counts all of one run, and the workspace's, which cap copies; `memory_bytes` bounds the private memory that a
    process may write to: runtimes reserve far more addresses than they use. A command ends where the disk has less
    left than `spare_bytes`, whoever filled it.
    """

    allow_unisolated: bool = False
    commands: tuple[str, ...] = ()
    environment: tuple[str, ...] = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ")
    memory_bytes: Annotated[int, Field(gt=0)] = 4 * 1024**3
    file_bytes: Annotated[int, Field(gt=0)] = 256 * 1024**2
    output_bytes: Annotated[int, Field(gt=0)] = 1024**2
    processes: Annotated[int, Field(gt=0)] = 64
    open_files: Annotated[int, Field(gt=0)] = 1_024
    workspace_bytes: Annotated[int, Field(gt=0)] = 256 * 1024**2
    workspace_files: Annotated[int, Field(gt=0)] = 10_000
    spare_bytes: Annotated[int, Field(ge=0)] = 128 * 1024**2


@dataclass(frozen=True, kw_only=True)
class Command:
    """A command and its ground: `argv` begins with the absolute path of a program.

    It may write below `writable` only, and sees nothing in the folders `hidden` (where namespaces are to be had).
    Paths are told relative to `root`. `environment` are its variables, `passes` names those it gets as they are
    here, beside the policy's. Units: limit_s in seconds.
    """

    argv: tuple[str, ...]
    cwd: Path
    root: Path
    writable: tuple[Path, ...]
    limit_s: float
    environment: Mapping[str, str] = field(default_factory=dict)
    passes: tuple[str, ...] = ()
    stdin: Path | None = None
    hidden: tuple[Path, ...] = ()
    network: bool = False


@dataclass(frozen=True, kw_only=True)
class Ran:
    """How a command ended.

    `ended` is exited (`code`, negative for a signal), limit (past its time), processes (too many, or threads),
    disk (full), unstarted (`error` says why) or lost (the confinement itself went away). `attempts` are what it
    tried and was not let do. Units: seconds on the wall.
    """

    ended: Ended
    code: int
    stdout: str
    stderr: str
    seconds: float
    attempts: tuple[str, ...]
    missing: tuple[str, ...]
    error: str = ""

    @property
    def succeeded(self) -> bool:
        """Whether it ended by itself, with exit code 0."""
        return self.ended == "exited" and self.code == 0


def program(name: str, policy: SandboxPolicy) -> str:
    """Find a program that checks and graders may run.

    Raises: RefusedError for one off the allow list; NotFoundError for one that is not installed.
    """
    if name in _PYTHON:
        return sys.executable
    if name not in policy.commands:
        known = ", ".join((*sorted(_PYTHON), *policy.commands))
        raise RefusedError(
            f"a check or grader runs {name!r}, which is not among the allowed commands: {known}",
            hint=f'if you trust the task set, write under [rollouts] in germline.toml: commands = ["{name}"]',
        )
    return installed(name)


def installed(name: str) -> str:
    """Give the absolute path of a program; raises NotFoundError where it is not installed."""
    found = shutil.which(name)
    if found is None:
        raise NotFoundError(f"{name} is not installed, or not on PATH", hint=f"install {name}, or mend PATH")
    return str(Path(found).absolute())


def end_all(whose: str = "") -> None:
    """End every command that threads wait for on somebody's behalf: Ctrl-C reaches only the main thread."""
    for group, behalf in tuple(_RUNNING.items()):
        if behalf == whose:
            _kill(group)


@cache
def missing_isolation() -> tuple[str, ...]:
    """Try what this machine can isolate, once, and name the parts that are missing; empty where all are there."""
    here = Path(_PACKAGES)
    nothing = (sys.executable, "-I", "-S", "-c", "")
    command = Command(argv=nothing, cwd=here, root=here, writable=(), limit_s=30)
    return run(command, SandboxPolicy(allow_unisolated=True)).missing


def run(command: Command, policy: SandboxPolicy) -> Ran:
    """Run a command in isolation, and wait for it; whatever it started has ended when this returns.

    Raises: IsolationError where the machine cannot isolate and the policy does not allow that; StorageError where
    no process can be started.
    """
    began = monotonic_s()
    streams, report = _launched(_spec(command, policy), command, policy)
    seconds = monotonic_s() - began
    if report.ended == "refused":
        raise IsolationError(
            f"this machine cannot isolate commands: {'; '.join(MISSING[part] for part in report.missing)}",
            missing=report.missing,
            hint="to run them all the same, write under [rollouts] in germline.toml: allow_unisolated = true",
        )
    return Ran(
        ended=cast("Ended", report.ended),
        code=report.code,
        stdout=streams["stdout"].decode(errors="replace"),
        stderr=streams["stderr"].decode(errors="replace"),
        seconds=seconds,
        attempts=report.attempts,
        missing=report.missing,
        error=report.error,
    )


def _spec(command: Command, policy: SandboxPolicy) -> Spec:
    seconds = math.ceil(command.limit_s) * (os.cpu_count() or 1) + 1  # threads use the time of several cores
    return Spec(
        argv=list(command.argv),
        cwd=str(command.cwd.resolve()),
        environment=_environment(command, policy),
        root=str(command.root.resolve()),
        writable=[str(place.resolve()) for place in command.writable],
        hidden=[str(place.resolve()) for place in command.hidden],
        network=command.network,
        limit_s=command.limit_s,
        processes=policy.processes,
        spare_bytes=policy.spare_bytes,
        limits={
            "RLIMIT_CORE": 0,
            "RLIMIT_CPU": seconds,
            "RLIMIT_DATA": policy.memory_bytes,
            "RLIMIT_FSIZE": policy.file_bytes,
            "RLIMIT_NOFILE": policy.open_files,
        },
        required=[] if policy.allow_unisolated else list(PARTS),
    )


def _environment(command: Command, policy: SandboxPolicy) -> dict[str, str]:
    names = (*policy.environment, *command.passes)
    let_through = {name: os.environ[name] for name in names if name in os.environ}
    return {"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"} | let_through | dict(command.environment)


def _launched(spec: Spec, command: Command, policy: SandboxPolicy) -> tuple[dict[str, bytes], Report]:
    """Start the confinement, hand it the spec, and gather what it and the command say."""
    spec_out, spec_in = os.pipe()
    report_out, report_in = os.pipe()
    words = (sys.executable, "-I", "-S", "-c", _LAUNCH, _PACKAGES, str(spec_out), str(report_in))
    own = {name: os.environ[name] for name in ("PATH", "LD_LIBRARY_PATH") if name in os.environ}
    try:
        with (command.stdin or Path(os.devnull)).open("rb") as stdin:
            child = subprocess.Popen(  # noqa: S603 - an argument list of our own, no shell
                words,
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=own,
                pass_fds=(spec_out, report_in),
                start_new_session=True,
            )
    except OSError as error:
        for descriptor in (spec_in, report_out):
            os.close(descriptor)
        raise StorageError(f"cannot start a process: {error}", hint="try again with fewer workers") from error
    finally:
        for descriptor in (spec_out, report_in):
            os.close(descriptor)
    _RUNNING[child.pid] = on_behalf_of.get()
    with child:
        try:
            with suppress(BrokenPipeError), open(spec_in, "wb") as stream:  # noqa: PTH123 - a descriptor
                stream.write(spec.packed())
            said = _gather(child, report_out, spec.limit_s + _GRACE_S, policy.output_bytes)
        finally:  # Ctrl-C as well: whoever started the command ends it
            _RUNNING.pop(child.pid, None)
            _end(child)
    return said, _report(said)


def _end(child: subprocess.Popen[bytes]) -> None:
    """Give the confinement a moment to end the command, now that nobody reads its report; then kill both."""
    try:
        child.wait(_END_S)
    except subprocess.TimeoutExpired:
        pass
    finally:
        _kill(child.pid)


def _kill(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def _gather(child: subprocess.Popen[bytes], report: int, most_s: float, most_bytes: int) -> dict[str, bytes]:
    """Read until all ends are closed, or time is up; what is past `most_bytes` is read and dropped."""
    said = {"stdout": bytearray(), "stderr": bytearray(), "report": bytearray()}
    deadline = monotonic_s() + most_s
    with selectors.DefaultSelector() as selector, open(report, "rb", buffering=0) as reporting:
        for name, stream in (("stdout", child.stdout), ("stderr", child.stderr), ("report", reporting)):
            if stream is not None:
                selector.register(stream, selectors.EVENT_READ, name)
        while selector.get_map() and (left := deadline - monotonic_s()) > 0:
            for key, _ in selector.select(left):
                content = os.read(key.fd, _CHUNK_BYTES)
                if not content:
                    selector.unregister(key.fileobj)
                said[key.data] += content[: max(0, most_bytes - len(said[key.data]))]
    return {name: bytes(content) for name, content in said.items()}


def _report(said: Mapping[str, bytes]) -> Report:
    try:
        return Report.unpacked(said["report"])
    except ValueError:
        last = said["stderr"].decode(errors="replace").strip().splitlines()
        return Report("lost", [], error=last[-1] if last else "the confinement ended without a report")
