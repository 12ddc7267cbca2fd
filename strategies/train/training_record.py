"""What the log says of trainings: where they began, their epochs, their candidates, and what they spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.model_events import ModelAsked
from events.types.training_events import TrainingEpochEnded, TrainingStarted
from registry.skill_md.render import skill_text
from registry.skill_md.rules import CHARACTERS_PER_TOKEN
from strategies.rollouts.run.store import kept_runs

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.types.score import Delta
    from registry.query.library import Library
    from registry.state.capsule import Capsule

_TYPES: Final = ("TrainingStarted", "TrainingEpochEnded")


@dataclass(frozen=True)
class TrainingRecord:
    """A training as far as it went; `began` and `ended` are the positions of its start and of its last epoch."""

    started: TrainingStarted
    began: int
    epochs: tuple[TrainingEpochEnded, ...]
    ended: int

    @property
    def versions_explored(self) -> tuple[int, ...]:
        """The version that each epoch began with, and the one that the next begins with."""
        return self.started.version, *(epoch.version for epoch in self.epochs)


class EpochRow(NamedTuple):
    """One epoch as a table shows it; the deltas are the sums of its promotions', None without any.

    Each was measured against the version before it, and was chosen because it was high: together they say more
    than is true. The audit, which chose nothing, does not.
    """

    epoch: TrainingEpochEnded
    sealed: float | None
    audit: float | None


class Banked(NamedTuple):
    """The finished runs that a registry holds, and what they cost; units: US dollars."""

    runs: int
    usd: float


def records(library: Library, skill: str = "") -> list[TrainingRecord]:
    """List the trainings of a skill, or of all, in the order in which they were last at work."""
    by_training: dict[str, TrainingRecord] = {}
    for envelope in library.log.read(types=_TYPES):
        event = envelope.event
        if isinstance(event, TrainingStarted):
            by_training[event.training] = TrainingRecord(event, envelope.position, (), envelope.position)
        elif isinstance(event, TrainingEpochEnded) and event.training in by_training:
            known = by_training.pop(event.training)
            epochs = (*known.epochs, event)
            by_training[event.training] = TrainingRecord(known.started, known.began, epochs, envelope.position)
    return [record for record in by_training.values() if skill in {"", record.started.capsule}]


def record_of(library: Library, training: str) -> TrainingRecord | None:
    """Give what is known of one training, None before it began."""
    return next((record for record in records(library) if record.started.training == training), None)


def table_of(library: Library, record: TrainingRecord) -> list[EpochRow]:
    """Read the epochs with what their promotions were measured at."""
    candidates = library.candidates_of([name for epoch in record.epochs for name in epoch.promoted])
    rows = []
    for epoch in record.epochs:
        scored = [known.scored for name in epoch.promoted if (known := candidates.get(name)) and known.scored]
        sealed, audit = _sum(score.delta for score in scored), _sum(score.audit_delta for score in scored)
        rows.append(EpochRow(epoch, sealed, audit))
    return rows


def _sum(deltas: Iterable[Delta | None]) -> float | None:
    """Add up; None where nothing was measured."""
    measured = [delta.value for delta in deltas if delta is not None]
    return sum(measured) if measured else None


def banked(library: Library) -> Banked:
    """Count the finished runs that are kept, and what they cost."""
    trials = [run.trial for run in kept_runs(library.log).values()]
    return Banked(len(trials), sum(trial.cost_usd or 0.0 for trial in trials))


def asked_usd(library: Library, since: int) -> float:
    """Sum what proposers cost after a position of the log, replayed replies aside."""
    asked = (envelope.event for envelope in library.log.read(after=since, types=("ModelAsked",)))
    return sum(
        event.cost_usd or 0.0
        for event in asked
        if isinstance(event, ModelAsked) and event.role == "proposer" and not event.replayed
    )


def size_of(capsule: Capsule) -> tuple[int, int]:
    """Give a skill's size: its lines, and its tokens by a rule of thumb."""
    text = skill_text(capsule)
    return len(text.splitlines()), len(text) // CHARACTERS_PER_TOKEN
