"""A stream whose lines have an end, whatever a file holds: memory follows the bound, not the file.

A line is a record, and is held whole to be decoded; a packed file of a megabyte can hold one of a gigabyte.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Final

from msgspec import DecodeError

if TYPE_CHECKING:
    import msgspec

RECORD_LIMIT_BYTES: Final = 32 * 1024 * 1024
"""The longest line that is read as a record: as much as one request to a model may hold (Anthropic's API)."""

LONG_LINE_BYTES: Final = 1024 * 1024
"""From here on the values on a line are counted before it is decoded: a shorter one cannot hold too many."""

VALUES_LIMIT: Final = 512 * 1024
"""The most values in one JSON text: two bytes of it (`0,`) become a hundred in memory (measured: at most 230)."""

_CUT: Final = b"\xff%016d"
"""What a line that was cut ends in: how many bytes were left out, behind one that no JSON text ends with."""
_CUT_BYTES: Final = len(_CUT % 0)

_SKIP_BYTES: Final = 256 * 1024
_TAIL_BYTES: Final = 64 * 1024
_NEWLINE: Final = b"\n"
_BLOCK_BYTES: Final = 1024 * 1024


class BoundedLines(io.RawIOBase):
    """Another stream, in which a line above RECORD_LIMIT_BYTES is cut there, and says how much was left out."""

    closed = False  # asked for at each line: what a stream has from its base class costs a tenth of reading one

    def __init__(self, stream: io.RawIOBase) -> None:
        self._stream = stream
        self._line_bytes = 0
        self._behind = b""

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def close(self) -> None:
        """Close the other stream as well."""
        self._stream.close()
        super().close()
        self.closed = True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]  # io gives nothing else
        """Fill the buffer with what comes next."""
        if self._behind:
            size = min(len(buffer), len(self._behind))
            buffer[:size], self._behind = self._behind[:size], self._behind[size:]
        else:
            size = self._stream.readinto(buffer) or 0
        if self._line_bytes + size > RECORD_LIMIT_BYTES:
            return self._cut(buffer, bytes(buffer[:size]))
        self._line_bytes = _behind_last_newline(buffer[:size], self._line_bytes)
        return size

    def _cut(self, buffer: memoryview, raw: bytes) -> int:
        """Leave out what a line has too much, if it has; gives how much of the buffer then counts."""
        end, room = raw.find(_NEWLINE), RECORD_LIMIT_BYTES - self._line_bytes
        if 0 <= end <= room:
            self._line_bytes = _behind_last_newline(buffer[: len(raw)], 0)
            return len(raw)
        left_out = (end if end >= 0 else len(raw)) - room
        rest = raw[end:]
        while end < 0 and (rest := self._stream.read(_SKIP_BYTES) or b""):
            end = rest.find(_NEWLINE)
            left_out += end if end >= 0 else len(rest)
            rest = rest[end:]
        self._behind, self._line_bytes = _CUT % left_out + (rest if end >= 0 else b""), 0
        return room or self.readinto(buffer)


def missing_bytes(line: bytes) -> int:
    """Count the bytes of the file that a line of BoundedLines lacks; the mark of a cut counts against them."""
    if len(line) <= RECORD_LIMIT_BYTES + len(_NEWLINE):
        return 0
    marked = line.removesuffix(_NEWLINE)[-_CUT_BYTES:]
    return int(marked[1:]) - _CUT_BYTES if marked.startswith(_CUT[:1]) else 0


def fit(line: bytes) -> bytes:
    """Give a line of BoundedLines that is not too large for a record; raises msgspec.DecodeError for others."""
    size = len(line.removesuffix(_NEWLINE)) + missing_bytes(line)
    if size > RECORD_LIMIT_BYTES:
        raise DecodeError(f"a line of {size:,} bytes: more than {RECORD_LIMIT_BYTES >> 20} MiB")
    if has_too_many_values(line):
        raise DecodeError(f"a line of {size:,} bytes with more than {VALUES_LIMIT:,} values")
    return line


def fit_part(raw: msgspec.Raw | bytes) -> msgspec.Raw | bytes:
    """Give a part of a JSON document that is not too large for a record, as `fit`."""
    size = memoryview(raw).nbytes
    if size > RECORD_LIMIT_BYTES:
        raise DecodeError(f"a record of {size:,} bytes: more than {RECORD_LIMIT_BYTES >> 20} MiB")
    return raw


def has_too_many_values(json_text: bytes) -> bool:
    """Tell whether a JSON text holds more than VALUES_LIMIT values, by the commas outside of its strings."""
    if json_text.count(b",") <= VALUES_LIMIT:
        return False
    commas, inside = 0, 0
    plain = json_text.replace(b"\\\\", b"").replace(b'\\"', b"")  # each quote now begins a string or ends one
    for start in range(0, len(plain), _BLOCK_BYTES):
        parts = plain[start : start + _BLOCK_BYTES].split(b'"')
        commas += b"".join(parts[inside::2]).count(b",")
        inside = (inside + len(parts) - 1) % 2
        if commas > VALUES_LIMIT:
            return True
    return False


def _behind_last_newline(raw: memoryview, before: int) -> int:
    """Count the bytes of the line that a block ends in; `before` is how many it had at the block's beginning."""
    tail = bytes(raw[-_TAIL_BYTES:])
    if _NEWLINE not in tail:
        tail = bytes(raw)
    return len(tail) - 1 - end if (end := tail.rfind(_NEWLINE)) >= 0 else before + len(raw)
