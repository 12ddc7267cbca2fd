"""Jumps through the history of all events, in a process of its own: what bench/terminal.py asks for and tells.

`python -m bench.jumps REGISTRY COUNT` prints the ms of each jump, sorted, and the MB that the process grew.

Measured 2026-11-23 among 20,000 events, beside other work: least 11 ms, median 16, 95 % 81: one jump in 20 waits
for a search for garbage. 19 ms of a long one are the frame that Textual draws. 2026-11-28 among a million: least
14 ms, median 17, 95 % 789 while what signals tell of 10,000 versions is still counted beside it; 263 MB. Since
threads take shorter turns: least 15, median 25, 95 % 126. Since counts read each candidate once and give way, in
turns with the version before at loads of 4 to 6 on two cores: 95 % 82, 190, 136 for 204, 278, 457; 79 MB for 261.
On a quiet machine: least 15, median 17, 95 % 29; 79 MB. 2026-11-29, with the searches for garbage that the
screens really have: 95 % 34 to 38 and most 42 to 47, where one jump in 11 took 80 to 120; in the product, whose
searches came after half a million objects, one in 300 took 420 and the process held 94 MB, then 114.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import sys
import time
from pathlib import Path
from typing import Any, Final

from events.clock import SystemClock
from tui.screens.app import GermlineApp
from tui.session.open_registry import open_library
from tui.widgets.event_list import EventList

SIZE: Final = (140, 40)
OPENED_S: Final = 3.0
"""Once nothing was drawn for so long, all events are listed."""
SETTLED_S: Final = 0.5
PATIENCE_S: Final = 10.0


def resident_mb() -> float:
    """Tell how much memory this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Watched(GermlineApp):
    """The screens, with the moments at which a frame was drawn."""

    CSS_PATH = str(Path(str(sys.modules[GermlineApp.__module__].__file__)).with_name("theme.tcss"))
    drawn: Final[list[float]] = []

    def _display(self, *frame: Any) -> None:  # noqa: ANN401 - textual's own, handed on
        super()._display(*frame)
        self.drawn.append(time.perf_counter())


async def jumps(registry: Path, count: int) -> tuple[list[float], float]:
    """Jump through the history of all events; returns the ms of each, sorted, and the MB that the process grew.

    A jump ends with the last frame that is drawn for it, after which nothing is for SETTLED_S. They begin once all
    events are listed. The time stands still: the frame of a new minute is none of a jump.
    """
    before, now = resident_mb(), SystemClock().now()
    app = Watched(lambda: open_library(registry), at="/history", now=lambda: now, owns_process=True)
    draws, spent = random.Random(5), []
    async with app.run_test(size=SIZE):
        listed = app.base.query_one(EventList)
        await asyncio.sleep(OPENED_S)
        while app.drawn:  # it still reads, and draws what it has read
            app.drawn.clear()
            await asyncio.sleep(OPENED_S)
        for _ in range(count):
            position = listed.positions[draws.randrange(len(listed.positions))]
            app.drawn.clear()
            started = time.perf_counter()
            listed.go_to(position)
            await asyncio.sleep(SETTLED_S)
            while listed.line is None or not app.drawn:
                if time.perf_counter() - started > PATIENCE_S:
                    raise SystemExit(f"event {position} was not drawn within {PATIENCE_S} s")
                await asyncio.sleep(SETTLED_S)
            spent.append((app.drawn[-1] - started) * 1_000)
        grown = resident_mb() - before
    return sorted(spent), grown


if __name__ == "__main__":
    registry, count = sys.argv[1:]
    print(json.dumps(asyncio.run(jumps(Path(registry), int(count)))))
