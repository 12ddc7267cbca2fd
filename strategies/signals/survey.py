"""One pass over the records, shared by all detectors: what each of them looks at, and nothing twice."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.episodes.episode import WORLD_SOURCES
from strategies.episodes.step_marks import PERMISSION_DENIED, USER_INTERRUPT

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strategies.episodes.episode import EpisodeRecord, StepRecord
    from strategies.signals.wishes import Wish


class StepAt(NamedTuple):
    """A step in its episode; `place` is its index there."""

    record: EpisodeRecord
    place: int
    step: StepRecord


NO_LABELS: Final = frozenset(["heuristic", *WORLD_SOURCES])
"""Sources of outcomes that are no labels."""

Call = tuple["EpisodeRecord", int, "StepRecord"]
"""A call in its episode: what `StepAt` is, as a plain tuple, which is made in a third of the time."""


@dataclass(frozen=True, kw_only=True)
class Survey:
    """What one pass found.

    `calls` holds the calls under their action class. `errors` are the failing steps, but for those that a person
    stopped or did not allow: these are no failures of a tool. `marked` holds the steps under each mark,
    `repeating` the episodes in which a call comes again. `lineages` tells, of skills in a registry, the versions
    that the live one comes from, oldest first, those that say the same together. `wishes` are what a person
    asks for in several sessions.
    """

    records: Sequence[EpisodeRecord]
    lineages: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    wishes: Sequence[Wish] = ()
    calls: dict[str, list[Call]] = field(default_factory=lambda: defaultdict(list))
    errors: list[StepAt] = field(default_factory=list)
    marked: dict[str, list[StepAt]] = field(default_factory=lambda: defaultdict(list))
    repeating: list[EpisodeRecord] = field(default_factory=list)


def survey_of(
    records: Sequence[EpisodeRecord],
    lineages: Mapping[str, Sequence[Sequence[str]]] | None = None,
    wishes: Sequence[Wish] = (),
) -> Survey:
    """Survey records; linear in their steps."""
    survey = Survey(records=records, lineages=lineages or {}, wishes=wishes)
    calls = survey.calls
    for record in records:
        repeats = False
        for place, step in enumerate(record.steps):
            if step.kind == "call":
                calls[step.action].append((record, place, step))
                if step.same_call != place:
                    repeats = True
            for mark in step.marks:
                survey.marked[mark].append(StepAt(record, place, step))
            if step.error and not stopped(step):
                survey.errors.append(StepAt(record, place, step))
        if repeats:
            survey.repeating.append(record)
    return survey


def stopped(step: StepRecord) -> bool:
    """Tell whether a person stopped the step or did not allow it."""
    return USER_INTERRUPT in step.marks or PERMISSION_DENIED in step.marks


def truth(record: EpisodeRecord) -> float | None:
    """Give the label of an episode, None where it has none, or only what signals or the world hint at."""
    outcome = record.outcome
    return None if outcome is None or outcome.source in NO_LABELS else outcome.value


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
