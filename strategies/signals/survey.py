"""One pass over the records, shared by all detectors: what each of them looks at, and nothing twice."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from strategies.logs.marks import PERMISSION_DENIED, USER_INTERRUPT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.logs.episode import EpisodeRecord, StepRecord


class At(NamedTuple):
    """A step in its episode; `place` is its index there."""

    record: EpisodeRecord
    place: int
    step: StepRecord


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What one pass found.

    `calls` counts the calls of each action class. `errors` are the failing steps, but for those that a person
    stopped or did not allow: these are no failures of a tool. `marked` holds the steps under each mark,
    `timed` the calls with a duration under their class, `repeating` the episodes in which a call comes again.
    """

    records: Sequence[EpisodeRecord]
    calls: Counter[str] = field(default_factory=Counter)
    errors: list[At] = field(default_factory=list)
    marked: dict[str, list[At]] = field(default_factory=lambda: defaultdict(list))
    timed: dict[str, list[At]] = field(default_factory=lambda: defaultdict(list))
    repeating: list[EpisodeRecord] = field(default_factory=list)


def survey_of(records: Sequence[EpisodeRecord]) -> Survey:
    """Survey records; linear in their steps."""
    survey = Survey(records=records)
    actions: list[str] = []
    for record in records:
        repeats = False
        for place, step in enumerate(record.steps):
            if step.kind == "call":
                actions.append(step.action)
                repeats = repeats or step.same_call != place
                if step.duration_ms is not None:
                    survey.timed[step.action].append(At(record, place, step))
            if step.marks:
                for mark in step.marks:
                    survey.marked[mark].append(At(record, place, step))
            if step.error and not (step.marks and stopped(step)):
                survey.errors.append(At(record, place, step))
        if repeats:
            survey.repeating.append(record)
    survey.calls.update(actions)
    return survey


def stopped(step: StepRecord) -> bool:
    """Tell whether a person stopped the step or did not allow it."""
    return USER_INTERRUPT in step.marks or PERMISSION_DENIED in step.marks


def truth(record: EpisodeRecord) -> float | None:
    """Give the outcome of an episode, None where it has none or one that is itself guessed from signals."""
    outcome = record.outcome
    return None if outcome is None or outcome.source == "heuristic" else outcome.value


def lost(record: EpisodeRecord) -> bool:
    """Tell whether an episode failed; a win is an outcome of 1, as in records.py."""
    value = truth(record)
    return value is not None and value < 1


def episodes_with(survey: Survey, mark: str) -> list[EpisodeRecord]:
    """Give the episodes with a step under this mark, each once."""
    return list({at.record.id: at.record for at in survey.marked.get(mark, ())}.values())


def last_call(record: EpisodeRecord, before: int | None = None) -> str:
    """Give the action class of the last call (before a place), "" where there is none."""
    return next((step.action for step in reversed(record.steps[:before]) if step.kind == "call"), "")
