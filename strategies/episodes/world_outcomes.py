"""Outcomes from the world: what the marks of an episode hint at, where nobody says how it ended.

None of it is a label. Each source is kept apart, says 1, 0 or nothing, and is only as good as its agreement with
labels, which `germline signals --quality` measures.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode import EpisodeOutcome, WorldSource, in_time, moment_s
from strategies.episodes.step_marks import (
    BUILD_FAILED,
    BUILD_PASSED,
    COMMITTED,
    CORRECTION,
    EDIT,
    PERMISSION_DENIED,
    REPEATED,
    REVERT,
    TESTS_FAILED,
    TESTS_PASSED,
    THANKED,
    USER_INTERRUPT,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    from strategies.episodes.episode import EpisodeRecord, StepRecord

REPEATED_WITHIN_S: Final = 24 * 3600.0
"""Within which time the next session must put the same request again (a guess)."""
MOST_REPEATS: Final = 3
"""Sessions of one request in one folder: more are a schedule or a benchmark, not a person (a guess)."""

_PASSED: Final = frozenset([TESTS_PASSED, BUILD_PASSED])
_FAILED: Final = frozenset([TESTS_FAILED, BUILD_FAILED])
_CHANGED: Final = frozenset([EDIT, REVERT])
_STOPPED: Final = frozenset([USER_INTERRUPT, PERMISSION_DENIED])

World = dict[WorldSource, float]
"""What each source that speaks says of one episode: 1 succeeded, 0 failed."""


def world_outcomes(
    records: Sequence[EpisodeRecord], recorded: Mapping[str, Mapping[WorldSource, float]]
) -> dict[str, World]:
    """Give what the world says of each episode of which it says anything, by id.

    Shapes: `recorded` is what was looked up elsewhere, as in git, by episode.
    """
    again = _asked_again(records)
    hints = {
        record.id: _hints_of(record, asked_again=record.id in again) | dict(recorded.get(record.id, {}))
        for record in records
    }
    return {episode: world for episode, world in hints.items() if world}


def with_world(
    records: Sequence[EpisodeRecord], world: Mapping[str, World], sources: Sequence[WorldSource]
) -> list[EpisodeRecord]:
    """Give episodes without an outcome that of the first of these sources that speaks; what is known stays."""

    def mixed(record: EpisodeRecord) -> EpisodeRecord:
        hints = world.get(record.id, {})
        source = next((source for source in sources if source in hints), None)
        if record.outcome is not None or source is None:
            return record
        return msgspec.structs.replace(record, outcome=EpisodeOutcome(hints[source], source))

    return [mixed(record) for record in records]


def commits_of(record: EpisodeRecord) -> tuple[str, ...]:
    """Give the commits that an episode made, as git abbreviates them, each once."""
    marks = (mark for step in record.steps for mark in step.marks if mark.startswith(COMMITTED))
    return tuple(dict.fromkeys(mark.removeprefix(COMMITTED) for mark in marks))


def broken_off_at(record: EpisodeRecord) -> int | None:
    """Find the failing call, or the person's word without an answer, that an episode ends with."""
    for place in range(len(record.steps) - 1, -1, -1):
        step = record.steps[place]
        if step.kind == "note":
            continue
        fails = step.kind == "call" and step.error and _STOPPED.isdisjoint(step.marks)
        unanswered = step.actor == "user" and THANKED not in step.marks and record.ended_by == "unknown"
        return place if fails or unanswered else None
    return None


def _hints_of(record: EpisodeRecord, *, asked_again: bool) -> World:
    hints: World = {}
    check, word = _last_check(record.steps), _last_word(record.steps)
    if check is not None:
        hints["last_check"] = check
    if word is not None:
        hints["last_word"] = word
    if asked_again or any(REPEATED in step.marks for step in record.steps):
        hints["repeated_request"] = 0.0
    if _interrupted(record.steps):
        hints["interrupted"] = 0.0
    if broken_off_at(record) is not None:
        hints["abandoned"] = 0.0
    return hints


def _last_check(steps: Iterable[StepRecord]) -> float | None:
    """Tell how the last tests or build ended; a change after them, or a run that broke off, leaves it open."""
    known, action = None, ""
    for step in steps:
        if not _FAILED.isdisjoint(step.marks):
            known, action = 0.0, step.action
        elif not _PASSED.isdisjoint(step.marks):
            known, action = 1.0, step.action
        elif not _CHANGED.isdisjoint(step.marks) or (step.error and step.action == action):
            known = None
    return known


def _last_word(steps: Sequence[StepRecord]) -> float | None:
    """Tell whether the person's last word is thanks or a complaint, unless the agent changed things after it."""
    for place in range(len(steps) - 1, 0, -1):
        step = steps[place]
        if step.actor == "agent" and (step.writes or not _CHANGED.isdisjoint(step.marks)):
            return None
        if step.actor == "user" and step.kind == "message":
            return 0.0 if CORRECTION in step.marks else 1.0 if THANKED in step.marks else None
    return None


def _interrupted(steps: Sequence[StepRecord]) -> bool:
    """Tell whether a person stopped the agent, which then did nothing more."""
    for step in reversed(steps):
        if USER_INTERRUPT in step.marks:
            return True
        if step.actor == "agent":
            return False
    return False


def _asked_again(records: Iterable[EpisodeRecord]) -> Collection[str]:
    """Find the episodes whose request is the first of the next session in the same folder, soon after."""
    folders: dict[str, list[EpisodeRecord]] = defaultdict(list)
    for record in records:
        if record.prompt_key and record.source and moment_s(record.started_at) is not None:
            folders[record.source.rpartition("/")[0]].append(record)
    again: set[str] = set()
    for members in folders.values():
        times: dict[str, int] = defaultdict(int)
        for record in members:
            times[record.prompt_key] += 1
        ordered = in_time(members)
        again.update(
            earlier.id
            for earlier, later in pairwise(ordered)
            if earlier.prompt_key == later.prompt_key
            and times[earlier.prompt_key] <= MOST_REPEATS
            and _session(earlier) != _session(later)
            and (moment_s(later.started_at) or 0.0) - (moment_s(earlier.started_at) or 0.0) <= REPEATED_WITHIN_S
        )
    return again


def _session(record: EpisodeRecord) -> str:
    """Name the session that an episode is of: a sub-agent's begins with that of its session."""
    return record.name.partition("/")[0]
