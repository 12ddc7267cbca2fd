"""How far a log was read, and by what it is known again: under another name, grown, or replaced.

A log is known by the hash of its first bytes (up to 1 KiB, fewer while it is shorter), by the bytes just before
the place where the last reading ended, and by device and inode. Names alone say nothing: a rotation gives the
name to another file, and another name to the file.
"""

from __future__ import annotations

import os
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from registry.evidence.log_paths import kept_path, paths_of
from strategies.files.log_file import LogPosition

if TYPE_CHECKING:
    from collections.abc import Mapping
    from collections.abc import Set as AbstractSet
    from io import FileIO

FINGERPRINT_BYTES: Final = 1024
"""How much of either end is looked at."""

PREFIX: Final = "scan:"
"""What the name of a scan's offset begins with; the kept path follows."""


class ReadOffset(msgspec.Struct, frozen=True, array_like=True):
    """How far one file was read.

    `prefix` and `tail` are hashes of the first `prefix_bytes` of the file and of what lies before `offset`.
    `state` is what the reader knew there, b"" where the format has to be read whole. Units: bytes of the file as
    it lies on disk; modified_ns is the time of its last change.
    """

    format: str
    size_bytes: int
    modified_ns: int
    device: int
    inode: int
    prefix_bytes: int
    prefix: bytes
    offset: int
    line: int
    tail: bytes
    state: bytes

    @property
    def place(self) -> LogPosition:
        """Where the next reading begins."""
        return LogPosition(self.offset, self.line)

    def is_of(self, stat: os.stat_result) -> bool:
        """Tell whether it is the same file, by device and inode."""
        return (self.device, self.inode) == (stat.st_dev, stat.st_ino)

    def unchanged(self, stat: os.stat_result) -> bool:
        """Tell whether nothing was written to the file since."""
        return self.is_of(stat) and (self.size_bytes, self.modified_ns) == (stat.st_size, stat.st_mtime_ns)

    def goes_on(self, file: FileIO) -> bool:
        """Tell whether an open file begins with all that was read, so that reading can go on behind it."""
        if not self.state or os.fstat(file.fileno()).st_size < self.offset:
            return False
        return head_of(file, self.prefix_bytes) == self.prefix and _tail(file, self.offset) == self.tail


_DECODER: Final = msgspec.msgpack.Decoder(ReadOffset)


def read_offset_of(file: FileIO, stat: os.stat_result, log_format: str, place: LogPosition, state: bytes) -> bytes:
    """Give the offset of an open file, read up to a place; `stat` is from before the reading began."""
    prefix_bytes = min(FINGERPRINT_BYTES, place.offset if state else stat.st_size)
    return msgspec.msgpack.encode(
        ReadOffset(
            log_format,
            stat.st_size,
            stat.st_mtime_ns,
            stat.st_dev,
            stat.st_ino,
            prefix_bytes,
            head_of(file, prefix_bytes),
            place.offset,
            place.line,
            _tail(file, place.offset),
            state,
        )
    )


def seen_as(offset: bytes, stat: os.stat_result) -> bytes:
    """Give an offset that another machine made with device and inode as this one sees them."""
    made = _DECODER.decode(offset)
    if made.is_of(stat):
        return offset
    return msgspec.msgpack.encode(msgspec.structs.replace(made, device=stat.st_dev, inode=stat.st_ino))


def head_of(file: FileIO, size: int) -> bytes:
    """Hash the first bytes of an open file."""
    return _hash(os.pread(file.fileno(), size, 0))


def forgotten(stored: Mapping[str, bytes], files: AbstractSet[str]) -> dict[str, bytes]:
    """Give the offsets of these logs without what their readers knew, by name; those that change alone.

    Such a log is read from its start when it grows. It is known under other names too, by its inode or its first
    bytes: there the text of a log that rotated may be a second time. Shapes: files are kept paths.
    """
    every = {name: _DECODER.decode(body) for name, body in stored.items() if name.startswith(PREFIX) and body}
    named = [offset for name, offset in every.items() if name.removeprefix(PREFIX) in files]
    inodes, heads = (
        {(offset.device, offset.inode) for offset in named},
        {(offset.prefix_bytes, offset.prefix) for offset in named},
    )
    return {
        name: msgspec.msgpack.encode(msgspec.structs.replace(offset, state=b""))
        for name, offset in every.items()
        if offset.state
        and ((offset.device, offset.inode) in inodes or (offset.prefix_bytes, offset.prefix) in heads)
    }


class ReadOffsets:
    """The offsets of all scans before, by kept path, as they were when this one began."""

    def __init__(self, stored: Mapping[str, bytes]) -> None:
        """Take those of scans out of what the registry keeps; other bytes under such a name are passed over."""
        self._by_path: dict[str, ReadOffset] = {}
        for name, body in stored.items():
            if name.startswith(PREFIX) and body:
                self._by_path[name.removeprefix(PREFIX)] = _DECODER.decode(body)

    def followed(self, kept: str) -> bool:
        """Tell whether a file was read under this name before that can be known by what it holds."""
        own = self._by_path.get(kept)
        return own is not None and bool(own.state)

    def renamed(self, kept: str) -> str:
        """Find the file that was read under this name, by its inode in the same folder; "" if it is not there."""
        own = self._by_path.get(kept)
        if own is None:
            return ""
        try:
            for folder in paths_of(kept.rpartition("/")[0] or "/"):
                for file in list(os.scandir(folder)):
                    stat = file.stat(follow_symlinks=False)
                    if own.unchanged(stat) or (own.is_of(stat) and _goes_on_in(Path(file.path), own)):
                        return kept_path(file.path)
        except OSError:
            return ""  # the folder is gone, or changes while it is read: then nobody knows
        return ""

    def kept(self, path: Path) -> str:
        """Give the kept path of a log; one under which a log was read before is its own."""
        text = str(path)
        return text if text in self._by_path else kept_path(text)

    def of(self, path: Path, stat: os.stat_result) -> tuple[str, ReadOffset] | None:
        """Find the offset that a file goes on from, and the kept path it was made at; None for a new file.

        Its own path comes first, then the same inode under another (renamed), then the same contents under
        another whose own file is no longer there or no longer holds them (copied, and then truncated).
        """
        kept = self.kept(path)
        own = self._by_path.get(kept)
        if own and own.unchanged(stat):
            return kept, own
        with path.open("rb", buffering=0) as file:
            if own and own.goes_on(file):
                return kept, own
            return self._elsewhere(kept, file, stat)

    def _elsewhere(self, path: str, file: FileIO, stat: os.stat_result) -> tuple[str, ReadOffset] | None:
        others = [(name, offset) for name, offset in self._by_path.items() if name != path]
        for name, offset in others:
            if offset.unchanged(stat) or (offset.is_of(stat) and offset.goes_on(file)):
                return name, offset
        heads: dict[int, bytes] = {}
        for name, offset in others:
            head = heads.get(offset.prefix_bytes) or heads.setdefault(
                offset.prefix_bytes, head_of(file, offset.prefix_bytes)
            )
            if head == offset.prefix and offset.goes_on(file) and not _still_at(name, offset):
                return name, offset
        return None


def _still_at(name: str, offset: ReadOffset) -> bool:
    return any(_goes_on_in(path, offset) for path in paths_of(name))


def _goes_on_in(path: Path, offset: ReadOffset) -> bool:
    try:
        with path.open("rb", buffering=0) as file:
            return offset.goes_on(file)
    except OSError:
        return False


def _tail(file: FileIO, offset: int) -> bytes:
    start = max(0, offset - FINGERPRINT_BYTES)
    return _hash(os.pread(file.fileno(), offset - start, start))


def _hash(raw: bytes) -> bytes:
    return blake2b(raw, digest_size=16).digest()
