"""A log file as a stream of decompressed bytes: its head, its lines, or the whole of it."""

from __future__ import annotations

import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from events.errors import UnreadableLogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

HEAD_BYTES: Final = 64 * 1024
"""How much of the decompressed stream a reader sees when it is asked whether a file is meant for it."""

CHUNK_BYTES: Final = 1024 * 1024
"""Bytes read from disk at once: above 1 MiB the rate no longer rises (logs_and_signals.md)."""

WHOLE_LIMIT_BYTES: Final = 256 * 1024 * 1024
"""The largest JSON document that is not line-delimited and still read: all of it stands in memory."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One line without its newline, where it starts in the decompressed stream, and its number from 1."""

    raw: bytes
    byte_start: int
    number: int


class LogFile:
    """One plain or gzipped log file.

    `broken` is set once a pass over the stream ends before the file does: what came before was given out.
    `text_bytes` counts what was given out so far. `advance` is called with the number of bytes read from disk,
    for a progress bar.
    """

    def __init__(self, path: Path, advance: Callable[[int], None] | None = None) -> None:
        self.path = path
        self.source = str(path)
        self.broken: UnreadableLogError | None = None
        self.text_bytes = 0
        self._advance = advance

    @property
    def stem(self) -> str:
        """The file name without `.gz` and the suffix before it."""
        name = self.path.name
        return Path(name.removesuffix(".gz")).stem

    def head(self) -> bytes:
        """Give the first bytes of the decompressed stream, fewer where the file is shorter or broken."""
        head = b""
        for chunk in LogFile(self.path).chunks(HEAD_BYTES):
            head += chunk
            if len(head) >= HEAD_BYTES:
                break
        return head[:HEAD_BYTES]

    def chunks(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """Give the decompressed stream in pieces; a broken file ends it and sets `broken`."""
        with self.path.open("rb", buffering=0) as file:
            raw = file.read(size)
            blocks = _blocks(raw, file.read, size, self._advance)
            for chunk in self._gunzip(blocks) if raw.startswith(_GZIP_MAGIC) else blocks:
                self.text_bytes += len(chunk)
                yield chunk

    def lines(self) -> Iterator[Line]:
        """Give every line; an unfinished line before a break is dropped, a byte order mark is passed over."""
        start, number, held = 0, 0, list[bytes]()
        for chunk in self.chunks():
            first, *others = chunk.split(b"\n")
            held.append(first)
            for part in others:
                line = b"".join(held)
                number += 1
                yield _line(line, start, number)
                start += len(line) + 1
                held = [part]
        last = b"".join(held)
        if last and not self.broken:
            yield _line(last, start, number + 1)

    def whole(self) -> bytes:
        """Give the whole decompressed stream; raises UnreadableLogError if it is broken or too large."""
        pieces, size = list[bytes](), 0
        for chunk in self.chunks():
            size += len(chunk)
            if size > WHOLE_LIMIT_BYTES:
                raise UnreadableLogError(
                    f"{self.source}: one JSON document of more than {WHOLE_LIMIT_BYTES >> 20} MiB",
                    hint="write one record a line (JSONL): such files are read at any size",
                )
            pieces.append(chunk)
        if self.broken:
            raise self.broken
        return b"".join(pieces)

    def _gunzip(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        # zlib rather than gzip.open: on a truncated file the latter drops the bytes that it had already
        # unpacked. A file may hold several members, one after the other; zeros after the last are padding.
        member, given = zlib.decompressobj(wbits=31), 0
        for block in blocks:
            rest = block
            while rest:
                if member.eof:
                    rest = rest.lstrip(b"\0")
                    if not rest:
                        break
                    member = zlib.decompressobj(wbits=31)
                try:
                    piece = member.decompress(rest, CHUNK_BYTES)
                except zlib.error as error:
                    self.broken = self._damage(f"damaged ({error})", given)
                    return
                rest = member.unused_data if member.eof else member.unconsumed_tail
                given += len(piece)
                if piece:
                    yield piece
        tail = b"" if member.eof else member.flush()
        if tail:
            given += len(tail)
            yield tail
        if not member.eof:
            self.broken = self._damage("cut off", given)

    def _damage(self, what: str, given: int) -> UnreadableLogError:
        return UnreadableLogError(
            f"{self.source}: the gzip stream is {what} after {given:,} bytes of text",
            hint="copy or compress the file again; what came before the break was read",
        )


def _blocks(
    first: bytes, read: Callable[[int], bytes], size: int, advance: Callable[[int], None] | None
) -> Iterator[bytes]:
    block = first
    while block:
        if advance:
            advance(len(block))
        yield block
        block = read(size)


def _line(raw: bytes, start: int, number: int) -> Line:
    if number == 1 and raw.startswith(_BOM):
        raw, start = raw[len(_BOM) :], start + len(_BOM)
    return Line(raw.removesuffix(b"\r"), start, number)
