"""Repair: what to do next after an error, and what not to, mined from explore without any model."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from events.types.claims import LOOK, AfterError
from strategies.claims.after_error import first_failure
from strategies.claims.applicability import hands_in, last_action
from strategies.claims.claim_sentences import also_avoid_line, avoid_line
from strategies.episodes.action_class import is_class, is_hand_in, is_meaning, overlap
from strategies.gate.replay.contrast import Contrast, contrast, outcome_of
from strategies.gate.replay.recovery_endpoint import attempts
from strategies.gate.stats.mantel_haenszel import Stratum, stratifier
from strategies.propose.advice import coarser, worded
from strategies.propose.mine_claims import best_of, explained, fitted, is_open
from strategies.propose.proposal import LearnedLine, Mined, NewLines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from events.types.claims import Claim
    from events.types.score import Endpoint
    from strategies.episodes.episode import EpisodeRecord
    from strategies.propose.proposal import ProposalRequest


class _Answer(NamedTuple):
    """What one episode did next after the error."""

    stratum: Stratum
    task: str
    action: str
    outcome: float


def recovery(ask: ProposalRequest) -> Mined:
    """Compare, for each action class that follows an error, those who took it with those who did not.

    By how their tasks ended where that is known, else by whether their next attempt works. Proposes the best to
    do, with the worst to avoid behind it. Handing in is no answer: it is neither proposed nor compared with.
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
    taken = {answer.action for answer in answers}
    claims = {action: AfterError(template=template, do=action) for action in (*taken, *coarser(taken))}
    compared: dict[Claim, Contrast | None] = {
        claim: _compared(answers, action)
        for action, claim in sorted(claims.items())
        if ask.other_work.allows(claim)
    }
    mined = fitted(compared, tried_before=ask.tried_before)
    chosen_of = mined.tried + ask.tried_before
    figures_of = {
        claim.do: figures
        for claim, figures in mined.compared.items()
        if isinstance(claim, AfterError)
        and claim.do is not None
        and (is_open(figures.z, chosen_of) or (figures.z < 0 and claim in mined.surviving))
    }
    proposal, refused = _proposal(ask, figures_of, chosen_of, endpoint)
    return Mined(proposal, mined.tried, mined.strongest, refused)


def _answers(
    template: str, records: Sequence[EpisodeRecord], stratum_of: Callable[[EpisodeRecord], Stratum]
) -> list[_Answer]:
    """List what episodes did next after the error, without classes by which the agent mostly ends them."""
    failures = ((record, first_failure(record, template)) for record in records)
    answered = [(record, at[1], record.steps[at[1]].action) for record, at in failures if at is not None]
    every = Counter(action for _, _, action in answered)
    ending = Counter(action for record, at, action in answered if hands_in(record, at) or _is_last(record, at))
    return [
        _Answer(stratum_of(record), record.task, action, outcome_of(record))
        for record, _, action in answered
        if 2 * ending[action] <= every[action] and not is_hand_in(action)
    ]


def _is_last(record: EpisodeRecord, at: int) -> bool:
    return record.ended_by == "agent" and at == last_action(record)


def _compared(answers: Sequence[_Answer], action: str) -> Contrast | None:
    return contrast(
        (answer.stratum, answer.task, is_class(answer.action, action), answer.outcome) for answer in answers
    )


def _proposal(
    ask: ProposalRequest, surviving: dict[str, Contrast], tried: int, endpoint: Endpoint
) -> tuple[NewLines | None, int]:
    """Write the line to do, the line to avoid, or both; answers also with how many were refused before.

    Not to look is no line of its own: with nothing in its place it leaves an agent where it was.
    """
    template = ask.signal.template
    to_do = {action: AfterError(template=template, do=action) for action in surviving if surviving[action].z > 0}
    to_avoid = {
        action: AfterError(template=template, avoid=action)
        for action in surviving
        if surviving[action].z < 0 and not is_meaning(action)
    }
    open_to_do = {
        claim: (surviving[action], endpoint) for action, claim in to_do.items() if claim not in ask.refused
    }
    best = best_of(ask, open_to_do)
    do = best.do or "" if best else ""
    worst = sorted(
        (
            action
            for action in to_avoid
            if to_avoid[action] not in ask.refused and not (overlap(action, do) if do else is_class(action, LOOK))
        ),
        key=lambda action: surviving[action].z,
    )
    firm = (action for action in worst if ask.explore.replicates(to_avoid[action], endpoint))
    avoid = next(firm, next(iter(worst), "") if not do else "")
    lines: list[LearnedLine] = []
    if do:
        lines.append(LearnedLine(worded(to_do[do], ask.explore.judged_failing(template)), to_do[do]))
    if avoid:
        write = also_avoid_line if lines else avoid_line
        lines.append(LearnedLine(write(template, avoid), to_avoid[avoid]))
    if not lines:
        return None, len(surviving)
    reason = explained(surviving[do or avoid], tried, len(surviving), endpoint)
    chosen_of = tried if do else 2 * tried
    return NewLines(
        proposer="recovery", reason=reason, lines=tuple(lines), endpoint=endpoint, chosen_of=chosen_of
    ), 0
