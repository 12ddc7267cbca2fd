"""Rechecks while a watch runs: versions in use are measured anew when it is time, and held against a floor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from events.clock import monotonic_s
from events.errors import UsageError
from strategies.rechecking import Recheck, next_due_s, recheck
from tui.cli.durations import seconds_of
from tui.cli.shapes import score_json
from tui.figures import share

if TYPE_CHECKING:
    from registry.registry import Registry
    from strategies.rechecking import Rechecked


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

    def __init__(self, registry: Registry, terms: Recheck | None, *, seed: int) -> None:
        self._registry, self._terms, self._seed = registry, terms, seed
        self._next_s = monotonic_s()

    def due(self) -> tuple[Rechecked, ...]:
        """Measure what is due by now, and reckon when something is due again."""
        if self._terms is None or monotonic_s() < self._next_s:
            return ()
        found = recheck(self._registry, self._terms, seed=self._seed)
        just = {(one.skill, one.version) for one in found}
        self._next_s = monotonic_s() + next_due_s(self._registry, self._terms, just)
        return found

    def json(self, found: tuple[Rechecked, ...]) -> list[dict[str, Any]]:
        """Give what was measured as JSON."""
        return [
            {
                "skill": one.skill,
                "version": one.version,
                "score": score_json(one.score),
                "unmeasured": one.unmeasured or None,
                "floor": self._floor,
                "under_floor": one.fallen,
            }
            for one in found
        ]

    def words(self, one: Rechecked) -> str:
        """Say what was measured of a version, and what to type where it fell under the floor."""
        if one.score is None:
            return one.unmeasured
        said = f"{one.skill}@{one.version}  {share(one.score.value)}"
        if not one.fallen:
            return said
        return f"{said}, under the floor of {share(self._floor)}: germline log {one.skill}"

    @property
    def _floor(self) -> float:
        return self._terms.floor if self._terms else 0.0
