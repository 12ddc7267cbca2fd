"""Harden: what not to go on doing and what to do instead, what to do before an action, and before finishing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.claims import (
    ANY,
    CHANGE,
    CHECK,
    HAND_IN,
    LOOK,
    After,
    AfterCall,
    AnytimeBefore,
    Before,
    FinishWith,
)
from strategies.episodes.action_class import is_class
from strategies.propose.advice import coarser
from strategies.propose.mine_claims import (
    action_classes,
    classes_after_failing,
    classes_before,
    classes_earlier,
    last_classes,
    mine,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord
    from strategies.propose.proposal import Mined, ProposalRequest

FAILURES: Final = (1, 2)
"""After how many failing, or identical, calls a guard may stand (a guess: later ones seldom fill both arms)."""


def guard(ask: ProposalRequest) -> Mined:
    """Fit claims about what comes after and before the action that the signal is about, and before the end.

    A signal that names a tool is about each of its classes; one that names no action at all about every class.
    What not to do after any failure is more general than what to do after one error: guards come first.
    """
    about, explore = ask.signal.action, ask.explore
    claims = explore.once(("guard", about), lambda: tuple(guard_claims(about, explore.records)))
    return mine("guard", ask, claims, general=True)


def guard_claims(about: str, records: Sequence[EpisodeRecord]) -> Iterator[Claim]:
    """List what a guard could ask for around an action class, a tool, or ("") any action at all."""
    called = action_classes(records)
    named = [action for action in called if about in {action, action.partition(":")[0]}]
    actions = named if about else called
    for action in actions:
        for k in FAILURES:
            yield After(action=action, k=k, failing=True, avoid=action)
            yield After(action=action, k=k, identical=True, avoid=action)
            yield After(action=action, k=k, failing=True, identical=True, avoid=action)
    yield from (After(action=ANY, failing=failing, identical=True, avoid=ANY) for failing in (True, False))
    yield from (
        AfterCall(action=action, failing=True, do=do) for action, do in classes_after_failing(records, actions)
    )
    yield from (Before(action=action, do=do) for action, do in classes_before(records, actions))
    yield from (
        AnytimeBefore(action=action, do=do) for action, do in classes_earlier(records, named if about else ())
    )
    checks = {action for action in called if is_class(action, CHECK)}
    yield from (FinishWith(do=do) for do in last_classes(records))
    for do in (*sorted(checks), *coarser(checks)):
        yield AnytimeBefore(action=HAND_IN, do=do)
        yield AfterCall(action=CHANGE, do=do)
    if LOOK in coarser(called):
        yield AnytimeBefore(action=HAND_IN, do=LOOK)
