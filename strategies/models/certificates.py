"""The certificates of the machine, by which a model server shows that it is the one: read once."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


@cache
def certificates() -> ssl.SSLContext:
    """Read the certificates that this machine trusts: 30 ms, which every client would take again."""
    import httpx2  # noqa: PLC0415 - comes with anthropic; only where a model is asked

    return httpx2.create_ssl_context()
