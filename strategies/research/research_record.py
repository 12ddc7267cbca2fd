"""What the log says of researches: where they began, how noisy their metrics are, and their experiments."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from events.types.research_events import (
    ExperimentEnded,
    ExperimentProposed,
    ExperimentUndone,
    NoiseMeasured,
    ResearchStarted,
)
from registry.query.diffs import line_diff

if TYPE_CHECKING:
    from registry.query.library import Library

_TYPES: Final = ("ResearchStarted", "NoiseMeasured", "ExperimentProposed", "ExperimentEnded", "ExperimentUndone")


@dataclass(frozen=True)
class Experiment:
    """One experiment: what was proposed by whom, how it ended, and whether a person took it back.

    `position` is that of its end, 0 while it goes on.
    """

    proposed: ExperimentProposed
    actor: str
    ended: ExperimentEnded | None = None
    position: int = 0
    undone: bool = False

    @property
    def in_force(self) -> bool:
        """Whether what it changed is kept."""
        return self.ended is not None and self.ended.verdict == "kept" and not self.undone

    @property
    def is_held(self) -> bool:
        """Whether it waits for a person."""
        return self.ended is not None and self.ended.verdict == "held"


@dataclass
class ResearchRecord:
    """A research as far as it went; `noise` is by the hash of the files it was measured on."""

    started: ResearchStarted
    noise: dict[str, NoiseMeasured] = field(default_factory=dict)
    experiments: list[Experiment] = field(default_factory=list)

    @property
    def pending(self) -> Experiment | None:
        """The experiment that was proposed and has not ended."""
        last = self.experiments[-1] if self.experiments else None
        return last if last and last.ended is None else None

    @property
    def ended(self) -> list[Experiment]:
        """The experiments that have ended."""
        return [experiment for experiment in self.experiments if experiment.ended]


def research_records(library: Library, target: str = "") -> list[ResearchRecord]:
    """List the researches of a target, or of all, in the order in which they began."""
    records: dict[str, ResearchRecord] = {}
    for envelope in library.log.read(types=_TYPES):
        event = envelope.event
        if isinstance(event, ResearchStarted):
            records[event.research] = ResearchRecord(event)
            continue
        record = records.get(getattr(event, "research", ""))
        if record is None:
            continue
        if isinstance(event, NoiseMeasured):
            record.noise[event.content] = event
        elif isinstance(event, ExperimentProposed):
            record.experiments.append(Experiment(event, envelope.actor))
        else:
            _continue(record, event, envelope.position)
    return [record for record in records.values() if target in {"", record.started.target}]


def _continue(record: ResearchRecord, event: object, position: int) -> None:
    """Write down how an experiment ended, or that it was taken back."""
    for at, known in enumerate(record.experiments):
        if known.proposed.experiment != getattr(event, "experiment", 0):
            continue
        if isinstance(event, ExperimentEnded):
            record.experiments[at] = Experiment(known.proposed, known.actor, event, position)
        elif isinstance(event, ExperimentUndone):
            record.experiments[at] = Experiment(
                known.proposed, known.actor, known.ended, known.position, undone=True
            )


def research_record(library: Library, research: str) -> ResearchRecord | None:
    """Give what is known of one research, None before it began."""
    return next((record for record in research_records(library) if record.started.research == research), None)


def changed_lines(library: Library, proposed: ExperimentProposed) -> tuple[int, int]:
    """Count the lines that an experiment would add, and take away."""
    was = {entry.path: entry.blob for entry in proposed.before}
    added = removed = 0
    for entry in proposed.after:
        texts = ((library.log.get_blob(blob) or b"").decode() for blob in (was[entry.path], entry.blob))
        for row in line_diff(*(text.splitlines() for text in texts)):
            added += row.kind == "+"
            removed += row.kind == "-"
    return added, removed
