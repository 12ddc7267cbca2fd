"""Writers that run as processes of their own: contended, and killed."""

from __future__ import annotations

import multiprocessing
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from events.sqlite.log import SqliteLog
from events.store.protocol import StoredDocument
from tests.contract.drafts import Pen, put

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.store.envelope import Envelope


FORKS: Final = multiprocessing.get_context("forkserver")
"""Where writers are forked; what they need is imported once, not once a process."""
FORKS.set_forkserver_preload([__name__])


def project(envelopes: Sequence[Envelope]) -> list[StoredDocument]:
    """Keep one document an event: a torn projection would lack one."""
    return [StoredDocument("seen", e.event_id, e.position, e.hash.encode()) for e in envelopes]


def make_registry(path: Path) -> None:
    """Make a registry, or open the one that is there."""
    SqliteLog.open(path, create=True).close()


def append_many(path: Path, name: str, count: int) -> None:
    """Append to a stream of its own and to one that all writers share, in turn."""
    pen = Pen(name)
    with closing(SqliteLog.open(path)) as log:
        for turn in range(count):
            if turn % 2:
                with log.transaction():  # read, then write, under one lock
                    put(log, pen.draft("registry"))
            else:
                log.append([pen.draft(f"gene:{name}")], expected={f"gene:{name}": turn // 2})


def append_for_ever(words: Sequence[str]) -> None:
    """Append batches of three at a place, under a name, until killed, and say the last id of each that is kept."""
    place, name = words
    pen = Pen(name)
    with closing(SqliteLog.open(Path(place))) as log:
        while True:
            batch = pen.drafts(3, f"gene:{name}")
            log.append(batch, expected=log.stream_versions([f"gene:{name}"]), project=project)
            print(batch[-1].event_id, flush=True)  # noqa: T201 - how the test hears of it
