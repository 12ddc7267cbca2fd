"""How fast a line says where it comes from, and how fast the past comes back, beside git on the same history.

One skill of 300 lines, 10,000 versions, each a promotion that replaces one line drawn uniformly: the five events
of a promotion, appended with the projector of every command. git gets the same texts, one commit each, packed.
*First look* reads everything anew, as a process does that just opened the registry; *again* is what a screen
pays for every further look, where events and states that were read once are remembered; *beside* is one version
after the other. git can only be asked through a
process, so the whole `germline why` stands beside it. The size of loose objects is what `git count-objects` says.

Measured 2026-11-21 (two cores, in use by others), medians: blame 0.92 ms at first look and 0.35 ms again; time
travel to a random version 0.69 ms; git blame 344 ms, germline why 267 ms (both processes). The registry takes 104
MB, 0.85 of git's loose objects; packed git takes 3.8 MB. Measured 2026-11-22 on two quiet cores, git blame 616 ms:
2.6 (since then 1.6), 0.8 and 1.35 ms; germline why 307; 106 MB, 0.86 of loose objects. Later that day, git blame
755 ms, since states that were read are remembered and `why` does without pydantic: 2.7, 0.21 and 1.35 ms, a
version beside one that was looked at 0.88; germline why 185, of which compiling its modules is a part. The same
day, since a snapshot is kept every 8 events and garbage is collected as commands do, git blame 732 ms: 1.83, 0.21,
1.41 and 0.71 ms, 400 to 3,470 times as fast; germline why 130; 117 MB, 0.95 of loose objects. Time travel alone,
without resolving names and scores, took 0.81 to 0.87 ms in a better hour and 1.2 to 1.4 in that one.
"""

from __future__ import annotations

import argparse
import gc
import random
import shutil
import statistics
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from bench.long_skill import LINES, NAME, git, make_git, make_registry, texts
from events.sqlite_log import SqliteLog
from registry.library import Library
from registry.provenance import blame
from registry.rendering import skill_text
from registry.snapshots import thaw
from tui.cli.entry import YOUNG

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.capsule import Capsule

VERSIONS = 10_000

REACH_MS = 1.0
"""trust.md: blame and time travel in process, at 10,000 versions."""


def git_sizes(folder: Path, loose: Path) -> tuple[int, int]:
    """Return the bytes that git takes on disk for the objects, loose and packed."""
    (pack,) = (folder / ".git" / "objects" / "pack").glob("*.pack")
    git(loose.parent, "init", "--quiet", str(loose))
    with pack.open("rb") as stream:
        subprocess.run(["git", "-C", str(loose), "unpack-objects", "-q"], stdin=stream, check=True)
    counted = dict(row.split(": ") for row in git(loose, "count-objects", "-v").splitlines())
    return int(counted["size"]) * 1024, sum(file.stat().st_size for file in pack.parent.iterdir())


def spent_ms(action: Callable[[], object], times: int) -> list[float]:
    """Time an action several times; sorted."""
    spent = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        spent.append((time.perf_counter() - started) * 1_000)
    return sorted(spent)


def row(name: str, spent: list[float], peer_ms: float, reach: str = "") -> None:
    """Print a median, the 95th percentile, and how many times faster than the peer that is."""
    median = statistics.median(spent)
    print(
        f"{name:<28}{median:>9.2f} ms{spent[int(0.95 * len(spent))]:>9.2f} ms{peer_ms / median:>9.1f} ×  {reach}"
    )


def looks(library: Library, versions: int) -> dict[str, Callable[[], object]]:
    """Name what is timed in process."""
    draws, walk = random.Random(11), cycle(range(versions // 2, versions // 2 + 100))

    def first_look() -> object:
        thaw.cache_clear()
        fresh = Library(library.log)
        return blame(fresh, fresh.capsule(NAME))

    return {
        "blame, first look": first_look,
        "blame, again": lambda: blame(library, library.capsule(NAME)),
        "time travel, random version": lambda: library.capsule(NAME, str(draws.randint(1, versions))),
        "time travel, version beside": lambda: library.capsule(NAME, str(next(walk))),
    }


def measure(path: Path, versions: int, peer: list[float]) -> Capsule:
    """Print the figures of one registry beside those of git; returns the live version."""
    with closing(SqliteLog.open(path, read_only=True)) as log:
        library = Library(log)
        peer_ms = statistics.median(peer)
        print(f"{'':<28}{'median':>12}{'95 %':>12}{'git blame ÷':>12}")
        row("git blame, process", peer, peer_ms)
        for name, look in looks(library, versions).items():
            row(name, spent_ms(look, 300), peer_ms, f"to reach: {REACH_MS} ms")
        command = str(Path(sys.executable).with_name("germline"))
        why = [command, "--registry", str(path), "why", f"{NAME}:150", "--json"]
        ask = spent_ms(lambda: subprocess.run(why, capture_output=True, check=True), len(peer))
        row("germline why, process", ask, peer_ms, "to reach: 1.5 × git blame (terminal.md)")
        return library.capsule(NAME)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="500 versions: a glance, not a figure")
    gc.set_threshold(YOUNG)  # as in the commands and screens that look
    versions = 500 if parser.parse_args().quick else VERSIONS
    with TemporaryDirectory(dir=Path.cwd(), prefix=".bench-") as made_in:
        folder = Path(made_in)
        path = folder / "registry.db"
        started = time.perf_counter()
        first, made = make_registry(path, folder / NAME, versions)
        print(f"{versions:,} versions of {LINES} lines, appended in {time.perf_counter() - started:.0f} s")
        make_git(folder / "git", first, made)
        peer = spent_ms(lambda: git(folder / "git", "blame", "--porcelain", "SKILL.md"), 9)
        live = measure(path, versions, peer)
        *_, last = texts(first, made)
        if skill_text(replace(live, stamped=False)) != last:
            raise SystemExit("the registry and git do not hold the same text")
        loose, packed = git_sizes(folder / "git", folder / "loose")
        shutil.rmtree(folder / "loose")
        ours = path.stat().st_size
        print(
            f"registry {ours / 1e6:.1f} MB; git loose {loose / 1e6:.1f} MB, packed {packed / 1e6:.1f} MB;", end=" "
        )
        print(f"ratio to loose {ours / loose:.2f}, to reach: 1.0")


if __name__ == "__main__":
    main()
