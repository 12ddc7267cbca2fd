"""Pairs: what to do and what to avoid after one error, which are one question (domain.md, Claims)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.claims import AfterError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.claims import Claim


def questions(claims: Sequence[Claim]) -> tuple[tuple[int, ...], ...]:
    """Divide claims, by their index, into questions: each is one claim, or a pair with what to do first."""
    behind: dict[int, int] = {}
    for avoid, other in enumerate(claims):
        for do, one in enumerate(claims):
            if _is_pair(one, other):
                behind.setdefault(avoid, do)
    return tuple(
        (at, *(avoid for avoid, do in behind.items() if do == at)) for at in range(len(claims)) if at not in behind
    )


def _is_pair(one: Claim, other: Claim) -> bool:
    if not isinstance(one, AfterError) or not isinstance(other, AfterError) or one.template != other.template:
        return False
    return one.do is not None and other.do is None
