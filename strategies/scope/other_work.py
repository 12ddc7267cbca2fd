"""Other work: what logs hold that belongs to other skills, and which claims a skill must not make of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from events.types.claims import Claim

_ABOUT: Final = ("action", "do", "avoid")


class OtherWork(NamedTuple):
    """The actions of other skills' work; `mixed` where many episodes are of such work and of nothing else.

    Then no habit is tried that every episode could have: it would compare one kind of work with the other.
    `answered` are the errors and actions whose signals go to other skills.
    """

    actions: frozenset[str] = frozenset()
    mixed: bool = False
    answered: frozenset[str] = frozenset()

    def allows(self, claim: Claim) -> bool:
        """Tell whether a claim is about no other work, and has a moment of its own where work is mixed."""
        anchored = getattr(claim, "action", "") or getattr(claim, "template", "")
        named = {getattr(claim, name, None) for name in _ABOUT}
        return (
            self.actions.isdisjoint(named) and anchored not in self.answered and bool(anchored or not self.mixed)
        )


NO_OTHER_WORK: Final = OtherWork()
