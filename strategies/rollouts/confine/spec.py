"""What a confined command is started with, and what is told of it: plain data, read and written as JSON."""

from __future__ import annotations

import json
from typing import NamedTuple


class Spec(NamedTuple):
    """A command, where it runs, what it may write, and its limits.

    `limits` names limits of the module `resource`. `root` is the folder that paths are told relative to.
    `required` are the parts of the isolation without which nothing is started. Units: limit_s in seconds.
    """

    argv: list[str]
    cwd: str
    environment: dict[str, str]
    root: str
    writable: list[str]
    hidden: list[str]
    network: bool
    limit_s: float
    processes: int
    limits: dict[str, int]
    required: list[str]

    @classmethod
    def read(cls, descriptor: int) -> Spec:
        """Read a spec as `packed` gives it; through a pipe, because it may hold the agent's key."""
        with open(descriptor, encoding="utf-8") as stream:
            return cls(**json.load(stream))

    def packed(self) -> str:
        """Give the spec as JSON."""
        return json.dumps(self._asdict())


class Report(NamedTuple):
    """What came of it.

    `ended` is exited, limit, processes, unstarted (see `error`) or refused (a required part is missing). `missing`
    are the parts of the isolation that the kernel does not give. `code` is negative for a signal.
    """

    ended: str
    missing: list[str]
    code: int = 0
    attempts: tuple[str, ...] = ()
    error: str = ""

    @classmethod
    def unpacked(cls, text: str) -> Report:
        """Read a report as `packed` gives it; raises ValueError for anything else."""
        return cls(**json.loads(text))

    def packed(self) -> str:
        """Give the report as JSON."""
        return json.dumps(self._asdict())
