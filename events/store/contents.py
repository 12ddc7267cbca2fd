"""Rows as every backend stores them: their names and kinds, the hash of their content, events in order."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Final

from events.errors import CorruptLogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from events.store.protocol import StoredEpisode

UNKNOWN: Final = "unknown"
"""The kind of a blob whose own was lost to damage (events.sqlite.salvage)."""

BLOB_KINDS: Final = frozenset(
    {
        "audit",
        "comparison",
        "evidence",
        "file",
        "prompt",
        "reply",
        "review",
        "run",
        "run scores",
        "transcript",
        UNKNOWN,
    }
)
"""All that a blob may be kept as. No hash covers the kind, and erasing goes by it: `verify` names any other."""

_HASHES_PAGE: Final = 8_192
"""Hashes read at once: some 2 MB of rows."""
_DIGEST_BYTES: Final = 32
_HEX: Final = re.compile(r"[0-9A-Fa-f]{64}")


def blob_name(body: bytes, *, kind: str) -> str:
    """Name a blob by its content: SHA-256, hex.

    Raises: ValueError for a kind that is not in BLOB_KINDS, which is a mistake of the program's.
    """
    if kind not in BLOB_KINDS:
        raise ValueError(f"{kind!r} is no kind of blob; add it to BLOB_KINDS")
    return hashlib.sha256(body).hexdigest()


def whole_blob(name: str, body: bytes) -> bytes:
    """Return the bytes kept under a hash; raises CorruptLogError for any others."""
    if hashlib.sha256(body).hexdigest() != name:
        raise CorruptLogError(f"blob {name} does not hold what its name says", hint="germline verify")
    return body


def episode_row(episode: StoredEpisode) -> tuple[str, str, bytes, str]:
    """Give an episode as the columns of its table."""
    return (
        episode.episode,
        episode.source,
        episode.body,
        content_hash(episode.episode, episode.source, body=episode.body),
    )


def content_hash(*keys: str, body: bytes) -> str:
    """Hash a row of a source table: SHA-256 over its keys, each ended by 0x1F, and its body."""
    return hashlib.sha256(b"".join([*(key.encode() + b"\x1f" for key in keys), body])).hexdigest()


def hashes_in_order(page_behind: Callable[[int, int], list[tuple[int, str]]], *, after: int) -> Iterator[bytes]:
    """Yield the hashes of events as digests, in the order of positions, as `EventLog.hashes` promises.

    Shapes: page_behind takes a position and a size, and returns at most so many (position, hash) behind it.
    """
    reached = after
    while page := page_behind(reached, _HASHES_PAGE):
        if page[-1][0] != reached + len(page):
            missing = next(due for due, (there, _) in enumerate(page, reached + 1) if due != there)
            raise CorruptLogError(f"event {missing} is missing", position=missing, hint="germline verify")
        yield from _digests(page)
        reached += len(page)


def _digests(page: list[tuple[int, str]]) -> list[bytes]:
    """Read hashes as digests."""
    try:
        digests = [bytes.fromhex(text) for _, text in page]
    except (TypeError, ValueError):
        digests = []
    if {len(digest) for digest in digests} != {_DIGEST_BYTES}:
        wrong = next(position for position, text in page if not _HEX.fullmatch(str(text)))
        raise CorruptLogError(f"event {wrong} has no hash", position=wrong, hint="germline verify")
    return digests
