"""What a confined command is started with, and what is told of it: plain data, and how it goes through a pipe.

It goes as groups of texts, each text after its length in bytes, so that no text can pass for anything but itself.
JSON, and the classes of `typing`, would cost each start more than all the rest of the launcher.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Final

PARTS: Final = ("files", "network", "processes", "watch")
"""Writes stay inside; nothing is reached; everything ends with the command; and attempts are told."""
_CODING: Final = ("utf-8", "surrogatepass")
"""Brings through every text that Python has: a path need not be UTF-8."""


class Spec:
    """A command, where it runs, what it may write, and its limits.

    `limits` names limits of the module `resource`. `root` is the folder that paths are told relative to.
    `required` are the parts of the isolation without which nothing is started; `spare_bytes` must stay free of the
    disk. Units: limit_s in seconds.
    """

    def __init__(  # noqa: PLR0913 - a record; a dataclass would cost each start 10 ms
        self,
        *,
        argv: list[str],
        cwd: str,
        environment: dict[str, str],
        root: str,
        writable: list[str],
        hidden: list[str],
        network: bool,
        limit_s: float,
        processes: int,
        spare_bytes: int,
        limits: dict[str, int],
        required: list[str],
    ) -> None:
        self.argv = argv
        self.cwd = cwd
        self.environment = environment
        self.root = root
        self.writable = writable
        self.hidden = hidden
        self.network = network
        self.limit_s = limit_s
        self.processes = processes
        self.spare_bytes = spare_bytes
        self.limits = limits
        self.required = required

    @classmethod
    def read(cls, descriptor: int) -> Spec:
        """Read a spec as `packed` gives it; through a pipe, because it may hold the agent's key.

        Raises: ValueError for anything else.
        """
        with open(descriptor, "rb") as stream:
            single, argv, names, values, writable, hidden, bounded, bounds, required = _groups(stream.read())
        cwd, root, network, limit_s, processes, spare_bytes = single
        return cls(
            argv=argv,
            cwd=cwd,
            environment=dict(zip(names, values, strict=True)),
            root=root,
            writable=writable,
            hidden=hidden,
            network=bool(int(network)),
            limit_s=float(limit_s),
            processes=int(processes),
            spare_bytes=int(spare_bytes),
            limits=dict(zip(bounded, map(int, bounds), strict=True)),
            required=required,
        )

    def packed(self) -> bytes:
        """Give the spec as it goes through the pipe."""
        counts = (self.processes, self.spare_bytes)
        return _packed(
            (self.cwd, self.root, str(int(self.network)), repr(self.limit_s), *map(str, counts)),
            self.argv,
            self.environment.keys(),
            self.environment.values(),
            self.writable,
            self.hidden,
            self.limits.keys(),
            map(str, self.limits.values()),
            self.required,
        )


class Report:
    """What came of it.

    `ended` is exited, limit, processes, disk, unstarted (see `error`) or refused (a required part is missing).
    `missing` are the parts of the isolation that the kernel does not give. `code` is negative for a signal.
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
    def unpacked(cls, content: bytes) -> Report:
        """Read a report as `packed` gives it; raises ValueError for anything else."""
        (ended, code, error), missing, attempts = _groups(content)
        return cls(ended, missing, int(code), attempts, error)

    def packed(self) -> bytes:
        """Give the report as it goes through the pipe."""
        return _packed((self.ended, str(self.code), self.error), self.missing, self.attempts)


def _packed(*groups: Iterable[str]) -> bytes:
    """Write each group as the number of its texts, `;`, and of each text its length in bytes, `:` and itself."""
    content = b""
    for group in groups:
        texts = [text.encode(*_CODING) for text in group]
        content += b"%d;" % len(texts) + b"".join([b"%d:%b" % (len(text), text) for text in texts])
    return content


def _groups(content: bytes) -> list[list[str]]:
    """Read what `_packed` wrote; raises ValueError for anything else."""
    groups, at = [], 0
    while at < len(content):
        number, at = _number(content, at, b";")
        texts = []
        for _ in range(number):
            size, at = _number(content, at, b":")
            texts.append(content[at : at + size].decode(*_CODING))
            at += size
        groups.append(texts)
    if at != len(content):
        raise ValueError(f"{at - len(content)} bytes are missing")
    return groups


def _number(content: bytes, at: int, mark: bytes) -> tuple[int, int]:
    """Read a number that ends with a mark, and tell what follows it."""
    end = content.index(mark, at)
    digits = content[at:end]
    if not digits.isdigit():
        raise ValueError(f"{digits[:20]!r} is no number")
    return int(digits), end + 1
