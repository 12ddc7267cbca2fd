"""Staleness: whether the world, or the skill itself, has moved on since a version was measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.actions.publish import standing
from strategies.episodes.episode import model_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from registry.query.library import Library
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord


AGENT_VERSION: Final = "version"
"""The label in which logs say which version of the agent, its harness, wrote them."""
MOST_AGE_S: Final = 30 * 86_400
"""From which age a measurement is old, where nobody rechecks more often (a guess)."""
GROWTH: Final = 1.25
"""Tasks must have grown by a quarter to be other tasks: as for a new evaluator."""


@dataclass(frozen=True, slots=True)
class Staleness:
    """What a measurement does not cover: runs, models, agent versions and tasks that are known now; and its age.

    They came later, or were left out on purpose, by `--logs`: an episode does not say when it was read.
    `models` are those that no run configuration is named after.
    Units: age_s seconds; `tasks` is how many it was measured on, `new_tasks` how many more there are, both 0 while
    that is no difference to speak of.
    """

    runs: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    tasks: int = 0
    new_tasks: int = 0
    age_s: float = 0.0

    def __bool__(self) -> bool:
        """Tell whether there is any of it."""
        return bool(self.runs or self.models or self.agents or self.new_tasks or self.age_s)


def staleness(then: Iterable[EpisodeRecord], others: Iterable[EpisodeRecord], *, age_s: float) -> Staleness:
    """Compare the episodes that a version was measured on with the others that are known."""
    before, after = list(then), list(others)
    tasks = {record.task for record in before}
    new = {record.task for record in after} - tasks
    grown = bool(new) and len(tasks) + len(new) >= GROWTH * len(tasks)
    runs = _new(before, after, lambda record: record.run)
    return Staleness(
        runs=runs,
        models=tuple(model for model in _new(before, after, model_of) if model not in runs),
        agents=_new(before, after, lambda record: record.labels.get(AGENT_VERSION, "")),
        tasks=len(tasks) if grown else 0,
        new_tasks=len(new) if grown else 0,
        age_s=age_s if age_s > MOST_AGE_S else 0.0,
    )


def _new(
    before: Iterable[EpisodeRecord], after: Iterable[EpisodeRecord], about: Callable[[EpisodeRecord], str]
) -> tuple[str, ...]:
    return tuple(sorted({about(record) for record in after} - {about(record) for record in before} - {""}))


STALE: Final = "stale base"
"""Why a candidate is held whose base moved on while it was measured; it may be measured once more."""


def moved_on(library: Library, measured: Capsule, now: Capsule) -> str:
    """Say how a skill moved on since it was measured, to another version or under a person's hands; "" if not.

    A version is not promoted over an edit: it could not be written, and only edits of the live one are adopted.
    """
    if now.version != measured.version:
        return f"{now.name} went from version {measured.version} to {now.version} meanwhile"
    if now.name in library.names() and standing(library, now.name) == "edited":
        return f"{now.name} was edited by hand meanwhile: germline adopt {now.name}"
    return ""
