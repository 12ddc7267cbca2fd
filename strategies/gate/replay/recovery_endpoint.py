"""The endpoint `recovered`: whether the next attempt of what failed works, where nobody says how episodes ended.

Each arm has one attempt, so it is fair: "any success within some steps" would count a step spent looking as a
step not spent trying, and turn the sign of a true rule.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.claims import After, AfterCall, AfterError, Replace
from events.types.score import Censoring
from strategies.claims.replace import is_call_of
from strategies.episodes.episode_records import ended
from strategies.gate.replay.contrast import judged
from strategies.gate.replay.exposure import moment_of, moments_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.claims import Claim
    from events.types.score import Endpoint
    from strategies.episodes.episode import EpisodeRecord, StepRecord

ATTEMPT_STEPS: Final = 5
"""Calls after the error within which the next attempt must come."""
MOST_CENSORING_APART: Final = 0.10
"""Arms that lose shares of their episodes further apart than this are not compared."""
OUTCOME_SHARE: Final = 0.5
"""The share of episodes with an outcome from which the outcome decides, not `recovered` (a guess)."""


class Population(NamedTuple):
    """The uncensored episodes that reach a claim's moment, each with `recovered` for its outcome."""

    records: tuple[EpisodeRecord, ...]
    censoring: Censoring


def too_far_apart(censoring: Censoring) -> bool:
    """Tell whether the arms lose so differently that what is left of them cannot be compared."""
    apart = abs(censoring.obeyed - censoring.disobeyed)
    return round(apart, 9) > MOST_CENSORING_APART  # as floats, 4 of 10 and 3 of 10 are more than 10 points apart


def recoverable(claim: Claim) -> bool:
    """Tell whether a claim is about a failure: its moment is then a failing call, which can be tried again."""
    if isinstance(claim, (AfterError, Replace)):
        return True
    return isinstance(claim, (After, AfterCall)) and claim.failing


def next_attempt(claim: Claim, record: EpisodeRecord) -> int | None:
    """Find the next attempt of what failed at a claim's moment; None where none was made in time.

    An attempt is a call of the class that failed, or of what a claim puts in its place, among the next five calls
    of later turns. Answers with an index of the steps.
    """
    moment = moment_of(claim, record)
    return None if moment is None else _attempt_after(claim, moment.step, record)


def _attempt_after(claim: Claim | None, step: int, record: EpisodeRecord) -> int | None:
    failed, steps = record.steps[step], record.steps
    later = range(step + 1, len(steps))
    calls = (at for at in later if steps[at].kind == "call" and steps[at].turn > failed.turn)
    return next((at for at in islice(calls, ATTEMPT_STEPS) if _tries_again(claim, failed, steps[at])), None)


def _tries_again(claim: Claim | None, failed: StepRecord, step: StepRecord) -> bool:
    return step.action == failed.action or (isinstance(claim, Replace) and is_call_of(claim.do, step))


def recovered(claim: Claim, record: EpisodeRecord) -> float | None:
    """Tell whether the next attempt of what failed works, 1 or 0; None where there is none."""
    at = next_attempt(claim, record)
    return None if at is None else float(not record.steps[at].error)


def recoveries(records: Sequence[EpisodeRecord]) -> dict[str, float]:
    """Tell by session whether the next attempt of its first failed call works, where there is one."""
    worked = {}
    for record in records:
        failed = next((at for at, step in enumerate(record.steps) if step.kind == "call" and step.error), None)
        at = None if failed is None else _attempt_after(None, failed, record)
        if at is not None:
            worked[record.id] = float(not record.steps[at].error)
    return worked


def attempts(claim: Claim, records: Sequence[EpisodeRecord]) -> tuple[EpisodeRecord, ...]:
    """Keep the episodes that try again after the claim's moment, each with `recovered` for its outcome."""
    moment_at = moments_of(claim)
    met = ((record, moment_at(record)) for record in records)
    tried = ((record, _attempt_after(claim, moment.step, record)) for record, moment in met if moment is not None)
    return tuple(ended(record, float(not record.steps[at].error)) for record, at in tried if at is not None)


def population(claim: Claim, records: Sequence[EpisodeRecord]) -> Population:
    """Find the episodes that `recovered` can judge a claim by, and what each arm loses.

    Raises: TypeError for a claim that is about no failure.
    """
    if not recoverable(claim):
        raise TypeError(f"{claim.kind} has no failure to recover from")
    tried = attempts(claim, records)
    left = {record.id for record in tried}
    lost = {True: [0, 0], False: [0, 0]}
    moment_at = moments_of(claim)
    for record in records:
        moment = moment_at(record)
        if moment is not None:
            lost[moment.obeyed][0] += record.id not in left
            lost[moment.obeyed][1] += 1
    shares = {arm: gone / all_ if all_ else 0.0 for arm, (gone, all_) in lost.items()}
    return Population(tried, Censoring(obeyed=shares[True], disobeyed=shares[False]))


def endpoint_for(claim: Claim, records: Sequence[EpisodeRecord]) -> Endpoint:
    """Choose what a claim is judged by: outcomes, unless less than half of the episodes it applies to have one.

    Only what is about a failure can be judged by `recovered`; a guessed outcome is none.
    """
    if not recoverable(claim):
        return "outcome"
    every = judged(records)
    if len(every.records) == len(records) and not every.heuristic:
        return "outcome"
    moment_at = moments_of(claim)
    met = [record for record in records if moment_at(record) is not None]
    firm = judged(met)
    with_outcome = 0 if firm.heuristic else len(firm.records)
    return "outcome" if with_outcome >= OUTCOME_SHARE * len(met) else "recovered"
