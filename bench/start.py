"""How many planted lessons `germline start` finds in sessions that nobody labelled, and what it gets wrong.

For each number of sessions: lessons among the first five things, lessons among all, and coincidences among the
first five, over seeds. Then worlds of the same generator in which nothing mends anything: how often the bound of a
line that is offered there holds, and how many of these lines further sessions take back. Last, where recorded data
is there, draws of 200 episodes of intercode_sql without outcomes. Takes minutes.

`--lines 1000000` instead runs the command itself, twice, on a folder of as many lines: what it takes of a core, by
the clock, and its memory at the most. It reads in one process, so that all of it is counted.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, get_args

from events.types.claims import AfterError
from strategies.lessons.lesson import lessons_of
from strategies.logs.scan import scan
from strategies.policy.presets import PRESETS
from strategies.tiers.new_evidence import FIRST_LOOK, on_seen
from tests.worlds import without_outcomes
from tests.worlds.sessions import Noise, lessons_in, planted_in, write_sessions

if TYPE_CHECKING:
    from events.types.claims import Claim
    from events.types.tiers import SeenFigures
    from strategies.episodes.episode import EpisodeRecord
    from strategies.lessons.fixes import FixFigures

FIRST: Final = 5
NO_TABLE: Final = "doesn't exist"
OWN_LUCK: Final = frozenset({"Bash:make", "Bash:curl", "Bash:grep"})
"""Commands of coincidences, which work at a chance of their own."""
SIZES: Final = (20, 60)
"""Sessions of a placebo world."""
SESSION_LINES: Final = 48
"""Lines of a generated session, on average."""
FURTHER: Final = 200
"""Sessions that come after a line was taken."""
WORLDS_DRAWN: Final = 60
"""Placebo worlds of each size that are drawn from one lot of sessions."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sessions", type=int, nargs="+", default=[20, 60, 200])
    parser.add_argument("--placebos", type=int, default=40, help="kinds of luck")
    parser.add_argument("--lines", type=int, help="the command itself on a folder of so many lines, nothing else")
    asked = parser.parse_args()
    if asked.lines:
        whole_command(asked.lines)
        return
    print(f"{'sessions':>8} {'noise':<5} {'of first 5':>12} {'of all 8':>12} {'false of 5':>11} {'seconds':>8}")
    for sessions in asked.sessions:
        for noise in get_args(Noise):
            recall(sessions, noise, asked.seeds)
    placebos(asked.placebos)
    data = Path(os.environ.get("GERMLINE_TEST_DATA", "")) / "intercode_sql"
    if data.is_dir():
        tables(data)


def whole_command(lines: int) -> None:
    """Run `germline start` on a folder of new logs, and once more with nothing new."""
    with TemporaryDirectory() as made_in:
        logs = Path(made_in, "logs")
        write_sessions(logs, lines // SESSION_LINES, seed=1)
        bodies = [path.read_bytes() for path in logs.iterdir()]
        written, size = sum(body.count(b"\n") for body in bodies), sum(map(len, bodies))
        del bodies
        print(f"{written:,} lines, {size / 1e6:.0f} MB")
        words = [str(Path(sys.executable).with_name("germline")), "--quiet", "start", str(logs)]
        alone = {**os.environ, "GERMLINE_SCAN_WORKERS": "1"}
        for when in ("at first", "nothing new"):
            began = time.perf_counter()
            process = subprocess.Popen(words, cwd=made_in, stdout=subprocess.DEVNULL, env=alone)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise SystemExit(f"germline start ended with {process.returncode}")
            core, wall = used.ru_utime + used.ru_stime, time.perf_counter() - began
            memory = f"{used.ru_maxrss / 1024:,.0f} MB at the most"
            print(f"{when:<12} {core:6.1f} s of a core, {wall:6.1f} s by the clock, {memory}", flush=True)


def recall(sessions: int, noise: Noise, seeds: int) -> None:
    """Count what is found in worlds with lessons: the least of all seeds, and the mean."""
    first, every, false, seconds = list[int](), list[int](), 0, 0.0
    for seed in range(seeds):
        with TemporaryDirectory() as folder:
            write_sessions(Path(folder), sessions, seed, noise=noise)
            began = time.perf_counter()
            names = [planted_in(lesson) for lesson in lessons_in(Path(folder))]
            seconds += time.perf_counter() - began
        first.append(sum(bool(name) for name in names[:FIRST]))
        every.append(len(set(names) - {""}))
        false += sum(not name for name in names[:FIRST])
    print(
        f"{sessions:>8} {noise:<5} {min(first):>4} ({sum(first) / seeds:.2f}) {min(every):>5} "
        f"({sum(every) / seeds:.2f}) {false:>11} {seconds / seeds:>8.2f}",
        flush=True,
    )


def placebos(worlds: int) -> None:
    """Count how often the bounds of offered lines hold where nothing that is done matters, only luck.

    Worlds are drawn from twenty times as many sessions as the largest of them has, all of one luck; for each line
    that is offered, further ones are drawn as they come after a person took it.
    """
    held: dict[tuple[str, int], list[bool]] = {(noise, size): [] for noise in get_args(Noise) for size in SIZES}
    gone = list[bool]()
    for seed in range(worlds):
        draws, later = random.Random(seed), random.Random(f"further {seed}")
        noise, luck = draws.choice(get_args(Noise)), draws.uniform(0.2, 0.9)
        with TemporaryDirectory() as folder:
            write_sessions(Path(folder), 20 * max(SIZES), seed, noise=noise, luck=luck)
            records = scan([Path(folder)]).records
        for size, _ in product(SIZES, range(WORLDS_DRAWN)):
            drawn = draws.sample(records, size)
            if lines := offered_lines(drawn):
                known = {record.id for record in drawn}
                further = later.sample([record for record in records if record.id not in known], FURTHER)
                held[noise, size] += [fix.seen.low <= luck for _, fix in lines]
                gone += [is_taken_back(claim, fix.seen, further) for claim, fix in lines]
    print(f"placebos: {worlds * WORLDS_DRAWN * len(SIZES):,} worlds of {worlds} kinds of luck")
    for (noise, size), bounds in held.items():
        _print_held(f"{noise}, {size} sessions", bounds)
    _print_held("all", [holds for bounds in held.values() for holds in bounds])
    print(f"  {sum(gone)} of {len(gone)} are taken back by {FURTHER} further sessions")


def _print_held(what: str, held: list[bool]) -> None:
    share = sum(held) / max(len(held), 1)
    print(f"  {what:<18} {len(held):>5} lines that are offered: the bound holds in {share:.3f}")


def offered_lines(records: list[EpisodeRecord]) -> list[tuple[Claim, FixFigures]]:
    """Give the claims of the lines that these sessions would bring, but of commands with a luck of their own."""
    return [
        (lesson.claim, lesson.fix)
        for lesson in lessons_of(records)
        if lesson.fix and lesson.claim and lesson.action not in OWN_LUCK and "Assertion" not in lesson.template
    ]


def is_taken_back(claim: Claim, stated: SeenFigures, further: list[EpisodeRecord]) -> bool:
    """Tell whether a line that a person took goes at any of the looks at further sessions."""
    sizes = range(FIRST_LOOK, len(further) + 1, FIRST_LOOK)
    findings = (on_seen(claim, stated, further[:size], PRESETS["balanced"], 0.0) for size in sizes)
    return any(finding is not None and finding.again is None for finding in findings)


def tables(data: Path) -> None:
    """Draw 200 recorded episodes at a time, and look for SHOW after a table that is not there."""
    records = without_outcomes(scan([data]).records)
    offered = sum(bool(offers_show(random.Random(seed).sample(records, 200))) for seed in range(20))
    print(f"intercode_sql: SHOW after a missing table is offered as seen in {offered} of 20 draws of 200 episodes")


def offers_show(records: list[EpisodeRecord]) -> list[str]:
    """Give the lines that say to look at the schema after a missing table."""
    return [
        lesson.line
        for lesson in lessons_of(records)
        if isinstance(lesson.claim, AfterError)
        and NO_TABLE in lesson.template
        and (lesson.claim.do or "").endswith(":SHOW")
    ]


if __name__ == "__main__":
    main()
