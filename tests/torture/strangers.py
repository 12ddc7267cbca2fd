"""Registries of strangers: each hostile value alone in each field of each event, through every command."""

from __future__ import annotations

import asyncio
from contextlib import chdir
from random import Random
from shutil import rmtree
from typing import TYPE_CHECKING

from tests.hostile_registries import RAW, READING, WRITING, HostileHistory, Sandbox
from tests.screen_pilot import screens
from tests.torture.outcome import Outcome

if TYPE_CHECKING:
    from pathlib import Path

_DRAWN_IN = 40
"""Of so many registries the screens of one are drawn: a hundred times slower than a command."""
_PLACES = ("sql-analyst", "sql-analyst@3:12", "/history", "/signals", "/presets", "/review", "/trends/sql-analyst")


def walk_every_field(chance: Random, folder: Path, share: float, *, both_forms: bool = True) -> Outcome:
    """Try a share of all pairs of field and value, drawn at random.

    What only reads is asked for text and for JSON; without `both_forms` for the one that chance takes.
    """
    outcome, forms = Outcome("registries of strangers"), Random(share)
    (folder / "history").mkdir()
    history = HostileHistory(folder / "history")
    for what, rows in history.one_by_one(lambda: chance.random() < share):
        outcome.add("registries")
        place = Sandbox(folder / "one", history, rows)
        reading = [line if forms.random() < 0.5 else f"{line} --json" for line in READING]
        if both_forms:
            reading = [*READING, *(f"{line} --json" for line in READING)]
        held_source = ".source" not in what  # whose folder that may be, attack.md F2 says
        faults = place.faults([*reading, *WRITING] if held_source else reading)
        if outcome.figures["registries"] % _DRAWN_IN == 0:
            faults += asyncio.run(_draw(place.registry, outcome))
        for fault in faults:
            outcome.expect(holds=False, otherwise=f"{what}: {fault}")
        outcome.add("answers", place.looks)
        rmtree(folder / "one")
    return outcome


async def _draw(registry: Path, outcome: Outcome) -> list[str]:
    faults = []
    with chdir(registry.parent):
        async with screens(registry, size=(100, 30)) as at:
            for address in _PLACES:
                await at.go(address)
                outcome.add("screens")
                if RAW.search(at.drawn.replace("\n", "")):
                    faults.append(f"the screen at {address} sends what steers")
    return faults
