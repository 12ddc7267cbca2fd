"""Many writers at once, readers in between, and a clock that runs backwards."""

from __future__ import annotations

import threading
from contextlib import closing
from itertools import pairwise
from typing import TYPE_CHECKING

from events.sqlite.backup import back_up
from events.sqlite.log import SqliteLog
from events.sqlite.verify import verify_file
from registry.registry import Registry
from tests.clocks import TickingClock
from tests.contract.log_writers import FORKS, append_many
from tests.registries import NAME, imported, learn, new_registry
from tests.torture.kills import differs_from_rebuild
from tests.torture.outcome import Outcome

if TYPE_CHECKING:
    from pathlib import Path


def contend(folder: Path, writers: int, appends: int) -> Outcome:
    """Let processes append side by side while one thread reads, one verifies and backs up."""
    path, outcome, done = folder / "registry.db", Outcome("writers and readers"), threading.Event()
    SqliteLog.open(path, create=True).close()
    readings: list[int] = []

    def read() -> None:
        with closing(SqliteLog.open(path, read_only=True)) as log:
            while not done.is_set():
                seen = [envelope.position for envelope in log.read()]
                outcome.expect(seen == list(range(1, len(seen) + 1)), "a reader saw a gap")
                readings.append(len(seen))

    def copy() -> None:
        while not done.is_set():
            integrity = back_up(path, folder / "backup.db")
            outcome.add("backups meanwhile")
            outcome.expect(not integrity.problems, "a backup does not verify")
            outcome.expect(not verify_file(str(path)).problems, f"it does not verify: {verify_file(str(path))}")

    processes = [FORKS.Process(target=append_many, args=(path, f"w{n}", appends)) for n in range(writers)]
    threads = [threading.Thread(target=read), threading.Thread(target=copy)]
    for thread in threads:
        thread.start()
    for process in processes:
        process.start()
    for process in processes:
        process.join(timeout=300)
        outcome.expect(process.exitcode == 0, f"a writer ended with {process.exitcode}")
    done.set()
    for thread in threads:
        thread.join(timeout=60)
    with closing(SqliteLog.open(path, read_only=True)) as log:
        there = [envelope.position for envelope in log.read()]
    wanted = writers * appends
    outcome.figures |= {"writers": writers, "acknowledged": wanted, "lost": wanted - len(there)}
    outcome.figures |= {"gaps": int(there != list(range(1, wanted + 1))), "readings": len(readings)}
    outcome.expect(outcome.figures["lost"] == outcome.figures["gaps"] == 0, "events are missing")
    outcome.expect(all(a <= b for a, b in pairwise(readings)), "a reader went back in time")
    return outcome


def turn_the_clock_back(folder: Path, versions: int) -> Outcome:
    """Let each event be older than the one before: order is that of positions, and time travel goes on working."""
    outcome = Outcome("clock backwards")
    registry = new_registry(folder, TickingClock())
    imported(registry, folder)
    registry = Registry(registry.log, TickingClock(step_s=-3_600, seed=2), "person:ada")
    with closing(registry.log) as log:
        for number in range(versions):
            learn(registry, f"Line {number}.\n", candidate=f"c{number}", claims=())
        times = [envelope.at for envelope in log.read()]
        outcome.figures = {
            "events": len(times),
            "steps back": sum(a > b for a, b in pairwise(times)),
            "torn projections": differs_from_rebuild(log),
        }
        outcome.expect(outcome.figures["steps back"] >= versions, "the clock did not go back")
        outcome.expect(not outcome.figures["torn projections"], "a rebuild gives other documents")
        outcome.expect(not log.verify().problems, "it does not verify")
        outcome.expect(registry.capsule(NAME).version == versions + 1, "versions are not in order")
        for ref in ("2", "2026-11-01", "2026-12-01"):
            outcome.expect(registry.capsule(NAME, ref), f"@{ref} is not found")
    return outcome
