"""A disk that fills up while everything is written to it: a small tmpfs, where mounting is allowed."""

from __future__ import annotations

import subprocess
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from events.errors import StorageError
from events.integrity.checkpoint_file import keep_checkpoint, read_kept
from events.sqlite.backup import back_up, restore
from events.sqlite.log import SqliteLog
from events.sqlite.verify import verify_file
from registry.actions.publish import publish, standing
from tests.clocks import TickingClock
from tests.contract.drafts import Pen, put
from tests.registries import NAME, imported, learn, new_registry
from tests.torture.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_AT = "2026-11-22T00:00:00.000000Z"
_MB = 2**20
_LONG = "x" * 1_900


@contextmanager
def small_disk(folder: Path, size_mb: int = 3) -> Iterator[Path | None]:
    """Mount a tmpfs of a few megabytes at `folder`; None where that is not allowed."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size_mb}m,mode=700", "none", str(folder)]
    try:
        mounted = subprocess.run(command, check=False, capture_output=True).returncode == 0
    except OSError:
        mounted = False
    try:
        yield folder if mounted else None
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)


class Ballast:
    """A file that takes all the room there is but `spare_bytes`, and gives it back."""

    def __init__(self, disk: Path) -> None:
        self._file = disk / "ballast"

    def fill(self, spare_bytes: int = 0) -> None:
        with self._file.open("ab", buffering=0) as stream:
            try:
                while True:
                    stream.write(bytes(4_096))
            except OSError:
                stream.truncate(max(0, stream.tell() - spare_bytes))

    def remove(self) -> None:
        self._file.unlink(missing_ok=True)


def refused(act: Callable[[], object], outcome: Outcome, what: str) -> None:
    """Do what the full disk must refuse, until it does; it is told as an error of ours, with a hint."""
    try:
        for _ in range(10_000):
            act()
    except StorageError as error:
        outcome.add("typed refusals")
        outcome.expect(error.hint, f"{what}: no hint")
    except BaseException as error:  # noqa: BLE001 - what else it is, is the finding
        outcome.expect(None, f"{what}: {type(error).__name__}: {error}")
    else:
        outcome.expect(None, f"{what}: was not refused")


def fill_disk(folder: Path) -> Outcome:
    """Fill the disk under appends, blobs, SKILL.md, the sidecar, a backup and a restore, then make room."""
    outcome = Outcome("disk full")
    with small_disk(folder / "disk") as disk:
        if disk is None:
            outcome.remark = "no tmpfs may be mounted here: the suite asks by PRAGMA max_page_count"
            return outcome
        outcome.remark = "tmpfs of 3 MB"
        _fill_under_appends(disk, outcome)
    with small_disk(folder / "second") as disk:
        assert disk is not None
        _fill_under_skill_files(folder, disk, outcome)
    with small_disk(folder / "third") as disk:
        assert disk is not None
        _fill_under_copies(folder, disk, outcome)
    return outcome


def _fill_under_appends(disk: Path, outcome: Outcome) -> None:
    path, pen, acknowledged = disk / "registry.db", Pen(), [0]
    ballast = Ballast(disk)
    with closing(SqliteLog.open(path, create=True)) as log:

        def append() -> None:
            put(log, pen.draft(text=_LONG), pen.draft("gene:a", text=_LONG))
            acknowledged[0] += 2

        def witness_and_append() -> None:
            keep_checkpoint(log, disk / "sidecar", at=_AT)
            append()

        append()
        for turn in range(3):
            ballast.fill(spare_bytes=turn * 40_000)
            refused(append, outcome, "append")
            refused(lambda: log.put_blob(pen.draft().event_id.encode() * 900, kind="evidence"), outcome, "blob")
            refused(witness_and_append, outcome, "sidecar")
            integrity = log.verify()
            outcome.expect(
                integrity.events == acknowledged[0], f"{acknowledged[0]} acknowledged, {integrity.events} there"
            )
            outcome.expect(not integrity.problems, f"it does not verify: {integrity.problems[:2]}")
            ballast.remove()
            append()
            log.put_blob(b"room again %d" % turn, kind="evidence")
            keep_checkpoint(log, disk / "sidecar", at=_AT)
            outcome.expect(not read_kept(disk / "sidecar").torn, "the sidecar has a torn line")
        outcome.add("acknowledged", acknowledged[0])
        outcome.add("lost", acknowledged[0] - log.head().position)
    integrity = verify_file(str(path))
    outcome.expect(
        integrity.events == acknowledged[0] and not integrity.problems, f"after closing: {integrity.problems[:2]}"
    )


def _fill_under_skill_files(folder: Path, disk: Path, outcome: Outcome) -> None:
    """The registry has room, the folder of the skill has none."""
    home = folder / "registry"
    home.mkdir()
    registry, ballast = new_registry(home, TickingClock()), Ballast(disk)
    with closing(registry.log):
        place = imported(registry, disk)
        before = (place / "SKILL.md").read_bytes()
        ballast.fill()
        refused(
            lambda: learn(registry, *(f"No room for line {number}.\n" for number in range(300))),
            outcome,
            "SKILL.md",
        )
        outcome.expect((place / "SKILL.md").read_bytes() == before, "SKILL.md is neither old nor new")
        outcome.expect(sorted(entry.name for entry in place.iterdir()) == ["SKILL.md"], "half a file stayed")
        outcome.expect(standing(registry, NAME) == "stale", f"the folder is {standing(registry, NAME)}")
        ballast.remove()
        publish(registry, NAME)
        outcome.expect(standing(registry, NAME) == "projected", "it is not written when there is room")


def _fill_under_copies(folder: Path, disk: Path, outcome: Outcome) -> None:
    """A backup that finds no room leaves the one before; a restore that finds none leaves the registry."""
    path, ballast, pen = folder / "source.db", Ballast(disk), Pen()
    with closing(SqliteLog.open(path, create=True)) as log:
        put(log, *pen.drafts(200))
    back_up(path, disk / "backup.db")
    with closing(SqliteLog.open(path)) as log:
        for _ in range(5):
            put(log, *pen.drafts(40))
        head = log.head()
    back_up(path, folder / "backup.db")
    ballast.fill(spare_bytes=20_000)
    refused(lambda: back_up(path, disk / "backup.db"), outcome, "backup")
    outcome.expect(verify_file(str(disk / "backup.db")).events == 200, "the backup before is gone")
    with closing(SqliteLog.open(disk / "backup.db", read_only=True)) as log:
        over = log.head()
    refused(
        lambda: restore(folder / "backup.db", disk / "backup.db", aside=disk / "aside", over=over),
        outcome,
        "restore",
    )
    outcome.expect(verify_file(str(disk / "backup.db")).events == 200, "the registry before is gone")
    outcome.expect(not [*disk.glob(".germline-partial-*")], "half a copy stayed")
    ballast.remove()
    restore(folder / "backup.db", disk / "backup.db", aside=disk / "aside", over=over)
    outcome.expect(verify_file(str(disk / "backup.db")).head == head, "it is not restored when there is room")
