"""Whose turn it is to write: one advisory lock a registry, held to the end of a transaction."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeVar

from events.clock import pause

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

_PAUSES_S: Final = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064)
"""Between tries for the lock, before we queue for it.

The server's queue is fair, and so hands the lock to another process at every append: four wake-ups each, in which
nobody writes. The process that holds it goes on meanwhile, as on SQLite; one that failed often
enough waits in the queue, and nobody comes before it."""


class Lock:
    """Takes the lock by an expression of SQL that is true once it is had."""

    def __init__(self, registry: str) -> None:
        self.key = int.from_bytes(sha256(f"germline {registry}".encode()).digest()[:8], signed=True)
        self.at_once = f"pg_try_advisory_xact_lock({self.key})"
        self._wait = f"pg_advisory_xact_lock({self.key})::text = ''"
        # Two registries that share a key by chance only wait for each other.

    def taken(self, attempt: Callable[[str], T | None]) -> T:
        """Make attempts with the expression until one succeeds; the last waits as long as lock_timeout lets it."""
        for about_s in _PAUSES_S:
            if (done := attempt(self.at_once)) is not None:
                return done
            pause(about_s)
        done = attempt(self._wait)
        assert done is not None  # noqa: S101 - waiting ends with the lock, or raises
        return done
