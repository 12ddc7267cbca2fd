"""Compressed logs as streams: gzip and zstd, several members or frames one after the other, never held whole."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final, Protocol

import zstandard

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SUFFIXES: Final = (".gz", ".zst")
"""What a compressed log's name may end in; the first bytes decide."""

_MAGIC: Final = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}

MAGIC_BYTES: Final = 4
"""How many of the first bytes tell a compression."""

_GZIP_BEGINNINGS: Final = (b"\x1f\x8b", b"\x1f")
"""How a further member begins; its second byte may come with the next block."""

_PIECE_BYTES: Final = 1024 * 1024
"""How much gzip unpacks at once."""

_ZSTD_INPUT_BYTES: Final = 2048
"""How much is given to zstd at once: at its densest that unpacks to 64 MiB, of text to some tens of KiB."""


class DamagedError(Exception):
    """A compressed stream that ends early, or makes no sense: the text says which."""


class FollowedError(DamagedError):
    """A compressed stream that is whole, and followed by bytes that are none of it."""

    def __init__(self) -> None:
        super().__init__("followed by other bytes")


class _Member(Protocol):
    """What zlib's and zstandard's decompression objects have in common."""

    @property
    def eof(self) -> bool:
        """Whether the member is whole."""
        ...

    @property
    def unused_data(self) -> bytes:
        """What was given beyond the end of the member."""
        ...


def packing_of(first: bytes) -> str:
    """Name the compression of a file by its first bytes, "" for none."""
    return next((name for magic, name in _MAGIC.items() if first.startswith(magic)), "")


def unpacked(packing: str, blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Give the decompressed stream in pieces; raises DamagedError after what could be read."""
    return _gunzipped(blocks) if packing == "gzip" else _unzstd(blocks)


def compress(whole: bytes) -> bytes:
    """Compress what is to be sent, at the least effort."""
    return zstandard.ZstdCompressor(level=1).compress(whole)


def decompress(sent: bytes) -> bytes:
    """Undo `compress`."""
    return zstandard.ZstdDecompressor().decompress(sent)


def _gunzipped(blocks: Iterator[bytes]) -> Iterator[bytes]:
    # zlib rather than gzip.open: on a truncated file the latter drops the bytes that it had already unpacked.
    member = zlib.decompressobj(wbits=31)
    for block in blocks:
        rest = block
        while rest:
            if member.eof:
                rest = rest.lstrip(b"\0")  # zeros after the last member are padding
                if not rest:
                    break
                if rest[:2] not in _GZIP_BEGINNINGS:
                    raise FollowedError
                member = zlib.decompressobj(wbits=31)
            try:
                piece = member.decompress(rest, _PIECE_BYTES)
            except zlib.error as error:
                raise DamagedError(f"damaged ({error})") from error
            rest = member.unused_data if member.eof else member.unconsumed_tail
            if piece:
                yield piece
    if tail := b"" if member.eof else member.flush():
        yield tail
    _require_end(member)


def _unzstd(blocks: Iterator[bytes]) -> Iterator[bytes]:
    opener = zstandard.ZstdDecompressor()
    frame, first, given_out = opener.decompressobj(), True, False
    for block in blocks:
        for given in _slices(block):
            rest = given
            while rest:
                if frame.eof:
                    frame, first, given_out = opener.decompressobj(), False, False
                try:
                    piece = frame.decompress(rest)
                except zstandard.ZstdError as error:
                    if not first and not given_out:
                        raise FollowedError from error
                    raise DamagedError(f"damaged ({error})") from error
                rest = frame.unused_data if frame.eof else b""
                if piece:
                    given_out = True
                    yield piece
    _require_end(frame)


def _slices(block: bytes) -> Iterable[bytes]:
    return (block[start : start + _ZSTD_INPUT_BYTES] for start in range(0, len(block), _ZSTD_INPUT_BYTES))


def _require_end(member: _Member) -> None:
    if not member.eof:
        raise DamagedError("cut off")
