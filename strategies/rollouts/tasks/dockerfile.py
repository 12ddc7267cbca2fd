"""What a Dockerfile puts into the working directory, as far as that is known without building it."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from posixpath import basename, join, normpath
from typing import TYPE_CHECKING, Final

from events.errors import TaskFileError
from strategies.rollouts.tasks.workspace import MAX_READ_BYTES, files_below, read_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

DEFAULT_WORKDIR: Final = "/app"
"""Where tasks lie whose Dockerfile does not say (a guess: nearly all use it)."""
_FILE: Final = "Dockerfile"
_COMPOSE: Final = ("docker-compose.yaml", "docker-compose.yml")
_NO_INPUT: Final = frozenset({_FILE, ".dockerignore", *_COMPOSE})
_CONTINUED: Final = re.compile(r"\\\s*\n")
_OPTION: Final = re.compile(r"(?<!\S)--[a-z]+(?:=\S+)?\s+")
_WILD: Final = frozenset("*?[")
_SOURCE_AND_TARGET: Final = 2
MOST_COMPARED: Final = 1_000_000
"""Files of a folder times what COPY and ADD name: one line for each of 500 files makes 250,000."""


@dataclass
class Built:
    """A working directory: its path in the image, the files in it by their path there, and what is missing.

    `outside` are files that lie elsewhere in the image, `from_image` tells whether an image is named at all,
    `services` whether others are to run beside it, `links` whether some were passed over.
    """

    workdir: str = DEFAULT_WORKDIR
    files: dict[str, Path] = field(default_factory=dict)
    outside: tuple[str, ...] = ()
    from_image: bool = False
    services: bool = False
    links: bool = False

    def here(self, text: str) -> str:
        """Write paths of the working directory as relative ones."""
        return re.sub(rf"(?<![\w./~}}-]){re.escape(self.workdir)}(?![\w.-])", ".", text)


def built(context: Path) -> Built:
    """Tell what a run begins with: what is copied, or all of the folder where there is no Dockerfile.

    Raises: TaskFileError for a Dockerfile that cannot be read, or that copies too often from too many files.
    """
    below = {path.relative_to(context).as_posix(): path for path in files_below(context)}
    inputs = {at: path for at, path in below.items() if at not in _NO_INPUT}
    services = any((context / name).is_file() for name in _COMPOSE)
    links = any(path.is_symlink() for path in context.rglob("*"))
    file = context / _FILE
    if not file.is_file():
        return Built(files=inputs, services=services, links=links)
    workdir = ""
    placed: dict[str, Path] = {}
    compared = 0
    text = read_text(context, _FILE)
    if text is None:
        what = f"it is no file below {context}, or one of more than {MAX_READ_BYTES:,} bytes"
        raise TaskFileError(f"cannot read {file}: {what}", hint="keep it below the folder of the task")
    for word, rest in _instructions(text):
        match word:
            case "FROM":
                workdir, placed = "", {}
            case "WORKDIR":
                workdir = normpath(join(workdir or "/", rest.strip().strip("\"'")))
            case "COPY" | "ADD":
                *sources, target = _words(_OPTION.sub("", rest)) or [""]
                compared += len(sources) * len(inputs)
                if compared > MOST_COMPARED:
                    what = f"what COPY and ADD name, times {len(inputs):,} files, is over {MOST_COMPARED:,}"
                    raise TaskFileError(
                        f"cannot read {file}: {what}", hint="copy whole folders, as in COPY . /app"
                    )
                if "--from=" not in rest:
                    placed |= _copied(inputs, sources, target, workdir or "/")
    workdir = workdir if workdir not in {"", "/"} else DEFAULT_WORKDIR
    inside = {path: source for path, source in placed.items() if path.startswith(f"{workdir}/")}
    return Built(
        workdir=workdir,
        files={path.removeprefix(f"{workdir}/"): source for path, source in inside.items()},
        outside=tuple(sorted(placed.keys() - inside.keys())),
        from_image=True,
        services=services,
        links=links,
    )


def _instructions(text: str) -> list[tuple[str, str]]:
    whole = _CONTINUED.sub(" ", "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#")))
    words = (line.split(None, 1) for line in whole.splitlines() if line.strip())
    return [(word.upper(), "".join(rest).strip()) for word, *rest in words]


def _copied(inputs: Mapping[str, Path], sources: Sequence[str], target: str, workdir: str) -> dict[str, Path]:
    """Tell where the files of one COPY come to lie; what comes from a server is not there."""
    place = normpath(join(workdir, target))
    is_folder = target.endswith("/") or len(sources) >= _SOURCE_AND_TARGET or place == workdir
    placed: dict[str, Path] = {}
    for source in sources:
        name = normpath(source.lstrip("/") or ".")
        if name == ".":
            placed |= {join(place, at): path for at, path in inputs.items()}
            continue
        is_pattern = not _WILD.isdisjoint(name)
        for at, path in inputs.items():
            if at == name or (is_pattern and at.count("/") == name.count("/") and PurePosixPath(at).match(name)):
                placed[join(place, basename(at)) if is_folder or "*" in name else place] = path
            elif at.startswith(f"{name}/"):
                placed[join(place, at.removeprefix(f"{name}/"))] = path
    return placed


def _words(rest: str) -> list[str]:
    try:
        words = json.loads(rest) if rest.startswith("[") else shlex.split(rest)
    except (ValueError, RecursionError):
        return []
    return [str(word) for word in words]
