"""Decisions: where in an episode an agent chose to obey a claim or not, what it had seen, and what it did later.

A moment is a decision only where another action of the agent follows: an episode that ended there, or that the
agent ended there, chose nothing that a line could teach.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.claims import (
    HAND_IN,
    After,
    AfterCall,
    AfterError,
    AnytimeBefore,
    Before,
    FinishWith,
    Never,
    OutputClaim,
    Replace,
)
from strategies.claims.applicability import hands_in, next_action, previous_action
from strategies.episodes.action_class import covered_by, of_class
from strategies.episodes.episode import SUBMIT
from strategies.gate.replay.exposure import Inverse, moments_of
from strategies.gate.stats.conditional_odds import ActionCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from events.types.claims import Claim
    from strategies.claims.applicability import Moment
    from strategies.episodes.episode import EpisodeRecord, StepRecord

_MOST_TURNS: Final = 8
"""From here on turns count as equally late."""


class Decision(NamedTuple):
    """The action that was chosen (an index of the steps), and whether it obeyed."""

    at: int
    obeyed: bool


class ClaimedAction(NamedTuple):
    """The class of action that a claim is about, and which actions of an episode could as well have been of it.

    `sign` is -1 where it is to be left out. None of `apart` could: where a claim speaks of the first of a class,
    the actions before it are of another. With `whole`, all actions before that first are decided on together. With
    `earlier`, actions before could, but the last, which made the moment; else they all made it what it is: the
    second call of a class comes after one, and what is still to be done was not done before.
    """

    about: str
    sign: int = 1
    apart: str = ""
    whole: bool = False
    earlier: bool = False


class _Once(NamedTuple):
    """A class of action that is decided on until it is done, and whether doing it obeys."""

    action: str
    obeys: bool


class Background(NamedTuple):
    """What tells a decision from others of its kind: where it was, what was seen, what the agent does elsewhere.

    `turn` counts the actions before it, `seen` is what the last of them showed, `failed` how many failed, and
    their share, `habit` how much oftener than usual each class of action is among them. Of all other actions,
    before and after, that did not follow a failure, `same` counts those of the class that the decision is about,
    of `free`. `dealt` counts the same here, and among those of them that could as well have been of that class.
    """

    turn: int
    seen: str
    failed: tuple[float, float]
    habit: tuple[float, ...]
    same: int
    free: int
    dealt: ActionCounts


def decisions_of(claim: Claim | Inverse) -> Callable[[EpisodeRecord], list[Decision]] | None:
    """Give a way to find the decision that a claim is about; None for a claim about no action.

    Of what is done last, or at any time before the end, it is to do it now, at each action until it is done; of
    what is never done, to go on without. Who lasted longer has had more occasion for anything, and who hands in
    one more than who was cut short: compared are those who had come equally far.
    """
    decide = _decider(claim)
    if decide is None:
        return None
    moment_of = moments_of(claim)
    return lambda record: decide(record, moment_of(record))


def decisions_in(
    claim: Claim | Inverse, records: Sequence[EpisodeRecord], moments: Sequence[Moment | None]
) -> list[list[Decision]]:
    """Find the decisions that a claim is about in each of several episodes, whose moments are known.

    None of a claim about no action. Shapes: a moment for each record.
    """
    decide = _decider(claim)
    if decide is None:
        return [[] for _ in records]
    return [decide(record, moment) for record, moment in zip(records, moments, strict=True)]


def _decider(claim: Claim | Inverse) -> Callable[[EpisodeRecord, Moment | None], list[Decision]] | None:
    until, about = _done_once(claim), _itself(claim)
    if isinstance(about, OutputClaim):
        return None
    if until is not None:
        return lambda record, _: _until_done(until, record)
    return lambda record, moment: _decision(about, moment, record)


def _itself(claim: Claim | Inverse) -> Claim:
    return claim.claim if isinstance(claim, Inverse) else claim


def _done_once(claim: Claim | Inverse) -> _Once | None:
    if isinstance(claim, Inverse):
        itself = _done_once(claim.claim)
        return None if itself is None else _Once(itself.action, not itself.obeys)
    if isinstance(claim, FinishWith) or (isinstance(claim, AnytimeBefore) and claim.action == HAND_IN):
        return _Once(claim.do, obeys=True)
    return _Once(claim.avoid, obeys=False) if isinstance(claim, Never) else None


def claimed_action(claim: Claim | Inverse) -> ClaimedAction:
    """Name the class of action that a claim asks for, or asks to leave out."""
    if isinstance(claim, Inverse):
        turned = claimed_action(claim.claim)
        return turned._replace(sign=-turned.sign)
    do = getattr(claim, "do", None)
    about, sign = (do, 1) if do is not None else (getattr(claim, "avoid", None) or "", -1)
    whole = isinstance(claim, AnytimeBefore) and claim.action != HAND_IN
    apart = getattr(claim, "action", "") if whole or isinstance(claim, Before) else ""
    earlier = isinstance(claim, (AfterError, Replace, Before))
    return ClaimedAction(about, sign, apart, whole=whole, earlier=earlier)


def backgrounds(
    decided: Iterable[tuple[EpisodeRecord, Decision]],
    subject: ClaimedAction,
    usual: Mapping[str, float],
    *,
    to_end: bool = True,
) -> list[Background]:
    """Tell what there was beside each decision about a class of action.

    `usual` is the share of each class among the actions of all agents. Unless `to_end`, what came after is left
    out: where the outcome is known before the end, what agents do then follows from it.
    """
    alike, apart = of_class(subject.about), of_class(subject.apart)
    backdrops: list[Background] = []
    known: EpisodeRecord | None = None
    free: list[StepRecord] = []
    for record, (at, _) in decided:
        if record is not known:  # several decisions of one episode come one after the other
            known, free = record, _free_actions(record)
        turn, before = record.steps[at].turn, actions_before(record, at)
        earlier = [step for step in free if step.turn < turn]
        later = [step for step in free if step.turn > turn]
        elsewhere = earlier + later if to_end else earlier
        own = before if subject.whole else [record.steps[at]]
        alone = subject.whole and not to_end  # its own actions are all that is known
        others = [] if alone else elsewhere if subject.earlier or not to_end else later
        made = before[-1:]  # what the last action before showed is why there is a decision
        others = [step for step in others if not apart[step.action] and step not in made]
        actions, failed = [step.action for step in before], sum([step.error for step in before])
        backdrops.append(
            Background(
                turn=min(len(before), _MOST_TURNS),
                seen=_shown(before[-1]) if before else "",
                failed=(failed, failed / max(len(before), 1)),
                habit=tuple([actions.count(action) - share * len(actions) for action, share in usual.items()]),
                same=_count(elsewhere, alike),
                free=len(elsewhere),
                dealt=ActionCounts(_count(own, alike), len(own), _count(others, alike), len(others)),
            )
        )
    return backdrops


def times_done(subject: ClaimedAction, records: Sequence[EpisodeRecord]) -> list[tuple[int, int]]:
    """Count what a claim is about in each episode, of the actions that could have been it: after no failure."""
    alike, apart = of_class(subject.about), of_class(subject.apart)
    counts = []
    for record in records:
        free = [step for step in _free_actions(record) if not apart[step.action]]
        counts.append((_count(free, alike), len(free)))
    return counts


def last_seen(record: EpisodeRecord, at: int) -> str:
    """Name what the last action before an index showed: an error template, or "worked"; "" before the first."""
    before = actions_before(record, at)
    return _shown(before[-1]) if before else ""


def actions_before(record: EpisodeRecord, at: int) -> list[StepRecord]:
    """List the actions of turns before that of an index, without handing in."""
    turn = record.steps[at].turn
    return [step for step in _actions(record.steps[:at]) if step.turn < turn]


def _free_actions(record: EpisodeRecord) -> list[StepRecord]:
    """List the actions that did not follow a failure, which may ask for one."""
    actions = _actions(record.steps)
    return [step for before, step in pairwise(actions) if not before.error]


def _count(steps: Sequence[StepRecord], alike: Mapping[str, bool]) -> int:
    return sum([alike[step.action] for step in steps])


def _shown(step: StepRecord) -> str:
    return step.template if step.error else "worked"


def _decision(claim: Claim, moment: Moment | None, record: EpisodeRecord) -> list[Decision]:
    if moment is None:
        return []
    at: int | None = moment.step
    if isinstance(claim, (AfterError, After, AfterCall, Replace)):
        at = next_action(record, moment.step)
    elif isinstance(claim, Before):  # who opens with it chose nothing before, and need not have lasted
        at = previous_action(record, moment.step)
    return [] if at is None or hands_in(record, at) else [Decision(at, moment.obeyed)]


def _until_done(once: _Once, record: EpisodeRecord) -> list[Decision]:
    """List the actions up to the first of a class: at each of them it could have been done."""
    decisions, done = [], covered_by(once.action)
    for at, step in enumerate(record.steps):
        if _is_action(step) and not hands_in(record, at):
            does = done[step.action]
            decisions.append(Decision(at, does == once.obeys))
            if does:
                break
    return decisions


def _actions(steps: Sequence[StepRecord]) -> list[StepRecord]:
    """Keep what an agent called, without handing in."""
    # `_is_action`, written out: all steps of all episodes come through here
    return [step for step in steps if step.actor == "agent" and step.kind == "call" and step.action != SUBMIT]


def _is_action(step: StepRecord) -> bool:
    return step.actor == "agent" and step.kind == "call" and step.action != SUBMIT
