"""A contest: candidates against the incumbent on sealed tasks, round by round, until the gate has its verdicts."""

from __future__ import annotations

import random
from dataclasses import dataclass, replace
from math import copysign
from typing import TYPE_CHECKING, Final

from strategies.gate.aimed_rule import FRESH, is_promising, look_at_aim, look_at_fresh
from strategies.gate.rollout_rule import LOOKS, RolloutVerdict, figures_of, look
from strategies.gate.stats.balanced_rounds import MOST_CONFIRMED, MOST_TOGETHER, balanced_signs
from strategies.gate.verdict import Verdict
from strategies.gate.vetoes import (
    CONFIRMING_ROUNDS,
    AnchoredTask,
    RunFacts,
    against_no_skill,
    counted,
    lost_anchors,
    rollout_verdict,
)
from strategies.rollouts.compare.run_pairs import Pairing, companies, differences, judged, with_block
from strategies.rollouts.run.arms import NO_SKILL
from strategies.rollouts.run.runner import CapReachedError
from strategies.rollouts.run.store import PlannedRun

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from events.types.runs import AgainstNoSkill, AimFigures
    from strategies.rollouts.compare.contest import Contest
    from strategies.rollouts.run.arms import Arm
    from strategies.rollouts.run.runner import Runs
    from strategies.rollouts.tasks.task import RolloutTask

WAITS: Final = "its own tasks show it; it is tested on the version that holds candidate"
"""How the reason begins of one that waits for another of its group."""
ALONE: Final = "its own tasks show it; it waits for others that the same runs confirm"
"""How the reason of one begins that waits for company."""
PUT_OFF: Final = "its own tasks do not show it soon; it goes on from here once no other is open"
"""How the reason of one begins whose first look is put off."""
AUDIT_ROUNDS: Final = 2
"""Rounds of the audit, or those of a first block, which tell candidates in company apart: more would narrow its
interval little, which tasks widen (a guess)."""


@dataclass(frozen=True)
class LastLook:
    """The last look at the runs of a candidate: the tasks and rounds that were looked at, and what was paired."""

    looked: RolloutVerdict
    tasks: tuple[RolloutTask, ...]
    span: range
    pairing: Pairing
    aim: AimFigures | None = None


@dataclass(frozen=True)
class ContestEnd:
    """How a contest ended for one candidate: the last look, and what is reported beside it.

    `audited` are the rounds in which the audit was run, none where it was not.
    """

    verdict: Verdict
    last: LastLook
    facts: RunFacts
    audited: range = range(0)


def hold_contest(contest: Contest, runs: Runs) -> dict[str, ContestEnd]:
    """Make runs until the gate has a verdict on each candidate, by its name.

    Those that say which tasks they are for are run there first, and those that are shown there are confirmed on
    all sealed tasks; where a contest puts off, what does not gain soon there is held, and goes on another time.
    Whatever is run on all is run in company: several candidates share each round, every one in one of its two
    versions (`balanced_rounds`). Removals, and all where versions run side by side, are run by themselves. The
    order of tasks is drawn from the seed and moves no verdict.

    Raises: what `Runs.make` raises, but for a cap: reaching one holds.
    """
    aimed = [arm for arm in contest.candidates if contest.aim(arm)]
    alone = [arm for arm in contest.candidates if contest.side_by_side or arm.name in contest.removals]
    first, stopped = _looked_at_aims(contest, runs, aimed)
    shown = [arm for arm in aimed if first[arm.name].looked.decision == "promote"]
    ends = {arm.name: _not_shown(contest, runs, first[arm.name], stopped) for arm in aimed if arm not in shown}
    best = sorted(shown, key=lambda arm: -_evidence(first[arm.name]))
    if len(best) < contest.least_company:
        ends |= {arm.name: _waiting(contest, runs, first[arm.name], ALONE) for arm in best}
        best = []
    for company in companies(best, contest.together, MOST_CONFIRMED):
        better = next((name for name, end in ends.items() if end.verdict.decision == "promote"), "")
        if better:
            why = f"{WAITS} {better[:12]}"  # it became the version, and cannot hold both
            ends |= {arm.name: _waiting(contest, runs, first[arm.name], why) for arm in company}
        else:
            ends |= _in_company(contest, runs, {arm.name: first[arm.name] for arm in company}, FRESH)
    plain = [arm for arm in contest.candidates if arm not in aimed and arm not in alone]
    others = companies(plain, contest.together, MOST_TOGETHER)
    for company in [company for company in others if len(company) > 1]:
        members = {arm.name: _before_looks(contest, arm, contest.sealed) for arm in company}
        ends |= _in_company(contest, runs, members, range(LOOKS[-1]))
    alone += [arm for company in others if len(company) == 1 for arm in company]
    looked, stopped = _looked(contest, runs, alone)
    return ends | {arm.name: _ended(contest, runs, looked[arm.name], stopped) for arm in alone}


def _in_company(
    contest: Contest, runs: Runs, members: Mapping[str, LastLook], rounds: range
) -> dict[str, ContestEnd]:
    """Run candidates in company on all sealed tasks, block by block of rounds, until each has a verdict.

    One that passes is asked the rest at once, before a cap may end the runs of the others; all audits come last.
    """
    looked, going, start, stopped = dict(members), list(members), rounds.start, ""
    ends: dict[str, ContestEnd] = {}
    aimed = all(last.aim is not None for last in members.values())  # their own tasks show them already
    number = random.Random(f"{contest.seed}:{sorted(members)}").randrange(len(contest.parts))  # noqa: S311 - an order
    while going and start + len(balanced_signs(len(going))) <= rounds.stop:
        part, number = contest.parts[number % len(contest.parts)] if aimed else None, number + 1
        pairings = with_block({name: looked[name].pairing for name in going}, start, contest.together, part)
        shared = next(iter(pairings.values()))  # all of them compare the same versions, each in its own order
        block = shared.blocks[-1].rounds
        jobs = _runs_of_pairs(shared, contest.sealed, block, contest.seed)
        if stopped := _stopped(runs, (jobs,)):
            break
        start, span = block.stop, range(rounds.start, block.stop)
        for name in going:
            looked[name] = replace(looked[name], pairing=pairings[name])
            if looked[name].aim is not None or len(span) in LOOKS:
                looked[name] = _look_on(contest, runs, looked[name], span)
        still = _undecided(contest, runs, going, looked)
        ends |= {name: _judged(contest, runs, looked[name], "") for name in going if name not in still}
        going = still
    if stopped:
        looked |= {name: _unfinished(looked[name]) for name in going}
    ends |= {name: _judged(contest, runs, looked[name], stopped) for name in going}
    return {name: _audited(contest, runs, ends[name]) for name in members}


def _unfinished(last: LastLook) -> LastLook:
    return replace(last, looked=replace(last.looked, decision=None))


def _look_on(contest: Contest, runs: Runs, last: LastLook, span: range) -> LastLook:
    """Look at the runs on all sealed tasks, of a candidate with an aim or of any other."""
    pairing = last.pairing
    if last.aim is None:
        verdict = look(pairing.pairs(runs, contest.sealed, span), len(span), contest.policy)
        return replace(last, looked=verdict, span=span)
    own = contest.aim(pairing.candidate)
    rest = tuple(task for task in contest.sealed if task not in own)
    aimed, others = (pairing.pairs(runs, tasks, span) for tasks in (own, rest))
    noise = pairing.noise(runs, (*own, *rest))
    verdict, aim = look_at_fresh(last.aim, aimed, others, len(span), contest.policy, noise)
    return LastLook(verdict, (*own, *rest), span, pairing, aim)


def _looked(contest: Contest, runs: Runs, arms: Sequence[Arm]) -> tuple[dict[str, LastLook], str]:
    """Run candidates by themselves, and look where the gate looks; one with a verdict runs no more."""
    looked, made = {arm.name: _before_looks(contest, arm, contest.sealed) for arm in arms}, 0
    going = list(looked)
    for rounds in LOOKS:
        if not going:
            break
        beside = [looked[name].pairing.candidate for name in going]
        jobs = in_random_order((contest.incumbent, *beside), contest.sealed, range(made, rounds), contest.seed)
        together = batched(jobs, 1 + len(going)) if contest.side_by_side else (jobs,)
        if stopped := _stopped(runs, together):
            return looked, stopped
        for name in going:
            paired = looked[name].pairing.pairs(runs, contest.sealed, range(rounds))
            paired = (
                [[pair and copysign(1.0, pair) for pair in task] for task in paired] if contest.by_sign else paired
            )
            verdict = look(paired, rounds, contest.policy, removal=name in contest.removals)
            looked[name] = replace(looked[name], looked=verdict, span=range(rounds))
        going, made = _undecided(contest, runs, going, looked), rounds
    return looked, ""


def _looked_at_aims(contest: Contest, runs: Runs, arms: Sequence[Arm]) -> tuple[dict[str, LastLook], str]:
    """Run candidates on the tasks that each is for, and look after every round."""
    looked = {arm.name: _before_looks(contest, arm, contest.aim(arm)) for arm in arms}
    going = list(looked)
    for at in range(LOOKS[-1]):
        if not going:
            break
        lasts = [looked[name] for name in going]
        jobs = [job for last in lasts for job in _runs_of_pairs(last.pairing, last.tasks, (at,), contest.seed)]
        if stopped := _stopped(runs, (list({job.place: job for job in jobs}.values()),)):
            return looked, stopped
        for name in going:
            last, span = looked[name], range(at + 1)
            paired = last.pairing.pairs(runs, last.tasks, span)
            tags = contest.tags[name]
            verdict, aim = look_at_aim(paired, len(span), tags, len(contest.sealed), contest.policy)
            looked[name] = replace(last, looked=verdict, span=span, aim=aim)
        going = [
            name
            for name in _undecided(contest, runs, going, looked)
            if not contest.puts_off or is_promising(looked[name].aim)
        ]
    return looked, ""


def _before_looks(contest: Contest, arm: Arm, tasks: tuple[RolloutTask, ...]) -> LastLook:
    none = RolloutVerdict(None, "no round is complete", figures_of((), 0))
    return LastLook(none, tasks, range(0), Pairing(arm, contest.incumbent))


def _stopped(runs: Runs, batches: Iterable[Sequence[PlannedRun]]) -> str:
    """Make runs, and say which cap ended that, "" where none did."""
    try:
        for jobs in batches:
            runs.make(jobs)
    except CapReachedError as reached:
        return reached.what
    return ""


def _undecided(contest: Contest, runs: Runs, names: Sequence[str], looked: Mapping[str, LastLook]) -> list[str]:
    """List the candidates that go on: those without a verdict, in whose runs nothing was tampered with."""
    still = [name for name in names if looked[name].looked.decision is None]
    return [name for name in still if not _notes(contest, runs, looked[name].pairing)]


def _evidence(last: LastLook) -> float:
    return last.aim.evidence if last.aim else 0.0


def _not_shown(contest: Contest, runs: Runs, last: LastLook, stopped: str) -> ContestEnd:
    """End a first look that shows nothing; one that no cap cut off and that is undecided was put off."""
    is_open = last.looked.decision is None and not stopped
    if is_open and not _notes(contest, runs, last.pairing):
        return _waiting(contest, runs, last, PUT_OFF)
    return _ended(contest, runs, last, stopped)


def _waiting(contest: Contest, runs: Runs, last: LastLook, why: str) -> ContestEnd:
    """Let a candidate wait that its own tasks show; `why` says for which others."""
    return ContestEnd(Verdict("hold", (why, last.looked.reason)), last, facts_of(contest, runs, last, ""))


def facts_of(contest: Contest, runs: Runs, last: LastLook, stopped: str) -> RunFacts:
    """Say what else is known of the runs that a last look rests on; `stopped` names the cap that ended them."""
    return RunFacts(
        tampered=_notes(contest, runs, last.pairing),
        stopped=stopped,
        void=_void(runs, last),
        judges=judged(runs, last.pairing, last.tasks, last.span),
    )


def _ended(contest: Contest, runs: Runs, last: LastLook, stopped: str) -> ContestEnd:
    """Judge a candidate, and measure its audit where it is promoted."""
    return _audited(contest, runs, _judged(contest, runs, last, stopped))


def _judged(contest: Contest, runs: Runs, last: LastLook, stopped: str) -> ContestEnd:
    """Ask of a candidate that the rule would promote all that may still stop it."""
    facts = facts_of(contest, runs, last, "" if last.looked.decision else stopped)
    removal = last.pairing.candidate.name in contest.removals
    verdict = rollout_verdict(last.looked, facts, contest.policy, last.aim, removal=removal)
    if verdict.decision == "promote":
        facts = _questioned(contest, runs, last, facts)
        verdict = rollout_verdict(last.looked, facts, contest.policy, last.aim, removal=removal)
    return ContestEnd(verdict, last, facts)


def _questioned(contest: Contest, runs: Runs, last: LastLook, facts: RunFacts) -> RunFacts:
    """Look for lost anchors, also on tasks that no fresh round ran, confirm them, and compare with no skill."""
    pairing, span = last.pairing, last.span
    unseen = [task for task in contest.sealed if task.anchors and not pairing.rounds_of(task, span)]
    in_parts = any(block.part is not None for block in pairing.blocks)
    more = range(span.stop, (span.stop if in_parts else span.start) + CONFIRMING_ROUNDS)
    further = range(span.start, max(span.stop, more.stop))
    audit = None
    try:
        runs.make(_runs_of_pairs(pairing, unseen, more[:1], contest.seed))
        suspected = [task for task in contest.sealed if _anchored(runs, pairing, task, further).suspects]
        runs.make(_runs_of_pairs(pairing, suspected, more, contest.seed))
        if contest.against_nothing:
            audit = _without_skill(contest, runs, pairing, span)
    except CapReachedError as reached:
        return replace(facts, stopped=reached.what)
    return replace(
        facts,
        tampered=_notes(contest, runs, pairing, (NO_SKILL,)),
        lost_anchors=lost_anchors([_anchored(runs, pairing, task, further) for task in contest.sealed]),
        no_skill=audit,
    )


def _without_skill(contest: Contest, runs: Runs, pairing: Pairing, span: range) -> AgainstNoSkill:
    """Compare with no skill, round by round until it surely helps."""
    for rounds in range(1, len(span) + 1):
        at = span[rounds - 1]
        tasks = [task for task in contest.sealed if pairing.rounds_of(task, (at,))]
        runs.make(in_random_order((NO_SKILL,), tasks, (at,), contest.seed))
        alike = [
            differences(
                pairing.after(runs, task, span[:rounds]),
                runs.of(NO_SKILL, task, pairing.rounds_of(task, span[:rounds])),
            )
            for task in contest.sealed
        ]
        audit = against_no_skill(alike, rounds)
        if audit.effect == "helped":
            break
    return audit


def _audited(contest: Contest, runs: Runs, end: ContestEnd) -> ContestEnd:
    """Run the audit split, which decides nothing, for one that is promoted: a cap only leaves it unmeasured.

    It is run in the first rounds, which all of a company have shared.
    """
    last, blocks = end.last, end.last.pairing.blocks
    span = last.span[: max(AUDIT_ROUNDS, len(blocks[0].rounds) if blocks else 0)]
    if end.verdict.decision != "promote" or not contest.audit:
        return end
    jobs = _runs_of_pairs(last.pairing, contest.audit, span, contest.seed)
    return end if _stopped(runs, (jobs,)) else replace(end, audited=span)


def in_random_order(
    arms: Sequence[Arm], tasks: Iterable[RolloutTask], rounds: Iterable[int], seed: int
) -> list[PlannedRun]:
    """List the runs round by round, tasks and arms in random order; the arms of a task run side by side."""
    jobs = []
    for at in rounds:
        draws = random.Random(f"{seed}:{at}")  # noqa: S311 - an order, no secret
        order = list(tasks)
        draws.shuffle(order)
        for task in order:
            jobs += [PlannedRun(arm, task, at) for arm in draws.sample(arms, len(arms))]
    return jobs


def _runs_of_pairs(
    pairing: Pairing, tasks: Iterable[RolloutTask], rounds: Iterable[int], seed: int
) -> list[PlannedRun]:
    """List the runs of both versions that each round compares."""
    every = tuple(tasks)
    return [
        job
        for at in rounds
        for job in in_random_order(
            pairing.both(at), [task for task in every if pairing.rounds_of(task, (at,))], (at,), seed
        )
    ]


def batched(jobs: Sequence[PlannedRun], size: int) -> list[Sequence[PlannedRun]]:
    """Divide jobs, which come task by task, into those of one task and round each."""
    return [jobs[at : at + size] for at in range(0, len(jobs), size)]


def _void(runs: Runs, last: LastLook) -> float:
    paired = [pair for task in last.pairing.pairs(runs, last.tasks, last.span) for pair in task]
    return sum(pair is None for pair in paired) / len(paired) if paired else 0.0


def _notes(contest: Contest, runs: Runs, pairing: Pairing, beside: Sequence[Arm] = ()) -> tuple[str, ...]:
    """Say what was tried in the runs of the versions that are compared for a candidate, in whichever round."""
    every = range(FRESH.stop + CONFIRMING_ROUNDS)
    arms = (*pairing.arms(every), *beside)
    trials = (trial for arm in arms for task in contest.sealed for trial in runs.of(arm, task, every) if trial)
    return counted(note for trial in trials for note in trial.tampering)


def _anchored(runs: Runs, pairing: Pairing, task: RolloutTask, span: range) -> AnchoredTask:
    both = zip(pairing.before(runs, task, span), pairing.after(runs, task, span), strict=True)
    failed = tuple(
        (frozenset(before.failed_anchors), frozenset(after.failed_anchors))
        for before, after in both
        if before is not None and after is not None
    )
    return AnchoredTask(task.id, len(task.anchors), failed)
