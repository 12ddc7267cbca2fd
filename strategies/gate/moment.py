"""The one moment at which a claim applies to an episode, and the very next action, which decides obedience."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from strategies.logs.episode import EpisodeRecord

WILDCARD: Final = "<*>"
"""What a template holds where texts differ (Drain's sign, logs_and_signals.md)."""


class Moment(NamedTuple):
    """Where a claim applies within an episode (an index of its steps), and whether it was obeyed there."""

    step: int
    obeyed: bool


def next_action(record: EpisodeRecord, step: int) -> int | None:
    """Find the action that follows a step: the first call of a later turn, or its message if it has no call.

    Notes never count, nor does what a user or the environment says. Answers with an index of the steps.
    """
    steps = record.steps
    turn = steps[step].turn
    message: int | None = None
    for index in range(step + 1, len(steps)):
        later = steps[index]
        if later.turn <= turn or later.actor != "agent" or later.kind == "note":
            continue
        if message is not None and later.turn != steps[message].turn:
            return message
        if later.kind == "call":
            return index
        message = index if message is None else message
    return message


@lru_cache(maxsize=65_536)
def matches(template: str, text: str) -> bool:
    """Tell whether a text, which may be a template itself, fits a frozen template as a pattern.

    Each `<*>` stands for any run of characters, so a template that a growing tree makes more general
    still means what it meant. Linear: the pieces between wildcards are found one after the other.
    """
    first, *rest = template.split(WILDCARD)
    if not rest:
        return template == text
    *middle, last = rest
    end = len(text) - len(last)
    at = len(first)
    if at > end or not text.startswith(first) or not text.endswith(last):
        return False
    for piece in middle:
        found = text.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True
