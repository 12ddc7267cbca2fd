"""Repair: what to do next after an error, and what not to, mined from explore without any model."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from events.claims import AfterError
from strategies.claims.after_error import first_failure
from strategies.claims.phrases import also_avoid_line, avoid_line, do_line
from strategies.gate.contrast import Contrast, contrast
from strategies.gate.outcomes import outcome_of
from strategies.gate.recovered import attempts
from strategies.gate.strata import Stratum, stratifier
from strategies.proposers.mining import explained, fitted
from strategies.proposers.proposal import LearnedLine, Mined, Proposal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from events.claims import Claim
    from events.score import Endpoint
    from strategies.logs.episode import EpisodeRecord
    from strategies.proposers.proposal import Ask


class _Answer(NamedTuple):
    """What one episode did next after the error."""

    stratum: Stratum
    task: str
    action: str
    outcome: float


def recovery(ask: Ask) -> Mined:
    """Compare, for each action class that follows an error, those who took it with those who did not.

    By how their tasks ended where that is known, else by whether their next attempt works. Proposes the best to
    do, with the worst to avoid behind it.
    """
    template = ask.signal.template
    failure = AfterError(template=template)
    explore = ask.explore
    endpoint = explore.endpoint_for(failure)
    if endpoint == "outcome":
        answers = _answers(template, explore.judged_failing(template), explore.stratum_of)
    else:
        tried = attempts(failure, explore.records)
        answers = _answers(template, tried, stratifier(tried))
    compared: dict[Claim, Contrast | None] = {
        AfterError(template=template, do=action): _compared(answers, action)
        for action in sorted({answer.action for answer in answers})
    }
    found = fitted(compared, tried_before=ask.tried_before)
    surviving = {
        claim.do: figures
        for claim, figures in found.surviving.items()
        if isinstance(claim, AfterError) and claim.do is not None
    }
    proposal, refused = _proposal(ask, surviving, found.tried + ask.tried_before, endpoint)
    return Mined(proposal, found.tried, found.strongest, refused)


def _answers(
    template: str, records: Sequence[EpisodeRecord], stratum_of: Callable[[EpisodeRecord], Stratum]
) -> list[_Answer]:
    found = ((record, first_failure(record, template)) for record in records)
    return [
        _Answer(stratum_of(record), record.task, record.steps[at[1]].action, outcome_of(record))
        for record, at in found
        if at is not None
    ]


def _compared(answers: Sequence[_Answer], action: str) -> Contrast | None:
    return contrast((stratum, task, taken == action, outcome) for stratum, task, taken, outcome in answers)


def _proposal(
    ask: Ask, surviving: dict[str, Contrast], tried: int, endpoint: Endpoint
) -> tuple[Proposal | None, int]:
    """Write the line to do, the line to avoid, or both; answers also with how many were refused before."""
    template = ask.signal.template
    to_do = {one: AfterError(template=template, do=one) for one in surviving if surviving[one].z > 0}
    to_avoid = {one: AfterError(template=template, avoid=one) for one in surviving if surviving[one].z < 0}
    do = max((one for one in to_do if to_do[one] not in ask.refused), key=lambda one: surviving[one].z, default="")
    avoid = min(
        (one for one in to_avoid if to_avoid[one] not in ask.refused), key=lambda one: surviving[one].z, default=""
    )
    lines: list[LearnedLine] = []
    if do:
        lines.append(LearnedLine(do_line(template, do), to_do[do]))
    if avoid:
        write = also_avoid_line if lines else avoid_line
        lines.append(LearnedLine(write(template, avoid), to_avoid[avoid]))
    if not lines:
        return None, len(surviving)
    reason = explained(surviving[do or avoid], tried, len(surviving), endpoint)
    return Proposal("recovery", tuple(lines), reason, endpoint), 0
