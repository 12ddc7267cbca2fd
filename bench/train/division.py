"""What the runs of a training were for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from bench.train.world import LiveLines
from strategies.gate.aimed_rule import FRESH

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from events.types.score import Split
    from strategies.rollouts.run.store import PlannedRun

PURPOSES: Final = ("explore", "true", "idle", "live", "fresh", "audit", "no skill")
"""First looks are at lines that are true, at others, or at the live version beside them."""


@dataclass
class RunDivision:
    """Counts runs by what they were for; `splits` says of each task where it is, `live` is the skill on disk."""

    splits: Mapping[str, Split]
    live: Path
    counts: Counter[str] = field(default_factory=Counter)

    def count(self, text: str, job: PlannedRun) -> None:
        """Count a run that is about to be made."""
        self.counts[self._purpose(text, job)] += 1

    def _purpose(self, text: str, job: PlannedRun) -> str:
        split = self.splits[job.task.id]
        if split != "sealed":
            return split
        if not job.arm.files:
            return "no skill"
        if job.round in FRESH:
            return "fresh"
        live = self.live.read_text(encoding="utf-8")
        if set(text.splitlines()) <= set(live.splitlines()):
            return "live"
        return "true" if LiveLines.of(text).true - LiveLines.of(live).true else "idle"


def division_row(name: str, runs: int, divisions: list[Counter[str]]) -> str:
    """Write the means over seeds."""
    means = (sum(counts[purpose] for counts in divisions) / len(divisions) for purpose in (*PURPOSES, "prompts"))
    return f"{name:<12}{runs:>8,}" + "".join(f"{mean:>10,.0f}" for mean in means)
