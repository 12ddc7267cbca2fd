"""kill -9, again and again, at any moment of an append, a projection, a copy or a restore.

A killed process leaves the pages it wrote to the system: what this shows is that no moment between two of our
writes is a bad one. That a power cut loses nothing rests on `synchronous = FULL`, which another test asks for.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import closing
from time import sleep
from typing import TYPE_CHECKING

from events.sqlite.log import SqliteLog
from events.sqlite.verify import verify_file
from registry.actions.publish import standing
from registry.projection.projector import rebuild
from tests.clocks import TickingClock
from tests.contract.drafts import Pen, put
from tests.contract.log_writers import project
from tests.forked import ForkedCommand
from tests.registries import NAME, VIEWS, imported, new_registry
from tests.torture.outcome import Outcome
from tests.torture.victims import BATCH
from tui.session.open_registry import open_registry

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from random import Random

    from events.store.sql_log import EventLog


def killed(
    chance: Random,
    what: str,
    where: str,
    life: int,
    *,
    most: int,
    strike: Callable[[], object] | None = None,
) -> list[str]:
    """Fork a victim, kill it after some acknowledgements and a moment more; returns what it acknowledged.

    `strike` is done first: what else is to break while the victim is at work.
    """
    with ForkedCommand([what, where, str(life)], called="tests.torture.victims:begin") as victim:
        heard = [victim.stdout.readline() for _ in range(chance.randint(1, most))]
        sleep(chance.random() * 0.004)  # an append takes some 0.2 to 4 ms: anywhere within the next one or two
        if strike:
            strike()
        victim.kill()
        heard += victim.stdout.readlines()
        if strike is None:  # its complaint is expected then
            sys.stderr.write(victim.stderr.read())
    return [line.strip() for line in heard if line.endswith("\n")]


def kill_while_appending(chance: Random, folder: Path, kills: int, *, what: str = "append") -> Outcome:
    """Count what was acknowledged, lost, doubled and torn over many kills of a process that appends."""
    path = folder / "registry.db"
    outcome = Outcome({"append": "kill while appending", "write_back": "kill in WAL checkpoint"}[what])
    SqliteLog.open(path, create=True).close()
    acknowledged: list[str] = []
    for life in range(kills):
        heard = killed(chance, what, str(path), life, most=12)
        outcome.expect(heard, f"life {life} acknowledged nothing")
        acknowledged += heard
    outcome.add("kills", kills)
    with closing(SqliteLog.open(path)) as log:
        account(outcome, log, acknowledged)
    return outcome


def account(outcome: Outcome, log: EventLog, acknowledged: list[str]) -> None:
    """Compare what is there with what was acknowledged, and the documents with the events."""
    events = list(log.read())
    ids = [envelope.event_id for envelope in events]
    stored = {(document.view, document.key, document.seq): document.body for document in log.documents("seen")}
    wanted = {(document.view, document.key, document.seq): document.body for document in project(events)}
    outcome.figures |= {
        "acknowledged": len(acknowledged) * BATCH,
        "lost": len(set(acknowledged) - set(ids)),
        "torn projections": len(stored.items() ^ wanted.items()),
        "duplicates": len(ids) - len(set(ids)),
    }
    outcome.expect(len(events) % BATCH == 0, "a batch is there in part")
    outcome.expect(
        [envelope.position for envelope in events] == list(range(1, len(events) + 1)), "positions have a gap"
    )
    outcome.expect(not log.verify().problems, f"it does not verify: {log.verify().problems[:2]}")
    for name in ("lost", "torn projections", "duplicates"):
        outcome.expect(not outcome.figures[name], f"{outcome.figures[name]} {name}")


def kill_while_projecting(chance: Random, folder: Path, kills: int) -> Outcome:
    """Kill a process that promotes lines and writes SKILL.md: the file is of one version, the next start mends."""
    path, outcome = folder / "registry.db", Outcome("kill while projecting")
    registry = new_registry(folder, TickingClock())
    imported(registry, folder)
    registry.log.close()
    versions = 0
    for life in range(kills):
        heard = killed(chance, "learn_lines", str(path), life, most=4)
        with open_registry(path, is_own=True) as registry:
            live = registry.capsule(NAME).version
            last = int(heard[-1]) if heard else versions
            outcome.expect(live >= last, f"version {last} was acknowledged, {live} is there")
            if standing(registry, NAME) != "projected":
                outcome.add("torn SKILL.md")
            outcome.add("torn projections", differs_from_rebuild(registry.log))
        versions = live
    outcome.figures = {"kills": kills, "versions": versions, "torn SKILL.md": 0, **outcome.figures}
    for name in ("torn SKILL.md", "torn projections"):
        outcome.expect(not outcome.figures[name], f"{outcome.figures[name]} {name}")
    outcome.expect(not verify_file(str(path)).problems, "it does not verify")
    return outcome


def kill_while_copying(chance: Random, folder: Path, kills: int) -> Outcome:
    """Kill `backup` and `restore`: the backup is whole or absent, the registry is always there."""
    path, outcome = folder / "registry.db", Outcome("kill in backup, restore")
    with closing(SqliteLog.open(path, create=True)) as log:
        put(log, *Pen().drafts(400))
        head = log.head()
    for life in range(kills):
        restoring = life % 2 == 1
        killed(chance, "put_back" if restoring else "copy_out", str(path), life, most=3)
        outcome.add("kills of restore" if restoring else "kills of backup")
        outcome.expect(not verify_file(str(path.with_name("backup.db"))).problems, "the backup does not verify")
        outcome.expect(path.exists(), "there was a moment without a registry")
        integrity = verify_file(str(path))
        outcome.expect(
            not integrity.problems and integrity.head == head, f"the registry does not hold: {integrity}"
        )
        for aside in folder.glob("aside-*"):
            shutil.rmtree(aside)
    return outcome


def differs_from_rebuild(log: EventLog) -> int:
    """Count the documents that a rebuild makes otherwise."""
    before = {
        (document.view, document.key, document.seq): document.body
        for view in VIEWS
        for document in log.documents(view)
    }
    with log.transaction():
        rebuild(log)
        after = {
            (document.view, document.key, document.seq): document.body
            for view in VIEWS
            for document in log.documents(view)
        }
    return len(before.items() ^ after.items())
