"""What a confined command is started with, and the report that comes back, as they go through pipes."""

from __future__ import annotations

import marshal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

PARTS: Final = ("files", "network", "processes", "watch")
"""Writes stay inside; nothing is reached; everything ends with the command; and attempts are reported."""


class Spec:
    """A command, where it runs, what it may write, and its limits.

    `limits` names limits of the module `resource`. Paths are reported relative to `root`. Of `private`, the folder
    of all runs, nothing but `root` can be read, and nothing that is `hidden`. `confined` is set where bubblewrap
    made the namespaces. `required` are the parts of the isolation without which nothing is started. All that runs
    may hold `memory_bytes` together, and take `disk_bytes` and `disk_files` below `writable`, where `spare_bytes`
    must stay free. Units: limit_s in seconds.
    """

    def __init__(  # noqa: PLR0913 - a record; a dataclass would cost each start 10 ms
        self,
        *,
        argv: list[str],
        cwd: str,
        environment: dict[str, str],
        root: str,
        writable: list[str],
        private: str,
        hidden: list[str],
        network: bool,
        limit_s: float,
        processes: int,
        memory_bytes: int,
        disk_bytes: int,
        disk_files: int,
        spare_bytes: int,
        limits: dict[str, int],
        required: list[str],
        confined: bool = False,
    ) -> None:
        self.argv = argv
        self.cwd = cwd
        self.environment = environment
        self.root = root
        self.writable = writable
        self.private = private
        self.hidden = hidden
        self.network = network
        self.limit_s = limit_s
        self.processes = processes
        self.memory_bytes = memory_bytes
        self.disk_bytes = disk_bytes
        self.disk_files = disk_files
        self.spare_bytes = spare_bytes
        self.limits = limits
        self.required = required
        self.confined = confined

    @property
    def root_is_private(self) -> bool:
        """Whether the root lies below the private folder, so that it has to be shown again."""
        return self.root.startswith(f"{self.private}/")

    @classmethod
    def read(cls, descriptor: int) -> Spec:
        """Read a spec as `packed` gives it; through a pipe, because it may hold the agent's key."""
        with open(descriptor, "rb") as stream:
            return cls(**marshal.load(stream))  # noqa: S302 - written by our own parent; json would cost each start 10 ms

    def packed(self) -> bytes:
        """Give the spec as it goes through the pipe."""
        return marshal.dumps(vars(self))


class ConfinementReport:
    """What came of it.

    `ended` is as in `Ran` of confined_run.py, or refused (a required part is missing). `missing` are the parts of
    the isolation that the kernel does not give. `code` is negative for a signal.
    """

    def __init__(
        self, ended: str, missing: Iterable[str], code: int = 0, attempts: Iterable[str] = (), error: str = ""
    ) -> None:
        self.ended = ended
        self.missing = tuple(missing)
        self.code = code
        self.attempts = tuple(attempts)
        self.error = error

    @classmethod
    def unpacked(cls, content: bytes) -> ConfinementReport:
        """Read a report as `packed` gives it; raises ValueError for anything else."""
        import ast  # noqa: PLC0415 - the reader's alone; it would cost each start 10 ms

        try:
            ended, missing, code, attempts, error = ast.literal_eval(content.decode("ascii"))
            texts = (ended, error, *missing, *attempts)
        except (TypeError, SyntaxError, MemoryError, RecursionError) as broken:
            raise ValueError("this is no report") from broken
        if type(code) is not int or not all(type(text) is str for text in texts):
            raise ValueError("this is no report")
        return cls(ended, missing, code, attempts, error)

    def packed(self) -> bytes:
        """Give the report as it goes through the pipe: literals of Python, in ASCII."""
        return ascii((self.ended, self.missing, self.code, self.attempts, self.error)).encode()
