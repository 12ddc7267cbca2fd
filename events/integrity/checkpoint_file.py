"""The sidecar: checkpoints of a log in a file beside it, one JSON line each, only ever appended to.

A line carries what it takes to go on from it (`peaks`, the frontier of the tree), so that the next one costs only
the events since, and a `sum` over itself, so that damage to the sidecar is not taken for damage to the log.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Final

from events.clock import monotonic_s, pause
from events.errors import CorruptLogError, NotFoundError, StorageError, UsageError
from events.fsync import sync
from events.integrity.checkpoint import Checkpoint, read_checkpoint, take_checkpoint
from events.integrity.merkle import HASH_BYTES, Frontier
from events.store.protocol import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from events.store.sql_log import EventLog

_TAIL_BYTES: Final = 65_536
"""How far back the next line looks for the last one, whose length is 1 to 2 kB at most."""
_SUM_CHARS: Final = 16
_PATIENCE_S: Final = 10.0
"""How long to wait for another process's lock, as `events.sqlite.log` does; a line takes it for milliseconds."""
_RETRY_S: Final = 0.005


@dataclass(frozen=True, slots=True)
class StoredCheckpoints:
    """The checkpoints of a file; `torn` tells that its last line was not finished, which a crash explains."""

    checkpoints: tuple[Checkpoint, ...]
    problems: tuple[Problem, ...] = ()
    torn: bool = False


def read_kept(path: Path) -> StoredCheckpoints:
    """Read a file of checkpoints: one as a JSON object, or any number as JSON lines.

    Raises: NotFoundError where there is no such file; UsageError where it holds no checkpoint at all.
    """
    try:
        text = path.read_bytes()
    except OSError as error:
        raise NotFoundError(
            f"{path} cannot be read: {error.strerror}", hint="germline checkpoint -o FILE"
        ) from error
    kept = _read_whole(text) or _read_lines(text, path)
    if not kept.checkpoints:
        raise UsageError(f"{path} holds no checkpoint", hint="germline checkpoint -o FILE")
    return kept


def read_sidecar(path: Path) -> StoredCheckpoints | None:
    """Read a sidecar: damage to it is a finding, its first line may be torn; None where there is none.

    Raises: StorageError where it cannot be read.
    """
    try:
        return _read_lines(path.read_bytes(), path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StorageError(
            f"{path} cannot be read: {error.strerror}", hint="check who owns the file, then: germline verify"
        ) from error


def keep_checkpoint(log: EventLog, path: Path, *, at: str) -> Checkpoint | None:
    """Add a line with the head of the log; None where the last line has it already, or there is no event yet.

    Costs reading the events since that line, and one sync. Must not be called inside a transaction: what is not
    committed may yet be undone. Raises: StorageError where the line cannot be written: the events are kept.
    """
    head = log.head()
    if not head.position:
        return None
    try:
        with _locked(path) as file:
            head = (
                log.head()
            )  # once more: another process may have written both an event and a line while we waited
            end, last = _last_line(file)
            if last and (last[0].size, last[0].head) == (head.position, head.hash):
                return None
            frontier = last[1] if last and _goes_on(log, last[0]) else Frontier()
            checkpoint = take_checkpoint(log, at=at, frontier=frontier)
            _append(file, _line(checkpoint, frontier), end)
    except OSError as error:
        raise StorageError(
            f"the events are kept, but no checkpoint of them in {path}: {error.strerror}", hint="germline verify"
        ) from error
    return checkpoint


def _read_whole(text: bytes) -> StoredCheckpoints | None:
    """Read a file that is one JSON object, as `germline checkpoint -o` writes it."""
    try:
        fields = json.loads(text)
        return (
            None if isinstance(fields, dict) and "sum" in fields else StoredCheckpoints((read_checkpoint(fields),))
        )
    except (ValueError, RecursionError, UsageError):
        return None


def _read_lines(text: bytes, path: Path) -> StoredCheckpoints:
    *lines, rest = text.split(b"\n")
    checkpoints, problems = [], []
    for number, line in enumerate(lines, 1):
        if read := _read_line(line):
            checkpoints.append(read[0])
        elif line.strip():
            problems.append(Problem(0, f"line {number} of {path} was damaged", "checkpoint"))
    read = _read_line(rest)
    if read:
        checkpoints.append(read[0])  # a file that a person put together may end without a line break
    return StoredCheckpoints(tuple(checkpoints), tuple(problems), torn=bool(rest.strip()) and not read)


def _read_line(line: bytes) -> tuple[Checkpoint, Frontier] | None:
    """Read one line, with the frontier that the sidecar keeps in it; None where it does not hold."""
    try:
        fields = json.loads(line)
        checkpoint = read_checkpoint(fields)
        if not {"sum", "peaks"} & fields.keys():
            return checkpoint, Frontier()  # written by a person's command, not by us
        stated_sum = fields.pop("sum")
        peaks = base64.b64decode(fields["peaks"], validate=True)
        frontier = Frontier(checkpoint.size, [peaks[i : i + HASH_BYTES] for i in range(0, len(peaks), HASH_BYTES)])
    except (ValueError, KeyError, TypeError, RecursionError, UsageError):
        return None
    sound = stated_sum == _sum(fields) and frontier.root().hex() == checkpoint.root
    return (checkpoint, frontier) if sound else None


def _line(checkpoint: Checkpoint, frontier: Frontier) -> bytes:
    fields = {**checkpoint.fields(), "peaks": base64.b64encode(b"".join(frontier.peaks)).decode()}
    return _compact({**fields, "sum": _sum(fields)}) + b"\n"


def _sum(fields: dict[str, Any]) -> str:
    return sha256(_compact(fields)).hexdigest()[:_SUM_CHARS]


def _compact(fields: dict[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode()


def _goes_on(log: EventLog, last: Checkpoint) -> bool:
    """Tell whether the log still holds what the last line says: else its frontier is that of other events."""
    try:
        return [digest.hex() for digest in log.hashes(after=last.size - 1, upto=last.size)] == [last.head]
    except CorruptLogError:
        return False


@contextmanager
def _locked(path: Path) -> Iterator[int]:
    """Open the sidecar, for its owner's eyes, and let no other process write to it meanwhile."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    new = not path.exists()
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        _lock(file, path)
        yield file
    finally:
        os.close(file)
    if new:
        sync(path.parent)


def _lock(file: int, path: Path) -> None:
    deadline_s = monotonic_s() + _PATIENCE_S
    while True:
        try:
            return fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if monotonic_s() > deadline_s:
                raise StorageError(
                    f"the events are kept, but no checkpoint of them: another process stays in {path}",
                    hint="the next command that writes keeps one; or now: germline checkpoint -o FILE",
                ) from error
        pause(_RETRY_S)


def _last_line(file: int) -> tuple[int, tuple[Checkpoint, Frontier] | None]:
    """Return where the next line goes, and the last line near there that holds.

    What a crash left of a line makes room; what is longer than any line is not ours to remove.
    """
    size = os.fstat(file).st_size
    start = max(0, size - _TAIL_BYTES)
    tail = os.pread(file, size - start, start)
    end = tail.rfind(b"\n") + 1
    is_torn = (end or not start) and not _read_line(tail[end:])
    last = next(filter(None, map(_read_line, reversed(tail.split(b"\n")))), None)
    return (start + end if is_torn else size), last


def _append(file: int, line: bytes, end: int) -> None:
    """Write a line at the end, or nothing: half a line goes again."""
    os.ftruncate(file, end)
    begin = b"\n" if end and os.pread(file, 1, end - 1) != b"\n" else b""
    try:
        with open(file, "ab", closefd=False) as stream:
            stream.write(begin + line)
        os.fsync(file)
    except OSError:
        os.ftruncate(file, end)
        raise
