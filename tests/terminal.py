"""A terminal for tests: the real command line, called in this process."""

from __future__ import annotations

import json
import os
import pty
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout, suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import cache
from io import StringIO
from pathlib import Path
from shutil import copy, copytree, rmtree
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from tests.forked import ForkedCommand
from tests.read_once import recordings_read_once
from tui.cli.main import main
from tui.demo import demo_folder
from tui.session.own_records import keep_record, read_record, record_file

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

SPLIT_KEY = "00112233445566778899aabbccddeeff"
MINIMAL = "---\nname: sql-analyst\ndescription: Answers questions with SQL.\n---\n\nAnswer with one query.\n"


@dataclass(frozen=True)
class Answer:
    """What one command line said, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - tests look into whatever shape a command promises
        return json.loads(self.out)

    @property
    def hint(self) -> str:
        return self.err.partition("hint   ")[2].strip()


@contextmanager
def _environment(named: Mapping[str, str]) -> Iterator[None]:
    """Set variables for a while, and undo what else changes: `patch.dict` writes all of them again each time."""
    held: dict[bytes, bytes] = os.environb._data  # type: ignore[attr-defined] # a copy of the mapping takes a tenth of a command
    before = held.copy()
    os.environ.update(named)
    try:
        yield
    finally:
        for name in held.keys() - before.keys():
            del os.environb[name]
        os.environb.update({name: value for name, value in before.items() if held.get(name) != value})


class Terminal:
    """Runs commands in a folder, as a person would who has gone there; `env` is set beside a quiet default.

    The person wrote the germline.toml there, or made the registry by code, and answers for it.
    """

    answers_for_project = True

    def __init__(self, folder: Path, **env: str) -> None:
        self.folder = folder
        places = {"HOME": str(folder), "XDG_CONFIG_HOME": "", "GERMLINE_REGISTRY": ""}
        self._env = {**places, "COLUMNS": "80", **env}

    def __call__(self, *words: str | Path) -> Answer:
        out, err = StringIO(), StringIO()
        made = any((self.folder / name).is_file() for name in ("germline.toml", "registry.db"))
        if self.answers_for_project and made and words[:1] != ("__complete",):
            words = ("--trust-project", *words)
        with (
            chdir(self.folder),
            _environment(self._env),
            recordings_read_once(),
            redirect_stdout(out),
            redirect_stderr(err),
        ):
            code = copy_context().run(main, [str(word) for word in words])  # what it is told, it alone is told
        return Answer(code, out.getvalue(), err.getvalue())

    def does(self, *words: str | Path) -> Answer:
        answer = self(*words)
        assert answer.code == 0, answer.err
        return answer

    def write(self, path: str, text: str | bytes) -> Path:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        return file

    def with_skill(self) -> Terminal:
        """Begin a registry with the smallest skill there is: typed once for each worker, then copied."""
        usual = (
            self.answers_for_project and not self._env["GERMLINE_REGISTRY"] and "XDG_DATA_HOME" not in self._env
        )
        if not usual or any(self.folder.iterdir()):
            return self.with_skill_typed()
        begun, own = _with_skill_once()
        copytree(begun, self.folder, copy_function=copy, dirs_exist_ok=True)
        place = (self.folder / ".germline/registry.db").resolve()
        keep_record(record_file("registries", str(place)), {**own, "place": str(place)})
        return self

    def with_skill_typed(self) -> Terminal:
        """Begin it by commands that are typed here and now."""
        self.does("init", "--split-key", SPLIT_KEY)
        self.write("skills/sql-analyst/SKILL.md", MINIMAL)
        self.does("import", "skills")
        return self

    def evolved(self) -> Terminal:
        """Begin a registry with the demo's skills, and let one of them learn a line from the demo's logs."""
        self.does("init", "--split-key", SPLIT_KEY)
        copytree(demo_folder() / "skills", self.folder / "skills")
        self.does("import", "skills")
        self.does("evolve", "sql-analyst", *some_recordings(), "--seed", "7", "--cycles", "2")
        return self

    def events(self) -> int:
        """Count the events of the registry."""
        count: int = self.does("verify", "--json").json["events"]
        return count

    def learned_line(self) -> int:
        """Find the first line that a strategy brought."""
        lines = self.does("show", "sql-analyst", "--json").json["lines"]
        return int(next(row["line"] for row in lines if row["kind"] == "repair"))


@cache
def _with_skill_once() -> tuple[Path, Mapping[str, Any]]:
    """Begin a registry to be copied, and give its folder and what the person's list said of it."""
    folder = Path(mkdtemp(dir=os.environ.get("XDG_DATA_HOME")))  # conftest.py removes it in the end
    Terminal(folder).with_skill_typed()
    file = record_file("registries", str((folder / ".germline/registry.db").resolve()))
    own = read_record(file)
    file.unlink()
    return folder, own


class Clone(Terminal):
    """Runs commands in a folder that came from a stranger."""

    answers_for_project = False

    def __init__(self, folder: Path, **env: str) -> None:
        super().__init__(folder, **{"XDG_DATA_HOME": "", **env})  # lists of its own, below HOME


def typed(clone: Clone, words: str) -> tuple[int, str]:
    """Answer the prompt of `germline trust` in a real terminal."""
    descriptor, its = pty.openpty()
    with ForkedCommand(["trust"], cwd=clone.folder, env={**os.environ, **clone._env}, terminal=its) as asking:
        os.close(its)
        output = b""
        with suppress(OSError):  # the end of a terminal
            while more := os.read(descriptor, 4_096):
                output += more
                if b"[y/N] " in more:
                    os.write(descriptor, words.encode())
        os.close(descriptor)
        return asking.wait(), output.decode()


def with_absolute_places() -> AbstractContextManager[object]:
    """Let registries keep places as earlier versions of germline did: absolute ones also in their project."""
    return patch("registry.registry.recorded_place", lambda place, _: place)


class Beginning:
    """A folder as the tests of a module find it, each of them again.

    It is put back in its place, since a registry names where its skills came from.
    """

    def __init__(self, germline: Terminal) -> None:
        self._germline = germline
        self._kept = germline.folder.with_name(f"{germline.folder.name}-as-it-began")
        copytree(germline.folder, self._kept, symlinks=True)

    def again(self) -> Terminal:
        """Undo what tests did there, and give the terminal."""
        rmtree(self._germline.folder)
        copytree(self._kept, self._germline.folder, symlinks=True)
        return self._germline


def recordings() -> Path:
    """Give the demo's logs of agents working on databases."""
    return demo_folder() / "recordings" / "sql"


def some_recordings() -> tuple[str, ...]:
    """Name half of them to a command: enough to promote by."""
    hasty, mixed = (str(recordings() / f"{run}.jsonl.gz") for run in ("hasty", "mixed"))
    return "--logs", hasty, "--logs", mixed
