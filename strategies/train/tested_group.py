"""What an epoch tests, and what waits: for company, for a wording of its idea, or until nothing else is open."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from registry.query.diffs import is_reworded
from strategies.gate.aimed_rule import LEAST_AIMED
from strategies.gate.rollout_rule import LOOKS
from strategies.rollouts.compare.contest import PART_TASKS, tagged
from strategies.train.proposed_changes import decidable, is_passed_over, is_put_off, is_waiting_for_company
from strategies.train.training_plan import LEAST_COMPANY, MOST_WAITED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from registry.state.candidate import Candidate
    from strategies.rollouts.tasks.task import RolloutTask
    from strategies.train.training_plan import TrainingPlan
    from strategies.train.training_record import TrainingRecord

SAME_IDEA: Final = 0.7
"""The share of common words from which two changes are wordings of one idea (a guess): it costs a turn."""
SPARE_ROUNDS: Final = 1
"""Rounds of both versions, beside those of a confirmation, for which runs are left when it begins: those
without the skill are as many (over thirty seeds of bench/train none or three of them find 2 points less)."""


class TestedGroup(NamedTuple):
    """What is tested together, how many are confirmed together at least, and whether first looks are put off."""

    candidates: list[Candidate]
    least_company: int
    puts_off: bool


def tested_group(plan: TrainingPlan, record: TrainingRecord) -> TestedGroup:
    """Give what is tested in this epoch: once few runs are left, only what waits for company, if anything does.

    What does not gain soon is put off, unless this is the last epoch, or nothing else is open.
    """
    rig = plan.rig
    capsule = rig.registry.capsule(plan.skill)
    every = decidable(rig.registry, plan.training, capsule, rig.preset)
    waiting = [known for known in every if is_waiting_for_company(known)]
    short = are_runs_short(plan, record)
    group = waiting if waiting and short else tested_first(every, rig.harness.divided.sealed)
    is_last = len(record.epochs) + 1 >= plan.epochs
    company = (
        1
        if short or is_last or _has_waited(record, waiting)
        else min(LEAST_COMPANY, len(rig.harness.divided.sealed_tags))
    )
    return TestedGroup(group, company, not is_last and not any(is_put_off(known) for known in group))


def are_runs_short(plan: TrainingPlan, record: TrainingRecord) -> bool:
    """Tell whether an epoch begins with little more runs left than what a confirmation takes."""
    made = record.epochs[-1].runs if record.epochs else 0
    tasks = min(len(plan.rig.harness.divided.sealed), PART_TASKS)
    return bool(plan.caps.runs) and plan.caps.runs - made < 2 * tasks * (LOOKS[-1] + SPARE_ROUNDS)


def _has_waited(record: TrainingRecord, waiting: Sequence[Candidate]) -> bool:
    """Tell whether some wait for company, and in several epochs in a row no other joined them."""
    past = record.epochs[-MOST_WAITED:]
    joined_before = all(known.id in epoch.held for known in waiting for epoch in past)
    return bool(waiting) and len(past) == MOST_WAITED and joined_before


def tested_first(candidates: Sequence[Candidate], sealed: Sequence[RolloutTask]) -> list[Candidate]:
    """Give those of the open changes that are tested now; the others wait, and nothing is decided on them.

    Of several wordings of one idea the earliest is tested: same tags, and nearly the same words or the same place.
    While one waits for company, others for the same tasks wait as well. Once nothing else is open, what runs can
    hardly show is: one with tags that too few sealed tasks have, and one that runs on all sealed tasks left open
    on an earlier version.
    """
    few = [known for known in candidates if 0 < len(tagged(sealed, known.proposed.tags)) < LEAST_AIMED]
    later = [known for known in candidates if known in few or _was_left_open(known)]
    first = [known for known in candidates if is_waiting_for_company(known)]
    for known in [known for known in candidates if known not in later and known not in first] or later:
        if not any(_stands_before(other, known) for other in first):
            first.append(known)
    return first


def _was_left_open(known: Candidate) -> bool:
    """Tell whether a candidate is held although it was run on all sealed tasks, after its own had shown it."""
    runs = known.scored.rollouts if known.scored else None
    if known.verdict != "hold" or runs is None or runs.stopped or is_passed_over(known):
        return False
    return runs.aim is not None and runs.aim.fresh is not None


def _stands_before(other: Candidate, known: Candidate) -> bool:
    """Tell whether a candidate is tested after another one that is tested now."""
    same_tasks = frozenset(known.proposed.tags) == frozenset(other.proposed.tags)
    return (is_waiting_for_company(other) and same_tasks) or _is_rewording(known, other)


def _is_rewording(known: Candidate, other: Candidate) -> bool:
    mine, theirs = known.proposed, other.proposed
    if frozenset(mine.tags) != frozenset(theirs.tags):
        return False
    if mine.targets & theirs.targets:
        return True
    texts = "".join(mine.new_lines), "".join(theirs.new_lines)
    return all(texts) and is_reworded(*texts, SAME_IDEA)
