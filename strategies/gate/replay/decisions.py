"""Decisions: where in an episode an agent chose to obey a claim or not, what it had seen, and what it did later.

A moment is a decision only where another action of the agent follows: an episode that ended there, or that the
agent ended there, chose nothing that a line could teach.
"""

from __future__ import annotations

from itertools import islice, pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.claims import (
    HAND_IN,
    After,
    AfterCall,
    AfterError,
    AnytimeBefore,
    Before,
    FinishWith,
    OutputClaim,
    Replace,
)
from strategies.claims.applicability import hands_in, next_action, previous_action
from strategies.episodes.action_class import is_class, is_of
from strategies.episodes.episode import SUBMIT
from strategies.gate.replay.exposure import Inverse, moments_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from events.types.claims import Claim
    from strategies.claims.applicability import Moment
    from strategies.episodes.episode import EpisodeRecord, StepRecord

LATER_ACTIONS: Final = 3
"""How many later actions tell what an agent goes on doing: more would tell how long the episode was."""
_MOST_TURNS: Final = 8
"""From here on turns count as equally late."""


class Decision(NamedTuple):
    """The action that was chosen (an index of the steps), and whether it obeyed."""

    at: int
    obeyed: bool


class Background(NamedTuple):
    """What there was before a decision, and what came after it.

    `seen` names what the last action before showed and how many there were; `counts` and `shares` are of the
    actions and failures before. `later` is the share of the next actions but one that are of the same class,
    None where there is none.
    """

    seen: str
    counts: tuple[float, float, float]
    shares: tuple[float, ...]
    later: float | None


def decisions_of(claim: Claim | Inverse) -> Callable[[EpisodeRecord], Decision | None] | None:
    """Give a way to find the decision that a claim is about; None for a claim about no action.

    Of what is done last the decision is to do it at any time: who hands in only after a check that passed would
    else be compared with those whose check failed. Of what is done at any time before, it is to go on without: who
    lives longer has done more of everything.
    """
    if isinstance(claim, Inverse):
        itself = decisions_of(claim.claim)
        return None if itself is None else lambda record: _turned(itself(record))
    if isinstance(claim, OutputClaim):
        return None
    if isinstance(claim, FinishWith):
        do = claim.do
        return lambda record: _at_any_time(do, record)
    moment_of = moments_of(claim)
    if isinstance(claim, AnytimeBefore) and claim.action == HAND_IN:
        return lambda record: _at_the_end(moment_of(record), record)
    return lambda record: _decision(claim, moment_of(record), record)


def background(decision: Decision, about: str, classes: Sequence[str], record: EpisodeRecord) -> Background:
    """Tell what there was before a decision about a class of action, and what came after it.

    Shapes: `shares` has one number for each of `classes`.
    """
    turn = record.steps[decision.at].turn
    before = _before(record, decision.at)
    after = list(islice(_later(record, decision.at, turn), LATER_ACTIONS))
    count, failed = len(before), sum(step.error for step in before)
    return Background(
        seen=f"{min(count, _MOST_TURNS)} {_shown(before)}",
        counts=(count, failed, failed / count if count else 0.0),
        shares=tuple(sum(step.action == name for step in before) / max(count, 1) for name in classes),
        later=sum(is_class(step.action, about) for step in after) / len(after) if about and after else None,
    )


def last_seen(record: EpisodeRecord, at: int) -> str:
    """Name what the last action before an index showed: an error template, or "worked"; "" before the first."""
    return _shown(_before(record, at))


def _before(record: EpisodeRecord, at: int) -> list[StepRecord]:
    turn = record.steps[at].turn
    return [step for step in record.steps[:at] if step.turn < turn and _counts(step)]


def _shown(before: Sequence[StepRecord]) -> str:
    return (before[-1].template if before[-1].error else "worked") if before else ""


def _turned(decision: Decision | None) -> Decision | None:
    return None if decision is None else Decision(decision.at, not decision.obeyed)


def _decision(claim: Claim, moment: Moment | None, record: EpisodeRecord) -> Decision | None:
    if moment is None:
        return None
    at: int | None = moment.step
    if isinstance(claim, (AfterError, After, AfterCall, Replace)):
        at = next_action(record, moment.step)
    elif isinstance(claim, Before):
        earlier = previous_action(record, moment.step)
        at = moment.step if earlier is None else earlier
    return None if at is None or hands_in(record, at) else Decision(at, moment.obeyed)


def _at_the_end(moment: Moment | None, record: EpisodeRecord) -> Decision | None:
    """Find the last action that does not hand in."""
    calls = (at for at in range(len(record.steps) - 1, -1, -1) if _counts(record.steps[at]))
    last = next((at for at in calls if not hands_in(record, at)), None)
    return None if moment is None or last is None else Decision(last, moment.obeyed)


def _at_any_time(do: str, record: EpisodeRecord) -> Decision | None:
    """Find the first action of a class, or the last that could have been of it."""
    calls = [at for at, step in enumerate(record.steps) if _counts(step) and not hands_in(record, at)]
    done = next((at for at in calls if is_of(record.steps[at].action, do)), None)
    if done is not None:
        return Decision(done, obeyed=True)
    return Decision(calls[-1], obeyed=False) if calls else None


def _later(record: EpisodeRecord, at: int, turn: int) -> Iterator[StepRecord]:
    steps = [step for step in record.steps[at:] if step.turn >= turn and _counts(step)]
    pairs = pairwise(steps)
    return (step for last, step in pairs if step.turn > turn and not last.error)


def _counts(step: StepRecord) -> bool:
    return step.actor == "agent" and step.kind == "call" and step.action != SUBMIT
