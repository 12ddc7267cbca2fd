"""Innovate: the habits of successful runs: how they begin, what they do before an action, how they answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.types.claims import Before, OutputClaim, StartWith
from strategies.episodes.answer_forms import FORMS
from strategies.propose.mine_claims import action_classes, classes_before, first_classes, mine

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord
    from strategies.propose.proposal import Mined, ProposalRequest


def habit(ask: ProposalRequest) -> Mined:
    """Fit `start_with`, `before` and `output` over all of explore: a habit belongs to no one action."""
    return mine("habit", ask, habit_claims(ask.explore.records))


def habit_claims(records: Sequence[EpisodeRecord]) -> Iterator[Claim]:
    """List the habits that could be asked for in these logs."""
    for do in first_classes(records):
        yield StartWith(do=do)
    for action, do in classes_before(records, action_classes(records)):
        yield Before(action=action, do=do)
    for form in FORMS[:-1]:  # every answer is text
        yield OutputClaim(pattern=form)
