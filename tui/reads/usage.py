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
) -> tuple[FileUsage, ...]:
    """Measure the lines of these skills and instructions by all that the logs of a registry say."""
    ground = usage_ground(library, logs, sources)
    return tuple(usage_of(ground, name, MeasurementStamp("", now), seed=seed) for name in names)
