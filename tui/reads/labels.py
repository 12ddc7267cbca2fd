"""Labels that people give: the queue of sessions that wait for one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.advice.label_queue import HeldClaim, label_queue
from strategies.pool.known_episodes import all_episodes, split_groups, world_of
from strategies.pool.splits import divide
from tui.text.numbers import count

if TYPE_CHECKING:
    from registry.query.library import Library
    from strategies.advice.label_queue import LabelWish
    from strategies.episodes.episode import EpisodeRecord


def read_label_queue(library: Library) -> list[LabelWish]:
    """List the sessions of which one label would decide most, by what the registry holds now."""
    records = all_episodes(library)
    sealed = divide(records, split_groups(library), library.about().split_key).sealed
    held = [
        HeldClaim(candidate.id, candidate.proposed.capsule, claim)
        for candidate in library.held()
        for claim in (*candidate.proposed.claims[:1], *candidate.proposed.removes[:1])
    ]
    return label_queue(records, sealed, held, world_of(library, records))


def wish_words(wish: LabelWish) -> str:
    """Say what a label on a session would decide."""
    skills = dict.fromkeys(held.skill for held in wish.claims)
    candidates = len({held.candidate for held in wish.claims})
    parts = [f"{count(candidates, 'held candidate')} of {', '.join(skills)}"] if candidates else []
    if wish.disagreeing:
        parts.append(f"{', '.join(wish.disagreeing)} disagree")
    return "; ".join(parts)


def says(record: EpisodeRecord, value: float, source: str) -> bool:
    """Tell whether an episode is known to have ended so, by the word of this source."""
    known = record.outcome
    return known is not None and (known.value, known.source) == (value, source)
