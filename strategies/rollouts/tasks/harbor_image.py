"""The container that a Harbor task asks for: its image, what it may use, its network and its variables.

Source: Harbor's documentation of task.toml up to schema 1.4, and of its network policy. Where a task says nothing
of the network it has one: that is Harbor's default.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from strategies.rollouts.tasks.check_types import MAX_LIMIT_S
from strategies.rollouts.tasks.task import TaskImage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from strategies.rollouts.tasks.check_types import Fixture
    from strategies.rollouts.tasks.dockerfile import Built

    Table = Mapping[str, Any]

_PUBLIC: Final = "public"
_ALLOWLIST: Final = "allowlist"
_TEMPLATE: Final = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")
_SIZE: Final = re.compile(r"([0-9.]+)\s*([GMK])B?", re.IGNORECASE)
_MEGABYTES: Final = {"G": 1024.0, "M": 1.0, "K": 1 / 1024}
_NOT_TAKEN_OVER: Final = {
    "environment": ("gpus", "healthcheck", "mcp_servers", "skills_dir"),
    "verifier": ("user", "environment", "environment_mode", "collect"),
    "agent": ("user",),
}


def task_image(environment: Table, verifier: Table, solution: Table, context: Sequence[Fixture]) -> TaskImage:
    """Read the image; `context` are the files that it is built from where it has no name.

    Raises: ValidationError, ValueError for what cannot be.
    """
    name = environment.get("docker_image") or ""
    return TaskImage(
        name=name,
        context=() if name else tuple(context),
        build_limit_s=min(float(environment.get("build_timeout_sec") or 600.0), MAX_LIMIT_S),
        memory_mb=_memory_mb(environment),
        cpus=float(environment.get("cpus") or 0.0),
        network=_mode(environment) == _PUBLIC,
        verifier_network=(_mode(verifier, "") or _mode(environment)) == _PUBLIC,
        environment=_variables(environment),
        verifier_environment=_variables(verifier),
        solution_environment=_variables(solution),
    )


def lacks_in_container(program: str, tables: Mapping[str, Table], start: Built, image: TaskImage) -> Iterator[str]:
    """Say how a task runs where there are containers, and what of it is not there all the same."""
    yield (
        f"the verifier runs in a container ({program}); an agent that is a command works in the sandbox, "
        "on the working directory of the image"
    )
    if image.network or image.verifier_network:
        yield "the verifier or the solution has the network, as task.toml has it"
    if start.links and image.context:
        yield "links in environment/ are passed over"
    if start.services:
        yield "the services of docker-compose.yaml are not started"
    if any(_mode(tables[name], "") == _ALLOWLIST for name in ("environment", "verifier")):
        yield "of a network only for allowed hosts nothing is let through"
    for name, keys in _NOT_TAKEN_OVER.items():
        yield from (f"{name}.{key} is not taken over" for key in keys if tables[name].get(key))
    for name in ("environment", "verifier", "solution"):
        for key, value in (tables[name].get("env") or {}).items():
            if any(default is None for default in _defaults(value)):
                yield f"{name}.env: {key} is not set, because it asks for a variable of this machine"


def _mode(table: Table, otherwise: str = _PUBLIC) -> str:
    """Tell the network mode that a table names, by its older spelling as well."""
    mode = table.get("network_mode") or (_ALLOWLIST if table.get("allowed_hosts") else "")
    if not mode and table.get("allow_internet") is False:
        return "no-network"
    return str(mode or otherwise)


def _memory_mb(environment: Table) -> int:
    """Read how much memory there may be, in the newer spelling or the older (`"4G"`)."""
    older = environment.get("memory")
    if environment.get("memory_mb") or not older:
        return int(environment.get("memory_mb") or 0)
    size = _SIZE.fullmatch(str(older).strip())
    if size is None:
        raise ValueError(f"environment.memory is {older!r}, which is no size as in 4G")
    return max(1, int(float(size[1]) * _MEGABYTES[size[2].upper()]))


def _variables(table: Table) -> dict[str, str]:
    """Read variables; those that ask for one of this machine, and have no default, are left out."""
    given = table.get("env") or {}
    if not isinstance(given, dict):
        raise ValueError(f"env is {given!r}, which is no table")  # noqa: TRY004 - told as the mistakes beside it
    known = {key: str(value) for key, value in given.items() if None not in _defaults(value)}
    return {key: _TEMPLATE.sub(lambda match: match[2], value) for key, value in known.items()}


def _defaults(value: object) -> list[str | None]:
    """List the defaults of the variables of this machine that a text asks for: none of them is given away."""
    return [match[2] for match in _TEMPLATE.finditer(str(value))]
