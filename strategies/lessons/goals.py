"""Goals: which later call tries for the same thing as one that failed, though it may be another command.

A record keeps no text of an argument, but which words two calls share (`StepRecord.words`), so `python x.py` and
`python3 x.py` are known to be about the same. Records of earlier versions have no words: of them only calls of the
same class, and commands of like names, are known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.episodes.action_class import SHELL_TOOLS
from strategies.episodes.step_marks import NEAR_STEPS
from strategies.signals.survey import stopped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import EpisodeRecord, StepRecord

MOST_CALLS: Final = 10
"""Calls after a failure within which its goal is tried for again (a guess)."""
_LEAST_NAME: Final = 2


class Attempt(NamedTuple):
    """A call that tries for the goal of an earlier one that failed; both are indices of steps."""

    failed: int
    at: int


def attempts_after(record: EpisodeRecord, failed: int) -> Iterator[Attempt]:
    """Yield the attempts at the goal of a failed call, until one works or none follows in time."""
    while (at := next_attempt(record, failed)) is not None:
        yield Attempt(failed, at)
        if not record.steps[at].error:
            return
        failed = at


def next_attempt(record: EpisodeRecord, failed: int) -> int | None:
    """Find the next call of a later turn that tries for the goal of one that failed, None where none does."""
    calls, first = 0, record.steps[failed]
    for at in range(failed + 1, min(failed + 1 + NEAR_STEPS, len(record.steps))):
        step = record.steps[at]
        if step.kind != "call" or step.turn <= first.turn or stopped(step):
            continue
        if serves_same_goal(first, step):
            return at
        calls += 1
        if calls == MOST_CALLS:
            return None
    return None


def serves_same_goal(failed: StepRecord, later: StepRecord) -> bool:
    """Tell whether a later call tries for the same thing: by its class, or as another command for the same.

    What only reads does not reach the goal of what changes something.
    """
    shares = bool(later.words) and not set(failed.words).isdisjoint(later.words)
    if failed.action == later.action:
        return shares or not (failed.worded and later.worded)
    tool, _, head = failed.action.partition(":")
    other, _, other_head = later.action.partition(":")
    if head and other_head and tool == other:
        if tool.lower() not in SHELL_TOOLS:
            return False  # another verb of one language asks for something else
        name, _, sub = head.partition(" ")
        other_name, _, other_sub = other_head.partition(" ")
        if name == other_name:
            return False
        if _are_alike(name, other_name):
            return shares or sub == other_sub != "" or not (failed.worded or later.worded)
    return shares and failed.writes <= later.writes


def _are_alike(name: str, other: str) -> bool:
    """Tell whether one name is part of the other, such as `npm` of `pnpm`."""
    return min(len(name), len(other)) >= _LEAST_NAME and (name in other or other in name)
