"""Keys: what a record keeps in the place of a text, so that equal texts are known without keeping them."""

from __future__ import annotations

from typing import Final

from xxhash import xxh3_128_digest

KEY_BYTES: Final = 16
"""128 bits: no two of 10^12 keys meet by chance."""


def bytes_key(raw: bytes | str) -> bytes:
    """Hash a text, b"" for none.

    XXH3 takes a twentieth of the time of SHA-256, and no two texts meet by chance. It does not stop a writer who
    wants two texts to be one; who writes the log can as well write the same text twice.
    """
    if isinstance(raw, str):
        raw = raw.encode("utf-8", "surrogatepass")
    return xxh3_128_digest(raw) if raw else b""
