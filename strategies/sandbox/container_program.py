"""The program that makes containers on this machine: docker, or podman, which takes the same commands."""

from __future__ import annotations

import os
import shutil
from functools import cache
from pathlib import Path
from typing import Final

from events.errors import NotFoundError
from strategies.sandbox.child_process import ask_program

_PROGRAMS: Final = ("docker", "podman")
_PROBE_S: Final = 10.0
NEVER: Final = 'container = "never" under [rollouts] in germline.toml runs tasks in the sandbox'
NONE_WORKS: Final = "neither docker nor podman works here"
WHY_NONE: Final = f"docker info    or podman info, which say why; {NEVER}"


def container_program(choice: str) -> str:
    """Name the program that is to make containers; "" where none works, or none is wanted.

    `choice` is what `rollouts.container` says: auto, always or never.
    Raises: NotFoundError where containers are wanted in any case and none works.
    """
    program = "" if choice == "never" else working_program()
    if choice == "always" and not program:
        raise NotFoundError(f'rollouts.container is "always", and {NONE_WORKS}', hint=WHY_NONE)
    return Path(program).name


def working_program() -> str:
    """Find the program that says it can make containers, asked once; "" where there is none."""
    return _working(os.environ.get("PATH", ""))


@cache
def _working(path: str) -> str:
    for place in filter(None, (shutil.which(name, path=path) for name in _PROGRAMS)):
        if ask_program((place, "info"), limit_s=_PROBE_S).code == 0:
            return place
    return ""
