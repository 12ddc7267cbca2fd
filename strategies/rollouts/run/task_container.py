"""Containers of tasks, made by docker or podman: images are built once, and everything goes with this process.

One image for each context and process; a container for each verifier, and for each run of a model as agent. What
is left by a process that was killed goes when the next one makes its first image. A container also ends by itself
once its time is over.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import platform
import re
import shutil
import tarfile
from collections import defaultdict
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path, PurePosixPath
from posixpath import join, normpath
from shlex import quote
from tempfile import TemporaryDirectory
from threading import Lock
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn

from events.errors import ContainerError
from strategies.rollouts.tasks.dockerfile import DEFAULT_WORKDIR
from strategies.rollouts.tasks.task import HarborGrader
from strategies.rollouts.tasks.workspace import (
    copy_workspace,
    open_to_all,
    overfull,
    place_below,
    write_files,
)
from strategies.sandbox.child_process import ask_program
from strategies.sandbox.confined_run import Ran, SandboxPolicy, is_in_use, run_folder
from strategies.sandbox.container_program import NEVER, NONE_WORKS, WHY_NONE, working_program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from strategies.rollouts.tasks.task import RolloutTask, TaskImage
    from strategies.sandbox.child_process import ProgramAnswer
    from strategies.sandbox.confined_run import Ended

_LABEL: Final = "germline.runs"
_TASK_IMAGE: Final = "germline-task"
_FOLDER: Final = "containers-"
_MAKER: Final = re.compile(rf"{_FOLDER}[a-z0-9_]+")
"""The folder of the process that made a container or an image, in its name."""
_CLIENT_S: Final = 120.0
"""How long starting, copying and removing may take (guess: a thousand times what it takes)."""
_SPARE_S: Final = 120
"""How long a container outlives what it is for, where nobody is left to remove it (guess)."""
_MOST_PROCESSES: Final = 2_048
_SAID_CHARS: Final = 300
_SAID_LINES: Final = 3
_BOUNDS: Final = SandboxPolicy()


class Image(NamedTuple):
    """An image that is there: its name, its working directory, and a folder with what that directory holds."""

    name: str
    workdir: str
    start: Path


@dataclass
class Container:
    """A container that runs; commands are run in it one at a time."""

    program: str
    name: str
    image: Image

    def run(
        self,
        argv: Sequence[str],
        *,
        limit_s: float,
        environment: Mapping[str, str] | None = None,
        stdin: Path | None = None,
        most_bytes: int = _BOUNDS.output_bytes,
    ) -> Ran:
        """Run a command in the working directory, and wait for it; void where the container, or germline, ended.

        One that runs past its limit is killed, with all that runs in the container.
        """
        words = ["exec", *_variables(environment or {}), *(("--interactive",) if stdin else ())]
        answer = ask_program(
            (self.program, *words, "--workdir", self.image.workdir, self.name, *argv),
            limit_s=limit_s,
            stdin=stdin,
            most_bytes=most_bytes,
        )
        ended, error = self._end_of(answer)
        return Ran(
            ended=ended,
            code=answer.code or 0,
            stdout=answer.stdout,
            stderr=answer.stderr,
            seconds=answer.seconds,
            attempts=(),
            missing=(),
            error=error,
        )

    def _end_of(self, answer: ProgramAnswer) -> tuple[Ended, str]:
        """Tell how a command ended, and why; what ran past its limit is killed."""
        if answer.ended_by_us:
            return "void", "germline ended it"
        if answer.code is None:
            self.run_as_root("kill -9 -1")
            return "limit", ""
        if answer.code and not self._is_there():
            return "void", f"its container is gone: {_said(answer)}"
        return "exited", ""

    def run_as_root(self, script: str, *arguments: str) -> ProgramAnswer:
        """Run a shell script of our own, as the user who may do everything there."""
        words = (self.program, "exec", "--user", "0", self.name, "sh", "-c", script, "sh", *arguments)
        return ask_program(words, limit_s=_CLIENT_S)

    def _is_there(self) -> bool:
        words = (self.program, "inspect", "--format", "{{.State.Running}}", self.name)
        return ask_program(words, limit_s=_CLIENT_S).stdout.strip() == "true"


def contained(task: RolloutTask) -> HarborGrader | None:
    """Give the grader of a task that asks for containers; None where all of the task is in the sandbox."""
    graders = (grader for grader in task.graders if isinstance(grader, HarborGrader) and grader.image)
    return next(graders, None)


def write_start(task: RolloutTask, folder: Path) -> None:
    """Write the workspace that a task begins with: its files, or the working directory of its image.

    Raises: CheckFailedError if a file of the set is not what was loaded; ContainerError.
    """
    if contained(task) is None:
        write_files(folder, task.files, task.folder)
    else:
        copy_workspace(_session().image_of(task).start, folder, any_link=True)


@contextmanager
def running(
    task: RolloutTask, mounts: Mapping[Path, str], *, limit_s: float, network: bool = False
) -> Iterator[Container]:
    """Start a container of a task, with folders of this machine in it, and remove it at the end.

    Places of `mounts` that are relative begin at the working directory; there is one for that itself, `.`. All of
    these folders can then be read and written by everybody who reaches them. Raises: ContainerError.
    """
    session = _session()
    image = session.image_of(task)
    for folder in mounts:
        open_to_all(folder)
        folder.chmod(0o777)
    places = {folder: normpath(join(image.workdir, place)) for folder, place in mounts.items()}
    with session.container(task, image, places, limit_s, network=network) as container:
        try:
            yield container
        finally:
            if os.geteuid():  # what root in there made is else nobody's here
                container.run_as_root('chmod -R a+rwX -- "$@"', *places.values())


@dataclass
class Announcer:
    """Who hears of what takes long; the command line sets it."""

    tell: Callable[[str], None] = lambda _: None


ANNOUNCER: Final = Announcer()


@dataclass
class _Session:
    """The images and containers of this process; its folder is held for as long as the process lives."""

    program: str
    folder: Path
    stack: ExitStack
    numbers: Iterator[int] = field(default_factory=count)

    def __post_init__(self) -> None:
        self._images: dict[str, Image] = {}
        self._built: list[str] = []
        self._locks: defaultdict[str, Lock] = defaultdict(Lock)
        self.remove_leftovers()

    @property
    def _label(self) -> str:
        return f"{_LABEL}={platform.node()}:{self.folder.parent}"

    def _ask(self, *words: str, limit_s: float = _CLIENT_S, output: Path | None = None) -> ProgramAnswer:
        return ask_program((self.program, *words), limit_s=limit_s, output=output)

    def image_of(self, task: RolloutTask) -> Image:
        """Give the image of a task, built or pulled on the first call.

        Raises: ContainerError that names the task; CheckFailedError if a file of it is not what was loaded.
        """
        grader, image = _asked(task)
        place = PurePosixPath(grader.script.path).parent.parent / "environment"
        context = [(file.path.removeprefix(f"{place}/"), file.sha256, file.executable) for file in image.context]
        key = hashlib.sha256(json.dumps(context).encode()).hexdigest()[:12]
        name = image.name or f"{_TASK_IMAGE}:{key}-{self.folder.name}"
        with self._locks[name]:  # two tasks, or two runs of one, that need the same at once
            if name not in self._images:
                self._make(task, image, place, name)
                self._images[name] = self._looked_into(task, name)
            return self._images[name]

    def _make(self, task: RolloutTask, image: TaskImage, place: PurePosixPath, name: str) -> None:
        """Build or pull an image."""
        if image.name:
            if self._ask("image", "inspect", name).code == 0:
                return
            ANNOUNCER.tell(f"pulling    {name}, the image of {task.id}")
            answer, mend = self._ask("pull", name, limit_s=image.build_limit_s), f"pull {name}"
        else:
            ANNOUNCER.tell(f"building   the image of {task.id}")
            with TemporaryDirectory(dir=self.folder) as folder:
                context = Path(folder) / place
                context.mkdir(parents=True)
                write_files(Path(folder), {file.path: file for file in image.context}, task.folder)
                open_to_all(Path(folder))
                words = ("build", "--label", self._label, "--tag", name, str(context))
                mend = f"build {quote(str(task.folder / place))}"
                answer = self._ask(*words, limit_s=image.build_limit_s)
            if answer.code == 0:
                self._built.append(name)
        if answer.code != 0:
            late = f"not there after {image.build_limit_s:g} s (environment.build_timeout_sec)"
            late = "" if answer.code or answer.ended_by_us else late
            self._fail(task, f"its image cannot be made: {late or _said(answer)}", mend)
        ANNOUNCER.tell(f"ready      the image of {task.id}, after {answer.seconds:.0f} s")

    def _looked_into(self, task: RolloutTask, name: str) -> Image:
        """Take the working directory out of an image."""
        answer = self._ask("image", "inspect", "--format", "{{.Config.WorkingDir}}", name)
        workdir = answer.stdout.strip()
        workdir = DEFAULT_WORKDIR if workdir in {"", "/"} else workdir
        start, look = self.folder / f"start-{next(self.numbers)}", f"image inspect {name}"
        image, packed = Image(name, workdir, start), start.with_suffix(".tar")
        with self.container(task, image, {}, _CLIENT_S) as container:
            container.run_as_root('mkdir -p -- "$1"', workdir)
            answer = self._ask("cp", f"{container.name}:{workdir}/.", "-", output=packed)
        if answer.code != 0:
            self._fail(task, f"{workdir} of its image cannot be read: {_said(answer)}", look)
        try:
            _unpack(packed, start)
        except (tarfile.TarError, OSError, KeyError) as error:
            self._fail(task, f"{workdir} of its image cannot be read: {error}", look)
        packed.unlink()
        too_much = overfull(start, most_files=_BOUNDS.workspace_files, most_bytes=_BOUNDS.workspace_bytes)
        if too_much:
            self._fail(task, f"{workdir} of its image is too much to be copied for each run: {too_much}", look)
        return image

    @contextmanager
    def container(
        self, task: RolloutTask, image: Image, places: Mapping[Path, str], limit_s: float, *, network: bool = False
    ) -> Iterator[Container]:
        """Start a container that waits for commands, and remove it at the end."""
        _, asked = _asked(task)
        name = f"germline-{self.folder.name}-{next(self.numbers)}"
        memory = f"{asked.memory_mb}m" if asked.memory_mb else f"{_BOUNDS.memory_bytes}b"
        cpus = min(asked.cpus, os.cpu_count() or 1)
        words = ["run", "--detach", "--rm", "--name", name, "--label", self._label, "--stop-timeout", "0"]
        words += ["--pids-limit", str(_MOST_PROCESSES), "--memory", memory, "--cap-drop", "MKNOD"]
        words += ["--cpus", f"{cpus:g}"] if cpus else []
        words += [] if network else ["--network", "none"]
        words += [word for folder, place in places.items() for word in ("--volume", f"{folder}:{place}:Z")]
        words += _variables(asked.environment)
        answer = self._ask(*words, image.name, "sh", "-c", f"exec sleep {int(limit_s) + _SPARE_S}")
        try:
            if answer.code != 0:
                self._fail(task, f"its container cannot be started: {_said(answer)}", "info")
            yield Container(self.program, name, image)
        finally:
            self._ask("rm", "--force", name)

    def _fail(self, task: RolloutTask, what: str, mend: str) -> NoReturn:
        program = Path(self.program).name
        raise ContainerError(f"task {task.id}: {what} ({program})", hint=f"{program} {mend}    or {NEVER}")

    def remove_leftovers(self) -> None:
        """Remove what processes made that were killed: nobody has their folder."""
        mine = ("--filter", f"label={self._label}", "--format")
        for remove, *listing in (
            ("rm", "ps", "--all", *mine, "{{.Names}}"),
            ("rmi", "images", *mine, "{{.Repository}}:{{.Tag}}"),
        ):
            for name in self._ask(*listing).stdout.split():
                maker = _MAKER.search(name)
                if maker and not is_in_use(self.folder.parent / maker[0]):
                    self._ask(remove, "--force", name)

    def close(self) -> None:
        """Remove the images that were built, and the folder."""
        for name in self._built:
            self._ask("rmi", "--force", name)
        self.stack.close()


_SESSIONS: Final[dict[int, _Session]] = {}
"""That of this process; one that it was forked from keeps its own."""
_OPENING: Final = Lock()


def _session() -> _Session:
    """Give the images and containers of this process, begun on the first call.

    Raises: ContainerError where nothing makes containers here.
    """
    with _OPENING:
        if os.getpid() not in _SESSIONS:
            program, stack = working_program(), ExitStack()
            if not program:
                raise ContainerError(f"a task asks for a container, and {NONE_WORKS}", hint=WHY_NONE)
            _SESSIONS[os.getpid()] = _Session(program, stack.enter_context(run_folder(_FOLDER)), stack)
            atexit.register(end_containers)
        return _SESSIONS[os.getpid()]


def end_containers() -> None:
    """Remove the images of this process, and what was kept of them."""
    session = _SESSIONS.pop(os.getpid(), None)
    if session is not None:
        session.close()


def _asked(task: RolloutTask) -> tuple[HarborGrader, TaskImage]:
    grader = contained(task)
    if grader is None or grader.image is None:
        raise ContainerError(f"task {task.id} asks for no container")
    return grader, grader.image


def _unpack(packed: Path, folder: Path) -> None:
    """Unpack files, folders and links below a folder; raises TarError for what a link would lead out of it."""
    with tarfile.open(packed) as archive:
        for member in archive:
            at = PurePosixPath(member.name)
            above = None if ".." in at.parts else place_below(folder, str(at.parent))
            if above is None:
                raise tarfile.TarError(f"{member.name} leads out of it")
            above.mkdir(parents=True, exist_ok=True)
            place = above / at.name
            if member.isdir():
                place.mkdir(exist_ok=True)
            elif member.issym():
                place.symlink_to(member.linkname)
            elif content := archive.extractfile(member) if member.isfile() or member.islnk() else None:
                with content, place.open("xb") as file:
                    shutil.copyfileobj(content, file)
                place.chmod(0o700 if member.mode & 0o100 else 0o600)


def _variables(environment: Mapping[str, str]) -> list[str]:
    return [word for name, value in environment.items() for word in ("--env", f"{name}={value}")]


def _said(answer: ProgramAnswer) -> str:
    """Give the last lines that a program printed."""
    if answer.ended_by_us:
        return "germline ended it"
    lines = (answer.stderr.strip() or answer.stdout.strip()).splitlines()[-_SAID_LINES:]
    return " / ".join(line.strip() for line in lines)[-_SAID_CHARS:] or f"exit code {answer.code}"
