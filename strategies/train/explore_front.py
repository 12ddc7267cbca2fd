"""The front of a population: which variant is best at which task and layer of grading, on explore tasks alone."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from strategies.models.tasks.training_case import TaskAttempt, TrainingChange

Variant = tuple["TrainingChange", ...]
"""A variant of the live version by its changes; the live version itself has none."""

_MOST_NAMED: Final = 3


class FrontCell(NamedTuple):
    """One place of the front: a task with one layer of its grading, "" for the run as a whole."""

    task: str
    layer: str


@dataclass
class ExploreFront:
    """What each variant was worth where it was run, beside the live version."""

    attempts: dict[Variant, dict[str, TaskAttempt]] = field(default_factory=dict)

    def add(self, variant: Variant, attempts: Iterable[TaskAttempt]) -> None:
        """Take in what a variant did."""
        self.attempts.setdefault(variant, {}).update({attempt.task: attempt for attempt in attempts})

    def gain(self, variant: Variant, parent: Variant = ()) -> float:
        """Sum how much better a variant did than its parent, over the tasks that both were run on."""
        mine, others = self.attempts.get(variant, {}), self.attempts.get(parent, {})
        return sum(mine[task].value - others[task].value for task in mine.keys() & others.keys())

    def led(self) -> dict[FrontCell, list[Variant]]:
        """Give the places where variants are better than the live version, each with those that are best there."""
        cells = {
            FrontCell(task, layer)
            for ran in self.attempts.values()
            for task, attempt in ran.items()
            if not attempt.passed
            for layer in ("", *(failed.name for failed in attempt.failed_layers))
        }
        best = {cell: self._best_at(cell) for cell in sorted(cells)}
        return {cell: variants for cell, variants in best.items() if () not in variants}

    def _best_at(self, cell: FrontCell) -> list[Variant]:
        values = {
            variant: _value(ran[cell.task], cell.layer)
            for variant, ran in self.attempts.items()
            if cell.task in ran
        }
        return [variant for variant, value in values.items() if value == max(values.values())]

    def standing(self, variant: Variant) -> str:
        """Say where a variant is best, "" for one that was never run."""
        ran = self.attempts.get(variant)
        if not ran:
            return ""
        best = sorted({cell.task for cell, variants in self.led().items() if variant in variants})
        named = f" ({', '.join(best[:_MOST_NAMED])}{', …' if len(best) > _MOST_NAMED else ''})" if best else ""
        return (
            f"{self.gain(variant):+.2g} over {len(ran)} explore runs, in front of {len(self.attempts)} variants "
            f"on {len(best)} tasks{named}"
        )


def _value(attempt: TaskAttempt, layer: str) -> float:
    """Give what a run is worth at a layer: one that is not among those it failed was passed."""
    failed = {known.name: known.value for known in attempt.failed_layers}
    return failed.get(layer, 1.0) if layer and attempt.failed_layers else attempt.value
