"""Harden: what not to go on doing, what to do before an action, and what to do before finishing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import After, Before, FinishWith
from strategies.propose.mine_claims import action_classes, classes_before, last_classes, mine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord
    from strategies.propose.proposal import Mined, ProposalRequest

CALLS: Final = (1, 2, 3)
"""After how many calls of a class a guard may stand (a guess: later ones seldom fill both arms)."""
FAILURES: Final = (1, 2)
"""After how many failing, or identical, calls a guard may stand (the same)."""


def guard(ask: ProposalRequest) -> Mined:
    """Fit `after`, `before` and `finish_with` around the action that the signal is about.

    A signal that names a tool is about each of its classes; one that names no action at all about every class.
    What not to do after any failure is more general than what to do after one error: guards come first.
    """
    return mine("guard", ask, guard_claims(ask.signal.action, ask.explore.records), general=True)


def guard_claims(about: str, records: Sequence[EpisodeRecord]) -> Iterator[Claim]:
    """List what a guard could ask for around an action class, a tool, or ("") any action at all."""
    called = action_classes(records)
    named = [action for action in called if about in {action, action.partition(":")[0]}]
    actions = named if about else called
    for action in actions:
        for k in FAILURES:
            yield After(action=action, k=k, failing=True, avoid=action)
            yield After(action=action, k=k, identical=True, avoid=action)
        for k in CALLS:
            yield After(action=action, k=k, avoid=action)
    for action, do in classes_before(records, actions):
        yield Before(action=action, do=do)
    for do in last_classes(records):
        yield FinishWith(do=do)
