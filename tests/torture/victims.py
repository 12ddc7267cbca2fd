"""Processes that are there to be killed: each acknowledges on its standard output what it has finished."""

from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from events.sqlite.backup import back_up, restore
from events.sqlite.log import SqliteLog
from registry.registry import Registry
from tests.clocks import TickingClock
from tests.contract.drafts import Pen
from tests.contract.log_writers import project
from tests.registries import learn
from tui.session.open_registry import open_log, place_of

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH = 3
_FEW_PAGES = 4
"""Pages of the database's log after which it is written back: nearly every append then does it."""


def acknowledge(what: object) -> None:
    """Say that something is finished, at once."""
    os.write(1, f"{what}\n".encode())


def append(where: str, life: str, *, checkpoint_pages: int = 0) -> None:
    """Append batches of three to two streams, each with its documents."""
    pen = Pen(f"life{life}")
    with closing(open_log(place_of(where))) as log:
        if checkpoint_pages:
            assert isinstance(log, SqliteLog)
            log._session.rows(f"PRAGMA wal_autocheckpoint = {checkpoint_pages}")
        while True:
            batch = [*pen.drafts(BATCH - 1, "gene:shared"), pen.draft("registry")]
            log.append(batch, expected=log.stream_versions(["gene:shared", "registry"]), project=project)
            acknowledge(batch[-1].event_id)


def write_back(where: str, life: str) -> None:
    """Append likewise, with the log of the database written back all the time."""
    append(where, life, checkpoint_pages=_FEW_PAGES)


def learn_lines(where: str, life: str) -> None:
    """Let a skill learn one line after the other, projecting each version to its SKILL.md."""
    with closing(open_log(place_of(where))) as log:
        registry = Registry(log, TickingClock(seed=10 + int(life)), "person:ada")
        for turn in range(10_000):
            capsule = learn(registry, f"Line {life}.{turn}.\n", candidate=f"c{life}-{turn}", claims=())
            acknowledge(capsule.version)


def copy_out(where: str, life: str) -> None:
    """Back a registry up, over the backup before."""
    del life
    path = Path(where)
    while True:
        back_up(path, path.with_name("backup.db"))
        acknowledge("copied")


def put_back(where: str, life: str) -> None:
    """Restore a registry over itself, again and again."""
    path, turn = Path(where), 0
    while True:
        turn += 1
        backup = path.with_name("backup.db")
        with closing(SqliteLog.open(path, read_only=True)) as log:
            head = log.head()
        restore(backup, path, aside=path.parent / f"aside-{life}-{turn}", over=head)
        acknowledge("restored")


def begin(words: Sequence[str]) -> None:
    """Be the victim that the first word names, at a place, in a life."""
    what, where, life = words
    {victim.__name__: victim for victim in (append, write_back, learn_lines, copy_out, put_back)}[what](
        where, life
    )
