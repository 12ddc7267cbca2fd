"""What `usage` says of a CLAUDE.md of 60 lines whose worth is known: each kind of line by each verdict.

Harmful lines must never be said to help, and at most 1 in 100 of the inert ones may be said to hurt.
"""

from __future__ import annotations

import argparse
from collections import Counter
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from strategies.gate.replay.measure import MeasurementStamp
from strategies.usage.line_usage import usage_ground, usage_of
from tests.worlds.instructions import registry_of, write_world

if TYPE_CHECKING:
    from tests.worlds.instructions import Kind

KINDS: tuple[Kind, ...] = ("helpful", "harmful", "inert", "unwitnessed")
VERDICTS = ("helps", "hurts", "inert", "unknown", "unwitnessed")


def verdicts(seed: int, sessions: int) -> Counter[tuple[str, str]]:
    """Count the lines of a world by what they are worth and by what `usage` says."""
    with TemporaryDirectory() as folder:
        planted = {line.text: line.kind for line in write_world(Path(folder), seed, sessions)}
        registry = registry_of(Path(folder))
        with closing(registry.log):
            stamp = MeasurementStamp("", "2026-01-01T00:00:00.000000Z")
            usage = usage_of(usage_ground(registry), "CLAUDE.md", stamp, seed=0)
        return Counter((planted[line.line.text.rstrip("\n")], line.worth.verdict) for line in usage.lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--sessions", type=int, nargs="+", default=[300])
    asked = parser.parse_args()
    for sessions in asked.sessions:
        counts: Counter[tuple[str, str]] = Counter()
        for seed in range(asked.seeds):
            counts += verdicts(seed, sessions)
        print(f"{sessions:,} sessions, {asked.seeds} seeds")
        print(f"{'lines':<14}" + "".join(f"{verdict:>13}" for verdict in VERDICTS))
        for kind in KINDS:
            print(f"{kind:<14}" + "".join(f"{counts[kind, verdict]:>13,}" for verdict in VERDICTS), flush=True)


if __name__ == "__main__":
    main()
