"""Innovate: the habits of successful runs: how they begin, what they do before an action, how they answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.claims import Before, Output, StartWith
from strategies.logs.answer_forms import FORMS
from strategies.proposers.mining import mine
from strategies.proposers.sequences import action_classes, classes_before, first_classes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.claims import Claim
    from strategies.logs.episode import EpisodeRecord
    from strategies.proposers.proposal import Ask, Mined


def habit(ask: Ask) -> Mined:
    """Fit `start_with`, `before` and `output` over all of explore: a habit belongs to no one action."""
    return mine("habit", ask, habit_claims(ask.explore.records))


def habit_claims(records: Sequence[EpisodeRecord]) -> Iterator[Claim]:
    """List the habits that could be asked for in these logs."""
    for do in first_classes(records):
        yield StartWith(do=do)
    for action, do in classes_before(records, action_classes(records)):
        yield Before(action=action, do=do)
    for form in FORMS[:-1]:  # every answer is text
        yield Output(pattern=form)
