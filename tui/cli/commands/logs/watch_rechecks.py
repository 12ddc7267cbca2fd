"""Rechecks while a watch runs: versions in use are measured again when it is time, and compared with a floor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.clock import monotonic_s
from events.errors import UsageError
from strategies.monitor.recheck import Recheck, next_due_s, recheck
from tui.text.durations import seconds_of
from tui.text.numbers import share

if TYPE_CHECKING:
    from registry.registry import Registry
    from strategies.monitor.recheck import Rechecked
    from strategies.scope.log_globs import LogGlobs


def terms_of(every: str, floor: float | None) -> Recheck | None:
    """Read what was asked for, None for nothing; raises UsageError for a floor without rechecks."""
    if every:
        return Recheck(seconds_of(every, "--recheck"), floor or 0.0)
    if floor is not None:
        raise UsageError(
            "--floor is about rechecks, and none were asked for", hint=f"--recheck 24h --floor {floor:g}"
        )
    return None


class Rechecks:
    """Knows when versions in use are due; without terms they never are."""

    def __init__(
        self, registry: Registry, terms: Recheck | None, *, seed: int, logs: LogGlobs | None = None
    ) -> None:
        self._registry, self._terms, self._seed, self._logs = registry, terms, seed, logs
        self._next_s = monotonic_s()

    def due(self) -> tuple[Rechecked, ...]:
        """Measure what is due by now, and reckon when something is due again."""
        if self._terms is None or monotonic_s() < self._next_s:
            return ()
        rechecked = recheck(self._registry, self._terms, seed=self._seed, logs=self._logs)
        just = {(version.skill, version.version) for version in rechecked}
        self._next_s = monotonic_s() + next_due_s(self._registry, self._terms, just)
        return rechecked

    def words(self, version: Rechecked) -> str:
        """Say what was measured of a version, and what to type where it fell under the floor."""
        if version.score is None:
            return version.unmeasured
        measured = f"{version.skill}@{version.version}  {share(version.score.value)}"
        if not version.fallen:
            return measured
        return f"{measured}, under the floor of {share(self.floor)}: germline log {version.skill}"

    @property
    def floor(self) -> float:
        """The score that versions in use are held against."""
        return self._terms.floor if self._terms else 0.0
