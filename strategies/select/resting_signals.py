"""Resting: how long a signal waits after turns that came to nothing."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class Past(Protocol):
    """An earlier turn on a signal, as `CycleFinished` describes it."""

    @property
    def fingerprint(self) -> str:
        """The signal it was about."""
        ...

    @property
    def verdict(self) -> str:
        """What became of it."""
        ...


PATIENCE: Final = 2
"""Turns in a row without a promotion from which a signal cools down (a guess)."""
LONGEST_REST: Final = 64
"""Turns of others after which even the most hopeless signal gets another chance (a guess)."""


def failures_of(history: Sequence[Past], fingerprint: str) -> int:
    """Count the turns on a signal since its last promotion."""
    own = (past.verdict for past in reversed(history) if past.fingerprint == fingerprint)
    return sum(1 for _ in takewhile(lambda verdict: verdict != "promote", own))


def rest_of(history: Sequence[Past], fingerprint: str) -> int:
    """Tell how many turns a signal still rests: 0 where it may be picked.

    It rests for 2 to the power of its turns in a row without a promotion, once there were two of them: per
    fingerprint, never per kind, so a noisy signal does not hide a new one.
    """
    failures = failures_of(history, fingerprint)
    if failures < PATIENCE:
        return 0
    last = max(place for place, past in enumerate(history) if past.fingerprint == fingerprint)
    since = len(history) - 1 - last
    return max(min(1 << failures, LONGEST_REST) - since, 0)
