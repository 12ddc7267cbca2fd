"""Run one command in isolation: as an argument list, in a copy, with limits, and watched.

This is the only place of the project that runs graders and agents. Between this process and the command runs the
launcher, inside bubblewrap where that works.
"""

from __future__ import annotations

import fcntl
import math
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal, cast

from pydantic import Field

from events.clock import monotonic_s
from events.errors import IsolationError, NotFoundError, RefusedError, StorageError
from events.types.frozen import Frozen
from strategies.sandbox import bubblewrap
from strategies.sandbox.child_process import end_group, gathered, waited_for, was_ended
from strategies.sandbox.spec import PARTS, ConfinementReport, Spec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_LAUNCH: Final = (
    "import sys; sys.path.insert(0, sys.argv.pop(1)); from strategies.sandbox.launcher import main; main()"
)
_PACKAGES: Final = str(Path(__file__).resolve().parent.parent.parent)
_PYTHON: Final = frozenset({"python", "python3"})
_GRACE_S: Final = 5.0
"""What the confinement gets to end a command by itself, before all of it is killed from outside (guess)."""
_NEW_S: Final = 60.0
"""How long a folder that nobody has may have just been made (guess)."""

Ended = Literal["exited", "limit", "processes", "memory", "disk", "unstarted", "void", "lost"]

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
    `environment` names the variables that are let through. `processes`, `memory_bytes`, `disk_bytes` and
    `disk_files` are for all of one run together, `file_bytes` and `open_files` for each process; so is
    `memory_bytes` once more, for the private memory that one may ask for to write to: runtimes reserve far more
    addresses than they use. The workspace's cap what is copied for graders. A command does not start where the
    disk has less left than twice `spare_bytes`, and ends where it has less than that, also where others filled it.
    `hidden` are folders and files that no command may read, as the registry.
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
    disk_bytes: Annotated[int, Field(gt=0)] = 4 * 1024**3
    disk_files: Annotated[int, Field(gt=0)] = 200_000
    spare_bytes: Annotated[int, Field(ge=0)] = 128 * 1024**2
    hidden: Annotated[tuple[Path, ...], Field(exclude=True)] = ()


@dataclass(frozen=True, kw_only=True)
class ConfinedCommand:
    """A command and its folders: `argv` begins with the absolute path of a program.

    It may write below `writable` only, and read nothing in the folders `hidden`, nor in those of other runs (see
    `run_folder`). Paths are reported relative to `root`. `environment` are its variables, `passes` names those it
    gets as they are here, beside the policy's. Units: limit_s in seconds.
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

    `ended` is exited (`code`, negative for a signal); past what it may take: limit (of time), processes (or
    threads), memory or disk; lost: the confinement went away while it ran, which it may have brought about itself;
    or, by no doing of its own, unstarted (it is no program that runs here) or void (the confinement never got to
    it, others filled the disk, or germline ended it). `error` says why, `attempts` are what it tried and was not
    let do. Units: seconds on the wall.
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
    place = shutil.which(name)
    if place is None:
        raise NotFoundError(f"{name} is not installed, or not on PATH", hint=f"install {name}, or mend PATH")
    return str(Path(place).absolute())


@contextmanager
def run_folder(prefix: str) -> Iterator[Path]:
    """Make a temporary folder for a run, unreadable to the commands of every other run, and remove it afterwards.

    So are those of runs whose process was killed.

    Raises: StorageError where the folder above is not this user's alone.
    """
    above = _all_runs()
    place = Path(tempfile.mkdtemp(prefix=prefix, dir=above))
    held = _held(place)
    try:
        _remove_leftovers(above, place.stat().st_ctime)
        yield place
    finally:
        if held is not None:
            os.close(held)
        _remove(place)


def _held(place: Path) -> int | None:
    """Lock a folder for as long as this process lives, None where another one has it."""
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def is_in_use(place: Path) -> bool:
    """Tell whether the folder of a run is there, and some process has it."""
    held = None
    with suppress(OSError):
        held = _held(place)
        if held is not None:
            os.close(held)
        return held is None
    return False


def _remove_leftovers(above: Path, now_s: float) -> None:
    """Remove the folders of runs whose process was killed: nobody has them, and they are not just being made."""
    for place in above.iterdir():
        with suppress(OSError):
            if now_s - place.stat().st_ctime > _NEW_S and (held := _held(place)) is not None:
                os.close(held)
                _remove(place)


def _remove(place: Path) -> None:
    """Remove a folder that a command wrote to."""
    with suppress(RecursionError):
        shutil.rmtree(place, ignore_errors=True)
    if place.exists():  # folders without rights, or more levels of them than Python has calls and open files
        for words in (("chmod", "-R", "u+rwx"), ("rm", "-rf")):
            with suppress(OSError):
                subprocess.run((*words, "--", place), capture_output=True, check=False)  # noqa: S603 - our own list


def _all_runs() -> Path:
    """Return the folder that holds those of all runs of this user; each command finds it empty but for its own."""
    place = Path(tempfile.gettempdir()).resolve() / f"germline-runs-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    if place.is_symlink() or place.lstat().st_uid != os.getuid():
        raise StorageError(f"{place} belongs to another user", hint="set TMPDIR to a folder of your own")
    return place


@cache
def missing_isolation() -> tuple[str, ...]:
    """Try what this machine can isolate, once, and name the parts that are missing; empty where all are there."""
    here = Path(_PACKAGES)
    nothing = (sys.executable, "-I", "-S", "-c", "")
    command = ConfinedCommand(argv=nothing, cwd=here, root=here, writable=(), limit_s=30)
    return run(command, SandboxPolicy(allow_unisolated=True)).missing


def run(command: ConfinedCommand, policy: SandboxPolicy) -> Ran:
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


def _spec(command: ConfinedCommand, policy: SandboxPolicy) -> Spec:
    seconds = math.ceil(command.limit_s) * (os.cpu_count() or 1) + 1  # threads use the time of several cores
    return Spec(
        argv=list(command.argv),
        cwd=str(command.cwd.resolve()),
        environment=_environment(command, policy),
        root=str(command.root.resolve()),
        writable=[str(place.resolve()) for place in command.writable],
        private=str(_all_runs()),
        hidden=_hidden(command, policy),
        network=command.network,
        limit_s=command.limit_s,
        processes=policy.processes,
        memory_bytes=policy.memory_bytes,
        disk_bytes=policy.disk_bytes,
        disk_files=policy.disk_files,
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


def _hidden(command: ConfinedCommand, policy: SandboxPolicy) -> list[str]:
    """List what is there to hide, without what lies below another such folder or holds what the command names."""
    named = [Path(word) for word in command.argv if word.startswith("/")]
    shared = [place for place in policy.hidden if not any(path.is_relative_to(place) for path in named)]
    places = {place.resolve() for place in (*command.hidden, *shared) if place.exists()}
    return sorted(str(place) for place in places if places.isdisjoint(place.parents))


def _launcher(spec: Spec, spec_out: int, report_in: int) -> list[str]:
    """Build the launcher's command line, inside bubblewrap unless what is hidden holds the launcher itself."""
    words = [sys.executable, "-I", "-S", "-c", _LAUNCH, _PACKAGES, str(spec_out), str(report_in)]
    needed = [Path(place).resolve() for place in (sys.prefix, sys.base_prefix, Path(__file__).parent)]
    program = bubblewrap.working_bwrap()
    if not program or any(place.is_relative_to(hidden) for place in needed for hidden in spec.hidden):
        return words
    spec.confined = True
    return bubblewrap.bwrap_arguments(program, spec) + words


def _environment(command: ConfinedCommand, policy: SandboxPolicy) -> dict[str, str]:
    names = (*policy.environment, *command.passes)
    let_through = {name: os.environ[name] for name in names if name in os.environ}
    return {"LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"} | let_through | dict(command.environment)


def _launched(
    spec: Spec, command: ConfinedCommand, policy: SandboxPolicy
) -> tuple[dict[str, bytes], ConfinementReport]:
    """Start the confinement, hand it the spec, and gather what it and the command write."""
    spec_out, spec_in = os.pipe()
    report_out, report_in = os.pipe()
    words = _launcher(spec, spec_out, report_in)
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
    with child, waited_for(child):
        try:
            with suppress(BrokenPipeError), open(spec_in, "wb") as stream:  # noqa: PTH123 - a descriptor
                stream.write(spec.packed())
            with open(report_out, "rb", buffering=0) as reporting:  # noqa: PTH123 - the same
                streams = {"stdout": child.stdout, "stderr": child.stderr, "report": reporting}
                written = gathered(streams, spec.limit_s + _GRACE_S, policy.output_bytes)
        finally:
            ended = was_ended(child)
            end_group(child)
    return written, ConfinementReport("void", [], error="germline ended it") if ended else _report(written)


def _report(written: Mapping[str, bytes]) -> ConfinementReport:
    head, started, rest = written["report"].partition(b"started\n")
    try:
        return ConfinementReport.unpacked(rest if started else head)
    except ValueError:
        last = written["stderr"].decode(errors="replace").strip().splitlines()
        ended = "lost" if started else "void"
        return ConfinementReport(ended, [], error=last[-1] if last else "the confinement ended without a report")
