"""How many planted lessons `germline start` finds in sessions that nobody labelled, and what it gets wrong.

For each number of sessions: lessons among the first five things, lessons among all, and coincidences among the
first five, over seeds. Then worlds of the same generator in which nothing mends anything: how often the bound that
a line states is above the true chance. Last, where recorded data is there, draws of 200 episodes of intercode_sql
without outcomes. Takes minutes.
"""

from __future__ import annotations

import argparse
import os
import random
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final, get_args

from events.types.claims import AfterError
from strategies.lessons.fixes import all_tries, figures_after
from strategies.lessons.lesson import failures_of, lessons_of
from strategies.logs.scan import scan
from tests.worlds import without_outcomes
from tests.worlds.sessions import Noise, lessons_in, planted_in, write_sessions

if TYPE_CHECKING:
    from strategies.episodes.episode import EpisodeRecord

FIRST: Final = 5
NO_TABLE: Final = "doesn't exist"
OWN_LUCK: Final = frozenset({"Bash:make", "Bash:curl", "Bash:grep"})
"""Commands of coincidences, which work at a chance of their own."""


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sessions", type=int, nargs="+", default=[20, 60, 200])
    parser.add_argument("--placebos", type=int, default=400)
    asked = parser.parse_args()
    print(f"{'sessions':>8} {'noise':<5} {'of first 5':>12} {'of all 8':>12} {'false of 5':>11} {'seconds':>8}")
    for sessions in asked.sessions:
        for noise in get_args(Noise):
            recall(sessions, noise, asked.seeds)
    placebos(asked.placebos)
    data = Path(os.environ.get("GERMLINE_TEST_DATA", "")) / "intercode_sql"
    if data.is_dir():
        tables(data)


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
    """Count how often bounds hold where nothing that is done matters, only luck.

    First those of the lines that are offered, then of every kind of failure the highest bound of all that was
    tried, offered or not: where a bound is wrong, it is that one.
    """
    offered, highest, silent = list[bool](), list[bool](), 0
    for seed in range(worlds):
        luck = random.Random(seed).uniform(0.2, 0.9)
        with TemporaryDirectory() as folder:
            write_sessions(Path(folder), 60, seed, noise="high", luck=luck)
            records = scan([Path(folder)]).records
        lines = [lesson for lesson in lessons_of(records) if lesson.action not in OWN_LUCK]
        bounds = [lesson.fix.seen.low for lesson in lines if lesson.fix]
        offered += [low <= luck for low in bounds]
        silent += not bounds
        every = all_tries({kind: failure.places for kind, failure in failures_of(records).items()}, records)
        for command, template in every.tries:
            figures = figures_after((command, template), every)
            if figures and command not in OWN_LUCK and "Assertion" not in template:
                highest.append(max(each.seen.low for each in figures) <= luck)
    print(f"placebos: {worlds} worlds, {silent} without a line")
    for what, held in (("lines that are offered", offered), ("kinds of failure, the highest bound", highest)):
        print(f"  {len(held):>6} {what}: it holds in {sum(held) / max(len(held), 1):.3f}")


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
