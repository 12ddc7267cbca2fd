"""The long form of the torture: `make torture`, or `python -m tests.torture --seed N --scale 0.1`."""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path
from random import Random, SystemRandom
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import TYPE_CHECKING

from tests.postgres_server import serving
from tests.torture.contention import contend, turn_the_clock_back
from tests.torture.flips import cut_files, flip_bits, rewrite_history
from tests.torture.full_disk import fill_disk
from tests.torture.full_server import fill_server
from tests.torture.kills import kill_while_appending, kill_while_copying, kill_while_projecting
from tests.torture.servers import kill_with_server
from tests.torture.strangers import walk_every_field
from tests.torture.tampering import rewrite_on_server, tamper
from tests.torture.trials import kill_during_trial, kill_while_picking

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.postgres_server import Server
    from tests.torture.outcome import Outcome

KILLS = 120
FLIPS = 300
CUTS = 60
CHANGES = 300
FULL = 6
WRITERS = 8
APPENDS = 250


def tortures(chance: Random, scale: float) -> list[Callable[[Path], Outcome]]:
    """List everything that is done, each to be given a folder of its own."""

    def times(number: int) -> int:
        return max(2, round(number * scale))

    return [
        lambda at: kill_while_appending(chance, at, times(KILLS)),
        lambda at: kill_while_appending(chance, at, times(KILLS // 3), what="write_back"),
        lambda at: kill_while_projecting(chance, at, times(KILLS // 3)),
        lambda at: kill_while_copying(chance, at, times(KILLS // 3)),
        *(partial(kill_during_trial, chance, blocks=max(4, times(14)), gain=gain) for gain in (0.0, 0.5, -0.5)),
        lambda at: kill_while_picking(chance, at, sessions=times(30)),
        lambda at: contend(at, WRITERS, times(APPENDS)),
        partial(turn_the_clock_back, versions=times(40)),
        lambda at: flip_bits(chance, at, times(FLIPS), in_log=False),
        lambda at: flip_bits(chance, at, times(FLIPS), in_log=True),
        lambda at: cut_files(chance, at, times(CUTS)),
        rewrite_history,
        fill_disk,
        lambda at: walk_every_field(chance, at, scale),
        lambda at: kill_with_server(chance, at, times(KILLS // 6)),
        lambda at: fill_server(at, times(FULL)),
        on_a_server(lambda server: tamper(chance, server, times(CHANGES))),
        on_a_server(rewrite_on_server),
    ]


def on_a_server(torture: Callable[[Server], Outcome]) -> Callable[[Path], Outcome]:
    """Give a torture a server of its own, in its folder."""

    def served(place: Path) -> Outcome:
        with serving(place / "server") as server:
            return torture(server)

    return served


def main() -> int:
    """Do all of it, print the figures, and end with 1 where anything did not hold."""
    asked = argparse.ArgumentParser(prog="python -m tests.torture", description=__doc__)
    asked.add_argument("--seed", type=int, default=SystemRandom().randrange(10**6), help="repeats a run")
    asked.add_argument("--scale", type=float, default=1.0, help="the share of kills, flips and appends to do")
    arguments = asked.parse_args()
    print(f"torture, seed {arguments.seed}, scale {arguments.scale:g}", flush=True)  # noqa: T201 - a script that tells figures
    failed = 0
    with TemporaryDirectory() as scratch:
        for number, torture in enumerate(tortures(Random(arguments.seed), arguments.scale)):
            place = Path(scratch) / str(number)
            place.mkdir()
            began_s = perf_counter()
            outcome = torture(place)
            failed += len(outcome.failures)
            print(f"{outcome.report()}  {perf_counter() - began_s:.0f} s", flush=True)  # noqa: T201 - the same
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
