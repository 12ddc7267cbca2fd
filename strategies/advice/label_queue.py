"""Labels that would decide most: sessions without an outcome, those first that held candidates wait for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.episodes.episode import moment_s
from strategies.gate.replay.exposure import moments_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord, WorldSource
    from strategies.episodes.world_outcomes import World

_SCARCE: Final = 2
"""What a session counts for a candidate on the side of which fewer have a label; on the other it counts once."""


class HeldClaim(NamedTuple):
    """A claim that waits for labels: the candidate that makes it, and its skill."""

    candidate: str
    skill: str
    claim: Claim


class LabelWish(NamedTuple):
    """A session whose label would decide something: for which held claims, and which hints on it disagree.

    Whether it obeyed a claim is left out: who labels it must not know.
    """

    record: EpisodeRecord
    weight: int
    claims: tuple[HeldClaim, ...]
    disagreeing: tuple[WorldSource, ...]


def label_queue(
    records: Sequence[EpisodeRecord],
    sealed: Iterable[EpisodeRecord],
    held: Sequence[HeldClaim],
    world: Mapping[str, World],
) -> list[LabelWish]:
    """List sessions without a label of which one would decide something, those first that would decide most.

    Shapes: `sealed` are those of the records that the gate decides on, `world` what hints at their ends. Of equal
    ones the newest come first.
    """
    deciding = {record.id for record in sealed}
    counting = _counting([record for record in records if record.id in deciding], held)
    wishes = []
    for record in records:
        if record.outcome is not None and record.outcome.source != "heuristic":
            continue
        hints = world.get(record.id, {})
        disagreeing = tuple(hints) if len({value >= 0.5 for value in hints.values()}) > 1 else ()  # noqa: PLR2004 - half
        claims = counting.get(record.id, {})
        weight = sum(claims.values()) + bool(disagreeing)
        if weight:
            wishes.append(LabelWish(record, weight, tuple(claims), disagreeing))
    return sorted(
        wishes, key=lambda wish: (-wish.weight, -(moment_s(wish.record.started_at) or 0.0), wish.record.id)
    )


def _counting(records: Sequence[EpisodeRecord], held: Sequence[HeldClaim]) -> dict[str, dict[HeldClaim, int]]:
    """Tell for which held claims each session counts, and how much."""
    counting: dict[str, dict[HeldClaim, int]] = {}
    for waiting in held:
        moment_of = moments_of(waiting.claim)
        met = [(record, moment.obeyed) for record in records if (moment := moment_of(record)) is not None]
        labelled = Counter(obeyed for record, obeyed in met if record.outcome is not None)
        for record, obeyed in met:
            scarce = labelled[obeyed] < labelled[not obeyed]
            counting.setdefault(record.id, {})[waiting] = _SCARCE if scarce else 1
    return counting
