"""How fast a line says where it comes from, and how fast the past comes back, beside git on the same history.

One skill of 300 lines, 10,000 versions, each a promotion that replaces one line drawn uniformly: the five events
of a promotion, appended with the projector of every command. git gets the same texts, one commit each, packed.
*First look* reads everything again, as a process does that just opened the registry; *again* is what a screen
pays for every further look, where events and states that were read once are remembered; *beside* is one version
after the other. git can only be asked through a
process, so the whole `germline why` stands beside it. The size of loose objects is what `git count-objects` says.

Measured 2026-11-23 at a load of 8 on two cores, medians: git blame 1,306 ms; blame 14 ms at first look and 0.09 ms
again; time travel to a random version 0.75 ms, beside one that was looked at 0.25: 93 to 14,981 times as fast. The
registry takes 117 MB, 0.95 of git's loose objects; packed git takes 3.8 MB. 2026-11-28, in turns with the version
before at a load of 6: a first look takes 9.3 ms of a processor for 12.8, least 6.6 for 9.8. Quiet: git blame 352,
first look 9.1 (39 times as fast), again 0.59, time travel 2.4 and 1.7.
"""

from __future__ import annotations

import argparse
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
from events.sqlite.log import SqliteLog
from events.store import envelope
from registry.projection.snapshots import thaw
from registry.query.library import Library
from registry.query.provenance import blame
from registry.skill_md.render import skill_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from registry.state.capsule import Capsule

VERSIONS = 10_000

REACH = 50
"""How many times as fast as `git blame` blame and time travel must be in process, at 10,000 versions."""


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
        envelope._KNOWN.clear()  # noqa: SLF001 - as in a process that has read nothing yet
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
            row(name, spent_ms(look, 300), peer_ms, f"to reach: {REACH} ×")
        command = str(Path(sys.executable).with_name("germline"))
        why = [command, "--registry", str(path), "why", f"{NAME}:150", "--json"]
        ask = spent_ms(lambda: subprocess.run(why, capture_output=True, check=True), len(peer))
        row("germline why, process", ask, peer_ms, "to reach: 1.33 ×")
        return library.capsule(NAME)


def main() -> None:
    """Print all figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="500 versions: a glance, not a figure")
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
