"""A log file as a stream of decompressed bytes: its head, its lines, or the whole of it."""

from __future__ import annotations

import io
import os
import re
from contextlib import contextmanager
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from msgspec import DecodeError

from events.errors import DamagedLogError, UnreadableLogError
from strategies.files.bounded_lines import LONG_LINE_BYTES, RECORD_LIMIT_BYTES, BoundedLines, fit, missing_bytes
from strategies.files.compression import MAGIC_BYTES, SUFFIXES, DamagedError, FollowedError, packing_of, unpacked
from strategies.files.json_values import one_a_line, opens_as_values, value_ranges, without_long_strings
from strategies.files.log_records import Malformed
from strategies.files.stores import may_be_store, store_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from strategies.files.log_records import ReadTally
    from strategies.files.stores import Store

HEAD_BYTES: Final = 64 * 1024
"""How much of the decompressed stream a reader sees when it is asked whether a file is meant for it."""

CHUNK_BYTES: Final = 1024 * 1024
"""Bytes read from disk at once: above 1 MiB the rate no longer rises."""

WHOLE_LIMIT_BYTES: Final = 256 * 1024 * 1024
"""The largest JSON document that is not line-delimited and still read: all of it is held in memory."""

BOM: Final = b"\xef\xbb\xbf"
"""The byte order mark that some writers put before the first line."""
_NEWLINE: Final = ord("\n")
_ROTATED: Final = re.compile(r"(\.(?:log|out|err|txt|json|jsonl|ndjson|traj))[.-]\d[\d_-]*$", re.IGNORECASE)
"""What a rotation puts behind the name of a log: a number or a date. Its episodes are called as before."""


class LogPosition(NamedTuple):
    """How far a log was read: bytes of the decompressed stream, and whole lines."""

    offset: int = 0
    line: int = 0


START: Final = LogPosition()


class LogLine(NamedTuple):
    """One line without its newline, where it starts in the decompressed stream, and its number from 1."""

    raw: bytes
    byte_start: int
    number: int


_RECORDS_SEEN: Final = 2
"""Whole records on lines of their own, which tell a format without any longer look."""


class LogFile:
    """One log file: plain, gzip or zstd.

    `broken` is set once a pass over the stream ends before the file does: what came before was given out. `cut`
    tells that the stream itself ended early, so that its last line is no whole one.
    `text_bytes` counts what was given out so far, `reached` is where `lines` ended. `advance` is called with the
    number of bytes read from disk, for a progress bar. A plain file can be read on from the `start` where an
    earlier pass ended. With `whole_lines` a last line whose newline is still missing is not given out. All is read
    from the open file `descriptor`, if one is given: the path may lead to another file by then. Of a store
    (stores.py) the lines are its rows, of sessions that ran `within` a folder.
    """

    def __init__(
        self,
        path: Path,
        advance: Callable[[int], None] | None = None,
        start: LogPosition = START,
        *,
        whole_lines: bool = False,
        descriptor: int | None = None,
        within: Callable[[str], bool] | None = None,
    ) -> None:
        self.path = path
        self.source = str(path)
        self.start = start
        self.broken: DamagedLogError | None = None
        self.cut = False
        self.text_bytes = 0
        self.reached = start
        self._advance = advance
        self.whole_lines = whole_lines
        self._descriptor = descriptor
        self._within = within

    @cached_property
    def store(self) -> Store | None:
        """The store that the file is, None for any other; raises UnreadableLogError for a damaged one."""
        return store_of(self.path) if may_be_store(self.path) else None

    @property
    def stem(self) -> str:
        """The file name without `.gz` or `.zst`, what a rotation put there, and the suffix before it."""
        return self._first_name.stem

    @property
    def suffix(self) -> str:
        """The suffix that the file had before it was rotated or compressed, if there is one."""
        return self._first_name.suffix

    @property
    def _first_name(self) -> Path:
        name = self.path.name
        for suffix in SUFFIXES:
            name = name.removesuffix(suffix)
        return Path(_ROTATED.sub(r"\1", name))

    def head(self, size: int = HEAD_BYTES) -> bytes:
        """Give the first bytes of the decompressed stream, fewer where the file is shorter or broken."""
        if self.store:
            return self._head_of(self.store, size)
        head = b""
        for chunk in LogFile(self.path, descriptor=self._descriptor).chunks(size):
            head += chunk
            if len(head) >= size:
                break
        return head[:size]

    def opening(self, size: int = HEAD_BYTES) -> bytes:
        """Give the head as readers are asked by it: a record a line, and of JSON the long strings without text.

        So what tells a format is seen behind a member of any length, up to RECORD_LIMIT_BYTES. There are fewer
        bytes than `size` in a file that is not that long, and where some whole records are among those.
        """
        read = size
        while True:
            head = self.head(read)
            short = (
                without_long_strings(head.removeprefix(BOM)) if len(head) >= HEAD_BYTES else head.removeprefix(BOM)
            )
            whole = len(short) >= size or len(head) < read or read >= RECORD_LIMIT_BYTES
            if whole or short.count(b"\n{") >= _RECORDS_SEEN:
                return one_a_line(short)
            read *= 4

    @property
    def holds_values(self) -> bool:
        """Tell whether records are not one a line: elements of an array, or objects over several lines."""
        if self.start.offset or self.store:
            return False
        return opens_as_values(self.head(CHUNK_BYTES // 256).removeprefix(BOM))

    def _head_of(self, store: Store, size: int) -> bytes:
        """Give the kind of a store, and its first rows."""
        head = b'{"store":"%s"}\n' % store.kind.encode()
        for row in store.rows(self._within):
            head += row.raw + b"\n"
            if len(head) >= size:
                break
        return head[:size]

    def breaks_at_once(self) -> DamagedLogError | None:
        """Tell what is wrong with an archive of which not even a head can be unpacked; None for any other file."""
        opening, size = self.again(), 0
        for chunk in opening.chunks(HEAD_BYTES):
            size += len(chunk)
            if size >= HEAD_BYTES:
                return None
        return opening.broken if opening.cut else None

    def first(self, count: int) -> Iterator[bytes]:
        """Give the first lines that can be records, as many as are asked for; nothing of it is counted here."""
        return (line.raw for line in islice(self.again().lines(), count))

    @property
    def packed(self) -> bool:
        """Tell whether the file is compressed."""
        with self.opened() as file:
            return bool(packing_of(os.pread(file.fileno(), MAGIC_BYTES, 0)))

    def opened(self) -> io.FileIO:
        """Open the file as it lies on disk; those given one descriptor share its position."""
        return io.FileIO(self.path if self._descriptor is None else os.dup(self._descriptor))

    def again(self, start: LogPosition = START) -> LogFile:
        """Give the same file to be read from another place; nothing of it is counted here."""
        return LogFile(
            self.path, None, start, whole_lines=self.whole_lines, descriptor=self._descriptor, within=self._within
        )

    def chunks(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """Give the decompressed stream in pieces; a broken file ends it and sets `broken`."""
        with self.opened() as file:
            file.seek(self.start.offset)
            first = file.read(size)
            packing = "" if self.start.offset else packing_of(first)
            blocks = _blocks(first, file.read, size, self.advance)
            try:
                for chunk in unpacked(packing, blocks) if packing else blocks:
                    self.text_bytes += len(chunk)
                    yield chunk
            except DamagedError as error:
                self.cut = not isinstance(error, FollowedError)
                self.broken = DamagedLogError(
                    f"{self.source}: the {packing} stream is {error} after {self.text_bytes:,} bytes of text",
                    source=self.source,
                    whole=not self.cut,
                    hint="copy or compress the file again",
                )

    @contextmanager
    def raw_lines(self) -> Iterator[Iterable[bytes]]:
        """Give every line with its newline, cut if it is too long; an unfinished one before a break is dropped."""
        opened = self._opened()
        with io.BufferedReader(BoundedLines(opened), CHUNK_BYTES) as stream:
            # Of most files every line counts: these come straight from the buffer, without a step of Python each.
            plain = isinstance(opened, _Plain) and not self.whole_lines
            yield stream if plain else self._finished(stream)

    def _finished(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        for raw in lines:
            if raw[-1] == _NEWLINE:
                yield raw
                continue
            if not (self.cut or self.whole_lines):
                yield raw
            return  # its rest may be written before the next line is asked for, and would be taken for a line

    def _opened(self) -> io.RawIOBase:
        plain = _Plain(self, self.path if self._descriptor is None else os.dup(self._descriptor))
        if self.start.offset or not packing_of(plain.peek()):
            return plain
        plain.close()
        return _Pieces(self.chunks())

    def advance(self, size: int) -> None:
        """Count bytes that were read from disk."""
        if self._advance:
            self._advance(size)

    def lines(self, tally: ReadTally | None = None) -> Iterator[LogLine]:
        """Give every line without its line end; a byte order mark is passed over.

        Of a log that holds values each counts as a line.
        A line that is too large for a record is passed over, and counted in the tally as malformed.
        """
        if self.store:
            for row in self.store.rows(self._within):
                self.text_bytes += len(row.raw)
                yield LogLine(*row)
        elif self.holds_values:
            yield from self._values(tally)
        else:
            yield from self._stream_lines(tally)

    def _stream_lines(self, tally: ReadTally | None) -> Iterator[LogLine]:
        start, number = self.start
        with self.raw_lines() as lines:
            for raw in lines:
                number += 1
                if len(raw) > LONG_LINE_BYTES and not self._fits(raw, number, start, tally):
                    start += len(raw) + missing_bytes(raw)
                    continue
                body, skipped = raw.removesuffix(b"\n").removesuffix(b"\r"), 0
                if number == 1 and body.startswith(BOM):
                    body, skipped = body[len(BOM) :], len(BOM)
                yield LogLine(body, start + skipped, number)
                start += len(raw)
        self.reached = LogPosition(start, number)

    def _values(self, tally: ReadTally | None) -> Iterator[LogLine]:
        """Give every value of a log that holds them, and the line that it begins on."""
        text, number, last = self.whole(), 1, 0
        for start, end in value_ranges(text):
            number += text.count(b"\n", last, start)
            last = start
            raw = text[start:end]
            if len(raw) <= LONG_LINE_BYTES or self._fits(raw, number, start, tally):
                yield LogLine(raw, start, number)
        self.reached = LogPosition(len(text), text.count(b"\n"))

    def _fits(self, raw: bytes, number: int, start: int, tally: ReadTally | None) -> bool:
        try:
            fit(raw)
        except DecodeError as error:
            if tally is not None:
                tally.records += 1
                tally.malformed.append(Malformed(self.source, number, start, str(error)))
            return False
        return True

    def whole(self) -> bytes:
        """Give the whole decompressed stream; raises UnreadableLogError if it is broken or too large."""
        held = io.BytesIO()  # which gives out what it holds without a copy
        for chunk in self.chunks():
            if held.tell() + len(chunk) > WHOLE_LIMIT_BYTES:
                raise UnreadableLogError(
                    f"{self.source}: one JSON document of more than {WHOLE_LIMIT_BYTES >> 20} MiB",
                    hint="write one record a line (JSONL): such files are read at any size",
                )
            held.write(chunk)
        if self.broken and self.cut:
            raise DamagedLogError(
                f"{self.broken.message}: of one JSON document no part counts",
                source=self.source,
                hint=self.broken.hint,
            )
        return held.getvalue()


class _Plain(io.FileIO):
    """A file that is not compressed, read straight into the buffer that lines are cut from."""

    def __init__(self, log: LogFile, file: Path | int) -> None:
        super().__init__(file)
        self._log = log
        self.seek(log.start.offset)

    def peek(self) -> bytes:
        """Give the first bytes of the file."""
        return os.pread(self.fileno(), MAGIC_BYTES, 0)

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]  # io gives nothing else
        """Fill the buffer, and count what came."""
        size = super().readinto(buffer) or 0
        self._log.text_bytes += size
        self._log.advance(size)
        return size


class _Pieces(io.RawIOBase):
    """Pieces of a decompressed stream as a file, so that lines are cut in C."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Tell that it can be read."""
        return True

    def readinto(self, buffer: memoryview, /) -> int:  # type: ignore[override]  # io gives nothing else
        """Fill the buffer with what is left of a piece, or with the next one."""
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        size = min(len(buffer), len(self._rest))
        buffer[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size


def _blocks(
    first: bytes, read: Callable[[int], bytes], size: int, advance: Callable[[int], None]
) -> Iterator[bytes]:
    block = first
    while block:
        advance(len(block))
        yield block
        block = read(size)
