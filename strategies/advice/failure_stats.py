"""How runs fail, measured: what advice on a skill rests on. Pure, over records, which hold no text."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from statistics import fmean
from typing import TYPE_CHECKING, Final

from events.types.judgements import FailureFigures
from strategies.episodes.episode import moment_s
from strategies.episodes.step_marks import CONTEXT_OVERFLOW, MISSING_CAPABILITY, RATE_LIMITED, TIMEOUT
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from strategies.episodes.episode import EpisodeRecord

FAILS_UNDER: Final = 0.7
"""A run fails under this outcome."""
EXAMPLE_FROM: Final = 0.8
"""From this outcome on training can use a run."""
ROUNDS: Final = 3
"""Turns of evolution after which a failure that is still there counts as one that stays."""
LEAST_TASKS: Final = 10
"""Tasks below which a share of them says little; what the gate asks for."""

_TYPE_LABELS: Final = ("task_type", "type", "category", "topic", "domain")
"""Labels that tell what type of task it is, the first that is there; else its difficulty does."""
_FAULT_MARKS: Final = frozenset([TIMEOUT, RATE_LIMITED, CONTEXT_OVERFLOW, MISSING_CAPABILITY])

_UNKNOWN: Final = re.compile(
    r"\b(?:not found|no such|no module named|unknown|undefined|unrecogni[sz]ed|unresolved|nonexistent)\b"
    r"|\b(?:does ?n[o']t|do not|did not|did ?n't) (?:exist|match any)\b"
    r"|\bnot (?:defined|recogni[sz]ed|exist|available on)\b|\bhas no (?:attribute|member|column|field)\b"
    r"|\b(?:cannot|can't|could not|couldn't|unable to) (?:find|locate|resolve)\b",
    re.IGNORECASE,
)
"""Errors that say that something the agent named is not there: it did not know what is (read off real logs)."""
_FAULT: Final = re.compile(
    r"\btraceback\b|\bsegmentation fault\b|\bcore dumped\b|\binternal (?:server )?error\b|\bpanic(?:ked)?\b"
    r"|\bconnection (?:refused|reset|aborted|timed out)\b|\bservice unavailable\b|\bbad gateway\b"
    r"|\bout of memory\b|\bno space left\b|\b(?:unhandled|uncaught) (?:exception|rejection|error)\b",
    re.IGNORECASE,
)
"""Errors that say that a tool itself broke, whatever it was asked for (read off real logs)."""


def failure_figures(
    records: Sequence[EpisodeRecord], skill: str = "", turns_s: Sequence[float] = (), *, corpus: bool | None = None
) -> FailureFigures:
    """Measure how runs failed; those without an outcome that the world gave are left out.

    Shapes: `turns_s` are the times of the turns of evolution so far (seconds since 1970), oldest first. With a
    skill `despite_skill` is about that one, else about any; `corpus` tells whether it has knowledge.
    """
    known = [(record, outcome) for record in records if (outcome := truth(record)) is not None]
    failed = [record for record, outcome in known if outcome < FAILS_UNDER]
    good = [record for record, outcome in known if outcome >= FAILS_UNDER]
    repeated, persistent = _persistent(known, turns_s)
    type_name, one_type = _one_type([record for record, _ in known], failed)
    return FailureFigures(
        runs=len(known),
        failed=len(failed),
        mean=fmean(outcome for _, outcome in known) if known else 0.0,
        persistent=persistent,
        rounds=len(turns_s),
        repeated=repeated,
        despite_skill=_despite_skill([record for record, _ in known], failed, skill),
        knowledge_gap=_share(map(_met_unknown, failed)),
        good_knowledge_gap=_share(map(_met_unknown, good)),
        tool_faults=_share(map(_met_fault, failed)),
        good_tool_faults=_share(map(_met_fault, good)),
        one_type=one_type,
        good_one_type=_share(type_of(record) == type_name for record in good) if type_name else None,
        type_name=type_name,
        examples=sum(outcome >= EXAMPLE_FROM for _, outcome in known),
        corpus=corpus,
    )


def type_of(record: EpisodeRecord) -> str:
    """Tell the type of an episode's task, "" where its log tells none."""
    return next((record.labels[name] for name in _TYPE_LABELS if record.labels.get(name)), record.difficulty)


def used(record: EpisodeRecord, skill: str) -> bool:
    """Tell whether an episode shows that a skill was used; any skill, where none is named."""
    return any(name == skill for name, _ in record.skills) if skill else bool(record.skills)


def _share(holds: Iterable[bool]) -> float | None:
    answers = list(holds)
    return fmean(answers) if answers else None


def _despite_skill(known: Sequence[EpisodeRecord], failed: Sequence[EpisodeRecord], skill: str) -> float | None:
    """Give the share of failures in which the skill was used; None where no log tells of any use."""
    return (
        _share(used(record, skill) for record in failed) if any(used(record, skill) for record in known) else None
    )


def _met_unknown(record: EpisodeRecord) -> bool:
    return any(step.error and _UNKNOWN.search(step.template) for step in record.steps)


def _met_fault(record: EpisodeRecord) -> bool:
    return any(
        not _FAULT_MARKS.isdisjoint(step.marks) or (step.error and _FAULT.search(step.template))
        for step in record.steps
    )


def _one_type(known: Sequence[EpisodeRecord], failed: Sequence[EpisodeRecord]) -> tuple[str, float | None]:
    """Name the type of task that fails most, with its share of failures; none where all tasks are of one type."""
    if len({type_of(record) for record in known}) < 2:  # noqa: PLR2004 - one type tells nothing apart
        return "", None
    types = Counter(type_of(record) for record in failed if type_of(record))
    if not types:
        return "", None
    name = min(types, key=lambda type_name: (-types[type_name], type_name))
    return name, types[name] / len(failed)


def _persistent(
    known: Sequence[tuple[EpisodeRecord, float]], turns_s: Sequence[float]
) -> tuple[int, float | None]:
    """Count the tasks that failed before the last three turns and were run after them; tell how many still fail.

    None where there were fewer turns, or fewer than ten such tasks.
    """
    if len(turns_s) < ROUNDS:
        return 0, None
    before, after = defaultdict[str, list[float]](list), defaultdict[str, list[float]](list)
    for record, outcome in known:
        began_s = moment_s(record.started_at)
        if began_s is not None and began_s < turns_s[-ROUNDS]:
            before[record.task].append(outcome)
        elif began_s is not None and began_s > turns_s[-1]:
            after[record.task].append(outcome)
    again = [task for task, outcomes in before.items() if fmean(outcomes) < FAILS_UNDER and task in after]
    still = sum(fmean(after[task]) < FAILS_UNDER for task in again)
    return len(again), still / len(again) if len(again) >= LEAST_TASKS else None
