"""Usage, read in one go: what became of the lines of one file, or of all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.gate.replay.measure import MeasurementStamp
from strategies.usage.line_usage import usage_ground, usage_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from registry.query.library import Library
    from strategies.episodes.episode import WorldSource
    from strategies.scope.log_globs import LogGlobs
    from strategies.usage.line_usage import FileUsage


def read_usage(
    library: Library,
    names: Iterable[str],
    now: str,
    *,
    seed: int,
    logs: LogGlobs | None = None,
    sources: tuple[WorldSource, ...] = (),
    number: int | None = None,
) -> tuple[FileUsage, ...]:
    """Measure the lines of these skills and instructions by all that the logs of a registry say.

    With a `number` only the line that has it is measured, and others are counted.
    """
    ground = usage_ground(library, logs, sources)
    stamp = MeasurementStamp("", now)
    return tuple(usage_of(ground, name, stamp, seed=seed, number=number) for name in names)
