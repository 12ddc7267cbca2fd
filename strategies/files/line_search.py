"""Lines that match any of many patterns, found in blocks of whole lines at the speed of the disk.

All patterns are one automaton: google-re2, or hyperscan where the extra is installed. Both find the same lines.
Patterns are of the dialect that both know: no look-around, on bytes, never across a line's end; `^` and `$`
are those of a line, as for grep.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import re2

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.files.log_file import LogFile

_MEMORY_BYTES: Final = 64 * 1024 * 1024
"""What the automaton may take: with RE2's default of 8 MiB it is dropped and rebuilt during the search."""

BLOCK_BYTES: Final = 256 * 1024
"""Bytes searched at once: they stay in the second cache between reading, searching and counting (measured:
480 MB/s without a match, against 405 with 1 MiB and 455 with 32 KiB)."""

LINE_LIMIT_BYTES: Final = 1024 * 1024
"""How much of one line is searched: more is a dump, which says first what it is (guess)."""

Place = tuple[int, int]
"""The place of a line in its block, without its newline."""


class LineBlock(NamedTuple):
    """Whole lines of a log, and where they start in the decompressed stream.

    One that is not `finished` is what follows the last newline: perhaps half a line.
    """

    raw: bytes
    byte_start: int
    finished: bool = True

    def part(self, start: int, end: int) -> LineBlock:
        """Give some lines of it."""
        return LineBlock(self.raw[start:end], self.byte_start + start)


class Finder(Protocol):
    """Finds matching lines."""

    def lines(self, block: bytes) -> Iterator[Place]:
        """Yield every matching line of a block of whole lines once, in order."""
        ...


def blocks(log: LogFile) -> Iterator[LineBlock]:
    """Give the decompressed stream in blocks of whole lines; an unfinished line before a break is dropped.

    A block ends in the middle of a line only where the log does, or where a line is longer than LINE_LIMIT_BYTES:
    such a line is a block of its own, up to there, and the next block, perhaps an empty one, begins behind it.
    """
    start, held, size, behind = log.start.offset, list[bytes](), 0, False
    for chunk in _pieces(log):
        piece, first = chunk, chunk.find(b"\n")
        within = size + (first if first >= 0 else len(chunk))
        if within > LINE_LIMIT_BYTES:
            if size <= LINE_LIMIT_BYTES:
                held = [b"".join((*held, chunk))[:LINE_LIMIT_BYTES]]
            if first < 0:
                size = within
                continue
            yield LineBlock(held[0], start)
            start, held, size, behind = start + within + 1, [], 0, True
            piece = chunk[first + 1 :]
        cut = piece.rfind(b"\n") + 1
        if not cut:
            held, size = [*held, piece], size + len(piece)
            continue
        raw = b"".join((*held, memoryview(piece)[:cut]))
        yield LineBlock(raw, start)
        start, held, size, behind = start + len(raw), [piece[cut:]], len(piece) - cut, False
    last = b"".join(held)
    if last and not log.broken and not log.whole_lines:
        yield LineBlock(last, start, finished=False)
        start, behind = start + size, size > len(last)
    if behind:
        yield LineBlock(b"", start, finished=False)


def line_in(raw: bytes, start: int, end: int) -> bytes:
    """Give a line, from its start to its newline, as it counts: up to LINE_LIMIT_BYTES, without its line end.

    Every line passes here, each time it is read: so all readings see the same.
    """
    return raw[start : min(end, start + LINE_LIMIT_BYTES)].removesuffix(b"\r")


def _pieces(log: LogFile) -> Iterator[bytes]:
    """Give the stream in pieces of a block at most: of what is packed densely, more comes at once."""
    for chunk in log.chunks(BLOCK_BYTES):
        if len(chunk) <= BLOCK_BYTES:
            yield chunk
        else:
            yield from (chunk[at : at + BLOCK_BYTES] for at in range(0, len(chunk), BLOCK_BYTES))


@lru_cache(maxsize=8)
def finder_of(patterns: tuple[str, ...]) -> Finder:
    """Give the fastest finder that is installed; raises re2.error for a pattern that is none."""
    plain = Re2Finder(patterns)
    try:
        return HyperscanFinder(patterns)
    except UnusableError:
        return plain


def _options() -> re2.Options:
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.max_mem = _MEMORY_BYTES
    options.never_capture = True
    options.never_nl = True
    options.log_errors = False
    return options


@lru_cache(maxsize=8)
def which_of(patterns: tuple[str, ...]) -> Which:
    """Give what tells patterns apart on a line."""
    return Which(patterns)


class UnusableError(Exception):
    """Hyperscan is not installed, or does not know a pattern: google-re2 takes its place."""


class Re2Finder:
    """Finds lines with google-re2: after a match the search goes on behind the end of its line."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        options = _options()
        for pattern in patterns:
            re2.compile(pattern.encode(), options)
        joined = "|".join(f"({pattern})" for pattern in patterns)
        self._search = re2.compile(f"(?m){joined}".encode(), options)

    def lines(self, block: bytes) -> Iterator[Place]:
        """Yield every matching line of a block once, in order."""
        # The wrapper around this call makes objects that cost more than the search where many lines match.
        match, anchor = self._search._regexp.Match, re2._Anchor.UNANCHORED  # noqa: SLF001 - see above
        place, size = 0, len(block)
        while place < size:
            start, end = match(anchor, block, place, size)[0]
            if end < 0:
                return
            place = block.find(b"\n", end)
            place = place if place >= 0 else size
            yield block.rfind(b"\n", 0, start) + 1, place
            place += 1


class Which:
    """Tells which patterns a line matches."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        self._set = re2.Set.SearchSet(_options())
        for pattern in patterns:
            self._set.Add(pattern.encode())
        self._set.Compile()

    def of(self, line: bytes) -> list[int]:
        """Give the numbers of the patterns, in no order."""
        return self._set.Match(line) or []


class HyperscanFinder:
    """Finds lines with hyperscan, which reports the end of every match of every pattern."""

    def __init__(self, patterns: tuple[str, ...]) -> None:
        try:
            import hyperscan  # noqa: PLC0415 - an extra: only who installed it pays for loading it
        except ImportError as error:
            raise UnusableError from error
        self._base = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
        try:
            self._base.compile(
                expressions=[pattern.encode() for pattern in patterns],
                flags=[hyperscan.HS_FLAG_MULTILINE] * len(patterns),
            )
        except hyperscan.HyperscanError as error:
            raise UnusableError from error

    def lines(self, block: bytes) -> Iterator[Place]:
        """Yield every matching line of a block once, in order."""
        ends: list[int] = []
        add = ends.append

        def matched(_pattern: int, _start: int, end: int, _flags: int, _context: object) -> None:
            add(end)

        self._base.scan(block, match_event_handler=matched)
        passed = 0
        for end in ends:
            if end > passed:
                start = block.rfind(b"\n", 0, end) + 1
                passed = block.find(b"\n", end)
                passed = passed if passed >= 0 else len(block)
                yield start, passed
