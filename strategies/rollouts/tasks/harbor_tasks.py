"""Tasks as folders in the format of Harbor: task.toml, instruction.md, environment/, tests/ and solution/.

No image is built here. Where containers work, a task says of which image they are made; where not, a run begins
with what the Dockerfile copies into its working directory, and the rest of the container is this machine. Sources:
the task format in Harbor's documentation, task.toml up to schema 1.4.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from events.errors import TaskFileError
from strategies.rollouts.tasks.check_types import MAX_LIMIT_S, Fixture
from strategies.rollouts.tasks.dockerfile import Built, built
from strategies.rollouts.tasks.errors import mistake
from strategies.rollouts.tasks.fixture_locker import UNFIT, FixtureLocker, set_name, task_set
from strategies.rollouts.tasks.harbor_image import lacks_in_container, task_image
from strategies.rollouts.tasks.task import HarborGrader, RolloutTask
from strategies.rollouts.tasks.workspace import files_below

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from strategies.rollouts.tasks.task import TaskImage, TaskSet

SETTINGS: Final = "task.toml"
INSTRUCTION: Final = "instruction.md"
_ENVIRONMENT, _TESTS, _SOLUTION = "environment", "tests", "solution"
_VERIFIER, _SOLVER = "test.sh", "solve.sh"
_TABLES: Final = ("environment", "verifier", "solution", "agent", "metadata")
_LIMIT_S: Final = 600.0
"""What an agent and a verifier get where a task does not say (Harbor's own)."""
_DEEPEST: Final = 6
_MOST_TAG_CHARS: Final = 120
_MARK: Final = re.compile(r"\s*+(?:<!--[^>]*+(?<=--)>|#[^\n]*+)[^\S\n]*+\n")
_CANARY: Final = "canary"
"""What marks at the beginning of an instruction say: leaked benchmarks are found by them, and nothing is asked."""
_HINT: Final = "a Harbor task holds task.toml, instruction.md and tests/test.sh; docs/rollouts.md"


class _Read(NamedTuple):
    """A task, and what of its container is not there."""

    task: RolloutTask
    lacks: tuple[str, ...]


def harbor_folders(path: Path) -> list[Path]:
    """Find the folders of Harbor's tasks at or below a folder; hidden ones and links are passed over."""
    places = []
    for place, folders, files in os.walk(path):
        here = Path(place)
        if SETTINGS in files and (here / INSTRUCTION).is_file():
            places.append(here)
            folders.clear()
        deep = len(here.relative_to(path).parts) >= _DEEPEST
        folders[:] = [] if deep else sorted(name for name in folders if not name.startswith("."))
    return places


def load_harbor(path: Path, *, graded: bool = True, containers: Callable[[], str] = str) -> TaskSet:
    """Read the task folders below a folder, or the one that it is, and hash every file of theirs.

    `containers` names the program that makes containers here, "" for none; it is asked once a task has an image.
    Raises: TaskFileError that names the folder, and says what is expected there.
    """
    folder = path.resolve()
    places = harbor_folders(folder)
    if not places:
        missing = f"no folder in it has a {SETTINGS} and an {INSTRUCTION}"
        raise TaskFileError(f"{path} holds no task: {missing}", hint=_HINT)
    locker = FixtureLocker(folder)
    read = [_read(place, locker, containers if graded else None) for place in places]
    lacks = Counter(lack for task in read for lack in dict.fromkeys(task.lacks))
    notes = tuple(f"{times:,} of {len(read):,} tasks: {lack}" for lack, times in lacks.most_common())
    return task_set(path, set_name(folder), tuple(task.task for task in read), folder, notes)


def _read(place: Path, locker: FixtureLocker, containers: Callable[[], str] | None) -> _Read:
    """Read a task; `containers` is None where it is not graded."""
    settings, start = _settings(locker, place), built(place / _ENVIRONMENT)
    tables = {name: _table(place, settings, name) for name in _TABLES}
    has_image = start.from_image or bool(tables["environment"].get("docker_image"))
    program = containers() if has_image and containers else ""
    try:
        image = _image(place, tables, locker) if program else None
        task = RolloutTask(
            id=UNFIT.sub("-", place.name).strip("-._"),
            prompt=start.here(_without_marks(locker.text(place / INSTRUCTION))).strip(),
            files={name: _locked(locker, file) for name, file in start.files.items()},
            graders=(_grader(place, settings, start, locker, image),) if containers else (),
            limit_s=_seconds(place, settings, "agent"),
            tags=_tags(tables["metadata"]),
            folder=locker.folder,
        )
    except ValidationError as error:
        what, hint = mistake(error)
        raise TaskFileError(f"{place}: {what}", hint=hint) from error
    except (TypeError, ValueError) as error:
        raise TaskFileError(f"{place / SETTINGS}: {error}", hint=_HINT) from error
    if image is not None:
        return _Read(task, tuple(lacks_in_container(program, tables, start, image)))
    return _Read(task, tuple(_lacks(start, tables["verifier"], has_image=has_image)))


def _image(place: Path, tables: dict[str, dict[str, Any]], locker: FixtureLocker) -> TaskImage:
    named = bool(tables["environment"].get("docker_image"))
    files = [] if named else files_below(place / _ENVIRONMENT)
    context = [_locked(locker, file) for file in files]
    return task_image(tables["environment"], tables["verifier"], tables["solution"], context)


def _lacks(start: Built, verifier: dict[str, Any], *, has_image: bool) -> Iterator[str]:
    if has_image:
        yield "no container is made: they run in the sandbox, with the programs of this machine"
    if start.outside:
        yield "the files that their image has outside of the working directory are not there"
    if start.links:
        yield "links in environment/ are passed over"
    if start.services:
        yield "the services of docker-compose.yaml are not started"
    if verifier.get("env"):
        yield "verifier.env is not set"


def _grader(
    place: Path, settings: dict[str, Any], start: Built, locker: FixtureLocker, image: TaskImage | None
) -> HarborGrader:
    tests, solution = files_below(place / _TESTS), files_below(place / _SOLUTION)
    script, solver = place / _TESTS / _VERIFIER, place / _SOLUTION / _SOLVER
    if script not in tests:
        raise TaskFileError(f"{place} has no {_TESTS}/{_VERIFIER}, which gives the reward", hint=_HINT)
    return HarborGrader(
        name="reward",
        script=_locked(locker, script),
        uses=tuple(_locked(locker, file) for file in tests if file != script),
        solution=tuple(_locked(locker, file) for file in solution) if solver in solution else (),
        workdir=start.workdir,
        limit_s=_seconds(place, settings, "verifier"),
        image=image,
    )


def _settings(locker: FixtureLocker, place: Path) -> dict[str, Any]:
    try:
        settings = tomllib.loads(locker.text(place / SETTINGS))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TaskFileError(f"{place / SETTINGS} is no TOML: {error}", hint=_HINT) from error
    if settings.get("steps"):
        raise TaskFileError(
            f"{place} is a task of several steps, which are not run", hint="leave it out of the folder"
        )
    return settings


def _table(place: Path, settings: dict[str, Any], name: str) -> dict[str, Any]:
    table = settings.get(name, {})
    if not isinstance(table, dict):
        raise TaskFileError(f"{place / SETTINGS}: {name} is no table", hint=f"write [{name}]")
    return table


def _seconds(place: Path, settings: dict[str, Any], whose: str) -> float:
    limit_s = _table(place, settings, whose).get("timeout_sec") or _LIMIT_S
    if isinstance(limit_s, bool) or not isinstance(limit_s, int | float) or limit_s <= 0:
        raise TaskFileError(
            f"{place / SETTINGS}: {whose}.timeout_sec is {limit_s!r}", hint="write seconds, as in 120.0"
        )
    return min(float(limit_s), MAX_LIMIT_S)


def _tags(metadata: dict[str, Any]) -> tuple[str, ...]:
    """Take tags, category and difficulty as tags."""
    named = metadata.get("tags") if isinstance(metadata.get("tags"), list) else []
    given = [*(named or []), metadata.get("category"), metadata.get("difficulty")]
    tags = (UNFIT.sub("-", tag).strip("-._")[:_MOST_TAG_CHARS] for tag in given if isinstance(tag, str))
    return tuple(dict.fromkeys(filter(None, tags)))


def _locked(locker: FixtureLocker, file: Path) -> Fixture:
    return Fixture.model_validate(locker.fixture(str(file.parent), file.relative_to(locker.folder).as_posix()))


def _without_marks(text: str) -> str:
    """Leave out the canaries that an instruction begins with."""
    start = 0
    while (mark := _MARK.match(text, start)) and _CANARY in mark[0].lower():
        start = mark.end()
    return text[start:]
