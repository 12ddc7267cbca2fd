"""The endpoint `recovered`: whether the next attempt of what failed works, where nobody says how episodes ended.

Each arm has one attempt, so it is fair: "any success within some steps" would count a step spent looking as a
step not spent trying, and turn the sign of a true rule (replay_and_gate.md, Endpoints).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from events.claims import AfterError
from events.score import Censoring
from strategies.claims.after_error import first_failure
from strategies.gate.exposure import moment_of
from strategies.gate.outcomes import judged
from strategies.logs.ended import ended

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.claims import Claim
    from events.score import Endpoint
    from strategies.logs.episode import EpisodeRecord

ATTEMPT_STEPS: Final = 5
"""Calls after the error within which the next attempt must come (replay_and_gate.md, Endpoints)."""
MOST_CENSORING_APART: Final = 0.10
"""Arms that lose shares of their episodes further apart than this are not compared (replay_and_gate.md)."""
OUTCOME_SHARE: Final = 0.5
"""The share of episodes with an outcome from which the outcome decides, not `recovered` (a guess)."""


class Population(NamedTuple):
    """The uncensored episodes that reach a claim's moment, each with `recovered` for its outcome."""

    records: tuple[EpisodeRecord, ...]
    censoring: Censoring


def too_far_apart(censoring: Censoring) -> bool:
    """Tell whether the arms lose so differently that what is left of them cannot be compared."""
    return abs(censoring.obeyed - censoring.disobeyed) > MOST_CENSORING_APART


def recovered(record: EpisodeRecord, template: str) -> float | None:
    """Tell whether the next attempt after an error works, 1 or 0; None where there is no further attempt.

    An attempt is a call of the class that failed, among the next five calls of later turns.
    """
    found = first_failure(record, template)
    if found is None:
        return None
    failed = record.steps[found[0]]
    calls = (step for step in record.steps[found[0] + 1 :] if step.kind == "call" and step.turn > failed.turn)
    for step, _ in zip(calls, range(ATTEMPT_STEPS), strict=False):
        if step.action == failed.action:
            return float(not step.error)
    return None


def attempts(template: str, records: Sequence[EpisodeRecord]) -> tuple[EpisodeRecord, ...]:
    """Keep the episodes that try again after an error, each with `recovered` for its outcome."""
    found = ((record, recovered(record, template)) for record in records)
    return tuple(ended(record, value) for record, value in found if value is not None)


def population(claim: Claim, records: Sequence[EpisodeRecord]) -> Population:
    """Find the episodes that `recovered` can judge a claim by, and what each arm loses.

    Raises: TypeError for a claim that is about no error.
    """
    if not isinstance(claim, AfterError):
        raise TypeError(f"{claim.kind} has no error to recover from")
    tried = attempts(claim.template, records)
    left = {record.id for record in tried}
    lost = {True: [0, 0], False: [0, 0]}
    for record in records:
        moment = moment_of(claim, record)
        if moment is not None:
            lost[moment.obeyed][0] += record.id not in left
            lost[moment.obeyed][1] += 1
    shares = {arm: gone / all_ if all_ else 0.0 for arm, (gone, all_) in lost.items()}
    return Population(tried, Censoring(obeyed=shares[True], disobeyed=shares[False]))


def endpoint_for(template: str, records: Sequence[EpisodeRecord]) -> Endpoint:
    """Choose what claims about an error are judged by: outcomes, where at least half of its episodes have one."""
    met = [record for record in records if first_failure(record, template) is not None]
    firm = judged(met)
    with_outcome = 0 if firm.heuristic else len(firm.records)
    return "outcome" if with_outcome >= OUTCOME_SHARE * len(met) else "recovered"
