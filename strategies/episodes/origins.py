"""Origins: who an episode comes from, so that many episodes of one writer count as one voice (F4).

Of a person's own logs a file of many episodes is an origin, and the small files of a folder (a session each) are
one. Of logs of others it is the user who owns them, else their folder: who forges logs has any number of files.
"""

from __future__ import annotations

from collections import Counter
from functools import lru_cache
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from strategies.episodes.episode_records import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from strategies.episodes.episode import EpisodeRecord

MANY: Final = 10
"""Episodes from which a file of one's own is an origin by itself, and no session of a folder (a guess)."""

_SOURCE: Final = attrgetter("source")


def origins_of(records: Iterable[EpisodeRecord]) -> Callable[[EpisodeRecord], str]:
    """Tell how to name the origin of any of these episodes."""
    sizes = Counter(map(_SOURCE, records))

    def origin(record: EpisodeRecord) -> str:
        if record.trust == "mine" and sizes[record.source] >= MANY:
            return record.source
        return f"{record.owner}:" if record.owner else _folder(record.source)

    return origin


def origin_of_other(record: EpisodeRecord) -> str:
    """Name the origin of an episode whose log is not one's own, "" for one's own."""
    if record.trust == "mine":
        return ""
    return f"{record.owner}:" if record.owner else _folder(record.source)


@lru_cache(maxsize=4096)
def short_name(origin: str) -> str:
    """Give an origin as people read it: the end of its path, or the user; no secret, one short line."""
    return plain("/".join(origin.rstrip("/").split("/")[-2:]).removesuffix(":") or "an unnamed log")


@lru_cache(maxsize=4096)
def _folder(source: str) -> str:
    return f"{source.rpartition('/')[0]}/"
