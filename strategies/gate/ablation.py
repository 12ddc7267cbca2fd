"""Bundles: which of a candidate's edits carry its gain, and which only ride along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.types.runs import Attribution
from events.types.score import Delta
from strategies.engines.share import HERE
from strategies.gate.aimed_rule import AIM_STAKES
from strategies.gate.replay.score import compare
from strategies.gate.rollout_rule import e_value, figures_of, run_pairs
from strategies.policy.written_rules import ROLLOUT_RULE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from events.types.claims import Claim
    from strategies.engines.share import Sharing
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.rollout_rule import Pairs
    from strategies.policy.written_rules import RolloutPolicy

MOST_ONE_BY_ONE: Final = 8
"""Edits up to which each is left out by itself, which tells what it brings as well (a guess)."""


@dataclass(frozen=True)
class ClaimPosition:
    """Where a candidate's claims come to stand among the live ones: their index, in gene order."""

    live: tuple[Claim, ...]
    at: int

    def with_claims(self, claims: Sequence[Claim]) -> tuple[Claim, ...]:
        """List the claims of the version that has these as well."""
        return (*self.live[: self.at], *claims, *self.live[self.at :])


def ablate(
    claims: Sequence[Sequence[Claim]],
    place: ClaimPosition,
    sealed: Sequence[EpisodeRecord],
    *,
    seed: int,
    sharing: Sharing = HERE,
) -> tuple[Attribution, ...]:
    """Attribute a gain on replay: each edit is what the whole loses without it.

    Shapes: claims of each edit, in the order of the edits; sealed are the episodes that the gate reads.
    An edit is a passenger unless the lower bound of its delta is above 0, which is what the gate asks of a whole.
    """
    every = [claim for mine in claims for claim in mine]
    attributions = []
    for edit, _ in enumerate(claims):
        rest = [claim for other, mine in enumerate(claims) if other != edit for claim in mine]
        both = compare(sealed, place.with_claims(rest), place.with_claims(every), seed=seed, sharing=sharing)
        delta = Delta(value=both.delta.value, low=both.delta.low, high=both.delta.high, tasks=both.tasks)
        attributions.append(Attribution(edit=edit, delta=delta, passenger=delta.low <= 0))
    return tuple(attributions)


def carrying(edits: int, keeps: Callable[[frozenset[int]], bool]) -> frozenset[int]:
    """Find edits that carry the whole gain: those that are missed one by one, if they are enough together.

    Where they are not, because some stand in for each other, or where there are many, halving finds them. Shapes:
    as for `carriers`.
    """
    every = frozenset(range(edits))
    if edits > MOST_ONE_BY_ONE:
        return carriers(edits, keeps)
    missed = frozenset(edit for edit in every if not keeps(every - {edit}))
    return missed if missed == every or (missed and keeps(missed)) else carriers(edits, keeps)


def carriers(edits: int, keeps: Callable[[frozenset[int]], bool]) -> frozenset[int]:
    """Find edits that carry the whole gain, by halving: none of them can go on its own.

    Shapes: edits are counted from 0; `keeps` tells whether these alone keep the gain of all; all of them do, and
    none of them does not. It is asked about log2 of the edits where one carries the gain.
    Source: delta debugging, Zeller & Hildebrandt 2002.
    """
    return _needed(tuple(range(edits)), frozenset(), keeps)


def _needed(
    part: tuple[int, ...], beside: frozenset[int], keeps: Callable[[frozenset[int]], bool]
) -> frozenset[int]:
    """Shrink `part` as far as it goes, with what is `beside` it in place."""
    if len(part) == 1:
        return frozenset(part)
    half = len(part) // 2
    left, right = part[:half], part[half:]
    for side in (left, right):
        if keeps(beside | frozenset(side)):
            return _needed(side, beside, keeps)
    kept = _needed(left, beside | frozenset(right), keeps)
    return kept | _needed(right, beside | kept, keeps)


def is_lost(pairs: Pairs, rounds: int, policy: RolloutPolicy = ROLLOUT_RULE) -> bool:
    """Tell whether something is lost: whole minus part is shown to be above 0, for these tasks.

    What rides along is taken for a loss once in ten times at most. Shapes: pairs holds, for each task, whole minus
    part of each round (see `rollout_rule.look`).
    """
    flat = [pair for task in run_pairs(pairs, rounds) for pair in task]
    return e_value(flat, AIM_STAKES) >= policy.least_e and figures_of(pairs, rounds).difference > 0


def attributed(edit: int, pairs: Pairs, rounds: int) -> Attribution:
    """Attribute a gain on runs: the whole minus the whole without this edit, paired by task and round."""
    figures = figures_of(pairs, rounds)
    delta = Delta(value=figures.difference, low=figures.low, high=figures.high, tasks=figures.tasks)
    return Attribution(edit=edit, delta=delta, passenger=False)
