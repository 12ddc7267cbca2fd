"""Where claims apply: the one moment in an episode, the next action, which decides obedience, and what is live."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.query.provenance import uncounted_claims
from registry.state.line_claims import claims_of
from strategies.episodes.action_class import covered_by, is_class, is_hand_in
from strategies.episodes.episode import MESSAGE

if TYPE_CHECKING:
    from collections.abc import Iterable

    from events.types.claims import Claim
    from registry.query.library import Library
    from registry.state.capsule import Capsule
    from registry.state.gene import Gene
    from strategies.episodes.episode import EpisodeRecord


WILDCARD: Final = "<*>"
"""What a template holds where texts differ (Drain's sign)."""


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
    for index in range(step + 1, len(steps)):  # written out, as below: `_of_one_turn` takes twice as long
        later = steps[index]
        if later.turn <= turn or later.actor != "agent" or later.kind == "note":
            continue
        if message is not None and later.turn != steps[message].turn:
            return message
        if later.kind == "call":
            return index
        message = index if message is None else message
    return message


def previous_action(record: EpisodeRecord, step: int) -> int | None:
    """Find the action that comes before a step: the last call of the last turn before it, or its message.

    The mirror of `next_action`: calls issued together with the step do not stand before it.
    """
    steps = record.steps
    message: int | None = None
    for index in range(step - 1, -1, -1):
        earlier = steps[index]
        if earlier.turn >= steps[step].turn or earlier.actor != "agent" or earlier.kind == "note":
            continue
        if message is not None and earlier.turn != steps[message].turn:
            return message
        if earlier.kind == "call":
            return index
        message = index if message is None else message
    return message


def is_preceded_by(record: EpisodeRecord, step: int, named: str) -> bool:
    """Tell whether the action before a step is of a class."""
    earlier = previous_action(record, step)
    return earlier is not None and is_class(record.steps[earlier].action, named)


def first_action(record: EpisodeRecord) -> int | None:
    """Find the first action of an episode: the first call of its first turn, or its message if it has no call."""
    return _of_one_turn(record, range(len(record.steps)))


def last_action(record: EpisodeRecord) -> int | None:
    """Find the last action of an episode: the last call of its last turn, or its message if it has no call."""
    return _of_one_turn(record, range(len(record.steps) - 1, -1, -1))


def first_use(record: EpisodeRecord, named: str) -> int | None:
    """Find the first call of a class or meaning, or of what its name covers: an index of the steps."""
    covered = covered_by(named)
    for at, step in enumerate(record.steps):
        if covered[step.action] and step.kind == "call":
            return at
    return None


def hands_in(record: EpisodeRecord, at: int) -> bool:
    """Tell whether the agent ends its episode by an action: its own end is no advice."""
    action = record.steps[at].action
    return is_hand_in(action) or (action == MESSAGE and record.ended_by == "agent" and at == last_action(record))


def _of_one_turn(record: EpisodeRecord, order: Iterable[int]) -> int | None:
    """Take the first call of the agent's turn that comes first in this order, else its first message."""
    message: int | None = None
    for index in order:
        step = record.steps[index]
        if step.actor != "agent" or step.kind == "note":
            continue
        if message is not None and step.turn != record.steps[message].turn:
            break
        if step.kind == "call":
            return index
        message = index if message is None else message
    return message


@lru_cache(maxsize=65_536)
def matches(template: str, text: str) -> bool:
    """Tell whether a text, which may be a template itself, fits a frozen template as a pattern.

    Each `<*>` matches any run of characters, so a template that a growing tree makes more general
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
        start = text.find(piece, at, end)
        if start < 0:
            return False
        at = start + len(piece)
    return True


def live_claims(capsule: Capsule) -> tuple[Claim, ...]:
    """List the live claims of a capsule, in the order of the genes and of the lines that carry them."""
    return tuple(claim for gene in capsule.genes for claim in claims_in(gene))


def counted_claims(library: Library, capsule: Capsule) -> tuple[Claim, ...]:
    """List the live claims that scores count, in the same order: none that is only seen, or fell from its tier."""
    uncounted = uncounted_claims(library, capsule)
    return tuple(claim for claim in live_claims(capsule) if claim not in uncounted)


def claims_in(gene: Gene) -> tuple[Claim, ...]:
    """List the claims of a gene as its lines come; those that no line carries any more come last."""
    carried = (claim for line in gene.lines for claim in claims_of(gene, line))
    return tuple(dict.fromkeys((*carried, *(live.claim for live in gene.claims))))
