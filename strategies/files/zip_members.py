"""Members of a ZIP archive, each read from its own header on: the place of evidence in a packed log."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

from strategies.files.compression import DamagedError, unpacked
from strategies.files.log_file import WHOLE_LIMIT_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

MEMBER: Final = b"PK\x03\x04"
"""What every member begins with."""

HEADER_BYTES: Final = 30
"""The fixed part of what comes before a member: two lengths at its end, then its name and its extra field."""

_METHOD: Final = slice(8, 10)
_STORED, _DEFLATED, _ZSTD = 0, 8, 93


def begins_after(member: bytes) -> int:
    """Give how many bytes of a member come before what is packed."""
    lengths = member[HEADER_BYTES - 4 : HEADER_BYTES]
    return HEADER_BYTES + int.from_bytes(lengths[:2], "little") + int.from_bytes(lengths[2:], "little")


def member_body(member: bytes) -> bytes | None:
    """Unpack a member, given whole; None where it is damaged, too large, or packed in a way that is not known."""
    packed, method = member[begins_after(member) :], int.from_bytes(member[_METHOD], "little")
    if method == _STORED:
        return packed
    try:
        if method == _DEFLATED:
            inflating = zlib.decompressobj(-zlib.MAX_WBITS)
            body = inflating.decompress(packed, WHOLE_LIMIT_BYTES)
            return body if inflating.eof else None
        return _joined(unpacked("zstd", iter([packed]))) if method == _ZSTD else None
    except (zlib.error, DamagedError):
        return None


def _joined(pieces: Iterator[bytes]) -> bytes | None:
    body = bytearray()
    for piece in pieces:
        body += piece
        if len(body) > WHOLE_LIMIT_BYTES:
            return None
    return bytes(body)
