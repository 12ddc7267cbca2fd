"""The proposer `gepa`: the released package searches variants on explore tasks, and its front goes to the gate.

A component of its candidates is a section of the skill, and its text the changes made there, as JSON: so what it
finds, and what it merges from two candidates, are changes again. Another proposer has the ideas.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

from gepa.api import optimize
from gepa.core.adapter import EvaluationBatch

from strategies.models.tasks.training_case import TrainingChange

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gepa.core.adapter import GEPAAdapter
    from gepa.core.result import GEPAResult

    from strategies.models.tasks.training_case import TrainingCase
    from strategies.train.explore_front import Variant
    from strategies.train.explore_variants import ExploreVariants

_CALLS: Final = 6
"""How often it may ask for the runs of all explore tasks in an epoch, known ones among them (a guess)."""

Attempts = EvaluationBatch[Any, str]
"""The runs of a candidate: tasks are its outputs, attempts its trajectories."""


class _Silent:
    def log(self, message: str) -> None:
        """Say nothing: the table of the training tells what came of it."""


@dataclass
class _Variants:
    """What GEPA calls its adapter: runs candidates, and has their sections changed."""

    variants: ExploreVariants
    failure: Exception | None = None

    def evaluate(self, batch: list[str], candidate: dict[str, str], capture_traces: bool = False) -> Attempts:  # noqa: FBT001, FBT002 - its signature
        """Run a candidate on tasks that it was not run on; a run that is lost counts as 0."""
        variant, front = variant_of(candidate), self.variants.front
        self.variants.run(variant, [task for task in batch if task not in front.attempts.get(variant, {})])
        ran = [front.attempts.get(variant, {}).get(task) for task in batch]
        scores = [attempt.value if attempt else 0.0 for attempt in ran]
        return EvaluationBatch(outputs=batch, scores=scores, trajectories=ran if capture_traces else None)

    def make_reflective_dataset(
        self, candidate: dict[str, str], eval_batch: Attempts, components_to_update: list[str]
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """Name the tasks whose runs are shown."""
        del candidate
        return {section: [{"task": task} for task in eval_batch.outputs] for section in components_to_update}

    def propose_new_texts(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """Take the first idea about these runs that is new and fits; the section that it begins in changes."""
        del components_to_update
        variant, front = variant_of(candidate), self.variants.front
        tasks = {record["task"] for records in reflective_dataset.values() for record in records}
        shown = [attempt for task, attempt in front.attempts.get(variant, {}).items() if task in tasks]
        try:
            ideas = self.variants.ideas(variant, shown)
        except Exception as error:  # GEPA would write it to its log and go on
            self.failure = error
            raise
        for idea in ideas:
            section = idea.edits[0].gene
            changed = _changed(candidate, section, idea)
            child = variant_of(changed)
            if section in candidate and child not in front.attempts and self.variants.fits(child):
                return {section: changed[section]}
        return {}

    def has_failed(self, gepa_state: object) -> bool:
        """Tell GEPA to stop: asking for ideas failed."""
        del gepa_state
        return self.failure is not None


def _changed(candidate: Mapping[str, str], section: str, idea: TrainingChange) -> dict[str, str]:
    known = json.loads(candidate.get(section, "[]"))
    return {**candidate, section: json.dumps([*known, idea.model_dump(mode="json")])}


def variant_of(candidate: Mapping[str, str]) -> Variant:
    """Read the changes of a candidate, in the order of its sections."""
    return tuple(
        TrainingChange.model_validate(change) for text in candidate.values() for change in json.loads(text)
    )


def propose(case: TrainingCase, variants: ExploreVariants) -> list[TrainingChange]:
    """Search with GEPA, and give the changes of the candidates on its front, those of the best one first.

    Raises: what running and asking raise.
    """
    tasks = sorted(variants.front.attempts[()])
    adapter = _Variants(variants)
    result: GEPAResult[str, int] = optimize(
        seed_candidate=dict.fromkeys(dict.fromkeys(line.gene for line in case.lines), "[]"),
        trainset=tasks,
        valset=tasks,
        adapter=cast("GEPAAdapter[str, Any, str]", adapter),  # its protocol asks for names of type parameters
        module_selector="all",
        use_merge=True,
        max_metric_calls=_CALLS * len(tasks),
        stop_callbacks=adapter.has_failed,
        logger=_Silent(),
        seed=case.seed + case.epoch,
        raise_on_exception=True,
    )
    if adapter.failure:
        raise adapter.failure
    front = {at for best in result.per_val_instance_best_candidates.values() for at in best}
    ranked = sorted(front, key=lambda at: (-result.val_aggregate_scores[at], at))
    return list(dict.fromkeys(change for at in ranked for change in variant_of(result.candidates[at])))
