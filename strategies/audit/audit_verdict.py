"""The verdict on a draft: any hurt vetoes, then what was made decides, then the majority of evaluators."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import chain
from math import comb, exp, lgamma, log
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from pydantic import Field

from events.types.audit_events import MOST_ITERATIONS, MOST_TRIES, AuditResult
from events.types.frozen import Frozen
from strategies.audit.evaluators.evaluators_table import ARTIFACTS
from strategies.audit.evaluators.safety_compliance import SafetyCompliance
from strategies.gate.stats.clopper_pearson import beta_below

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from strategies.audit.evaluators.evaluator_types import AuditMaterial, EvaluatorReport

HELPED: Final = 20.0 * MOST_ITERATIONS * MOST_TRIES
"""The evidence that shows help: an error rate of .05 an audit, however often one looks (Ville 1939)."""
WORSE: Final = 20.0
"""The evidence that shows a skill to be worse than none: an error rate of .05."""
_CHANCE: Final = 0.05
"""The chance up to which a difference between pairs that disagree counts, for each anchor."""
SAFETY: Final = SafetyCompliance.name
MODELS: Final = "models"
"""Stands for the evaluators that asked a model, where most of them agree on a task."""

VerdictRule = Literal[
    "pairs lost", "anchor lost", "hurt", "nothing cured", "artifacts", "majority", "nothing to judge"
]


class AuditedPair(NamedTuple):
    """One run with the skill and one without, and what the evaluators report on them."""

    material: AuditMaterial
    reports: tuple[EvaluatorReport, ...]


class TaskHurt(Frozen):
    """A task on which an evaluator finds that the skill hurts; `evaluator` is "" for what was made, as a whole."""

    task: str
    evaluator: str


class AuditVerdict(Frozen):
    """What an audit finds of a draft: `result` against no skill, `change` against the draft before it.

    `change` is `null` for the first. `evidence` is that of `result`, by betting on which run of a pair is better.
    """

    result: AuditResult
    rule: VerdictRule
    reason: str
    rolls_back: bool = False
    change: AuditResult = "null"
    hurts: tuple[TaskHurt, ...] = ()
    lost_anchors: tuple[str, ...] = ()
    better: int = Field(default=0, ge=0)
    worse: int = Field(default=0, ge=0)
    pairs: int = Field(default=0, ge=0)
    evidence: float = 1.0


def judge_draft(
    now: Sequence[AuditedPair], before: Sequence[AuditedPair] = (), aims: Collection[TaskHurt] = ()
) -> AuditVerdict:
    """Judge a draft by its pairs, and by those of the last good draft where there is one.

    `aims` are the hurts that something was taken away or added for: where none of them is gone, and none of their
    tasks goes better, the draft is taken back. An anchor that held before and fails now always takes it back; so
    does a hurt on a task that had none, and a task of which no pair is left.
    """
    hurts = hurts_of(now)
    lost = _lost_anchors(before, now)
    signs = [_sign(pair) for pair in now]
    better, worse = signs.count(1), signs.count(-1)
    evidence = sign_evidence(better, worse)
    figures = {"better": better, "worse": worse, "pairs": len(signs), "evidence": evidence}
    change = _change(before, now)
    new = _new_hurts(before, now, hurts) if before else ()

    def verdict(result: AuditResult, rule: VerdictRule, reason: str, *, rolls_back: bool = False) -> AuditVerdict:
        changed: AuditResult = "hurt" if before and (lost or new) else change
        shown = {"hurts": hurts, "lost_anchors": lost, "rolls_back": rolls_back, "change": changed, **figures}
        return AuditVerdict.model_validate({"result": result, "rule": rule, "reason": reason, **shown})

    back: tuple[AuditResult, VerdictRule, str] | None = None
    if unseen := sorted({pair.material.task for pair in before} - {pair.material.task for pair in now}):
        back = "null", "pairs lost", f"infrastructure left no pair of {', '.join(unseen)} to look at"
    elif lost:
        back = "hurt", "anchor lost", f"held before, fails now: {', '.join(lost)}"
    elif new:
        back = "hurt", "hurt", f"hurts that were not there before: {_listed(new)}"
    elif before and aims and not _cures(before, now, aims):
        reason = f"nothing goes better on {', '.join(sorted({aim.task for aim in aims}))}, which it was for"
        back = "hurt" if hurts else "inert", "nothing cured", reason
    if back:
        return verdict(*back, rolls_back=True)
    if hurts:
        return verdict("hurt", "hurt", f"it hurts {_listed(hurts)}")
    artifacts = any(report.result != "null" for pair in now for report in pair.reports if is_artifact(report))
    rule: VerdictRule = "artifacts" if artifacts else "majority"
    if not any(report.result != "null" for pair in now for report in pair.reports):
        return verdict("null", "nothing to judge", "no evaluator could tell anything")
    helped = evidence >= HELPED
    shown = "" if helped or not better else f", which chance may do too: evidence {evidence:.3g} of {HELPED:g}"
    reason = f"{better} of {len(signs)} pairs are better with the skill, {worse} worse{shown}"
    return verdict("helped" if helped else "inert", rule, reason)


def hurts_of(pairs: Sequence[AuditedPair]) -> tuple[TaskHurt, ...]:
    """List the tasks and evaluators that find a hurt in most of the pairs that they can tell something of.

    What a model says counts where most of those that asked one agree: each of them may err.
    """
    counted: dict[tuple[str, str], Counter[AuditResult]] = defaultdict(Counter)
    for pair in pairs:
        asked = Counter(r.result for r in pair.reports if r.by_model and r.result != "null")
        for report in pair.reports:
            if not report.by_model:
                counted[report.task, report.evaluator][report.result] += 1
        if asked.total() > 1:
            agreed: AuditResult = "hurt" if 2 * asked["hurt"] > asked.total() else "inert"
            counted[pair.material.task, MODELS][agreed] += 1
    return tuple(
        TaskHurt(task=task, evaluator=evaluator)
        for (task, evaluator), results in sorted(counted.items())
        if 2 * results["hurt"] > results.total() - results["null"]
    )


def sign_evidence(better: int, worse: int) -> float:
    """Give the evidence that more than half of the pairs which differ are better, whenever one looks.

    It is what a stake of 1 becomes that is spread evenly over the chances from 1/2 to 1 that a differing pair is
    better. Units: 1 is none, 20 an error rate of .05.
    """
    a, b = better + 1, worse + 1
    upper = 1 - beta_below(0.5, a, b)
    return exp((better + worse + 1) * log(2) + lgamma(a) + lgamma(b) - lgamma(a + b)) * upper


def _listed(hurts: Sequence[TaskHurt]) -> str:
    """Name the tasks of hurts, and the evaluators that see them."""
    tasks, evaluators = ({getattr(hurt, field) for hurt in hurts} for field in ("task", "evaluator"))
    return f"{', '.join(sorted(tasks))}, as {', '.join(sorted(evaluators))} see it"


def _new_hurts(
    before: Sequence[AuditedPair], now: Sequence[AuditedPair], hurts: Sequence[TaskHurt]
) -> tuple[TaskHurt, ...]:
    """List the hurts on tasks that had none, as far as chance does not make them, and those of safety, always.

    On a task that is hurt already another evaluator may see one thing once the first is out of its way. Where
    pairs of the same draft disagree, a new hurt is held to the same test as an anchor that is lost.
    """
    known = hurts_of(before)
    tasks = {hurt.task for hurt in known}

    def is_shown(hurt: TaskHurt) -> bool:
        was, is_now = ([not shown for shown in _hurt_pairs(pairs, hurt)] for pairs in (before, now))
        return hurt.evaluator == MODELS or _ends(was, is_now)

    return tuple(
        h for h in hurts if (h not in known if h.evaluator == SAFETY else h.task not in tasks and is_shown(h))
    )


def failing_tasks(pairs: Sequence[AuditedPair]) -> tuple[str, ...]:
    """List the tasks of which an anchor fails with the skill in half of the pairs or more."""
    held = _held(pairs)
    return tuple(sorted({task for (task, _), kept in held.items() if 2 * sum(kept) <= len(kept)}))


def _sign(pair: AuditedPair) -> int:
    """Tell whether the run with the skill is better (1) or worse (-1): by artifacts, else by the majority."""
    results = [report.result for report in pair.reports if is_artifact(report) and report.result != "null"]
    if results:
        return -1 if "hurt" in results else int("helped" in results)
    votes = Counter(report.result for report in pair.reports if report.result != "null")
    if 2 * votes["hurt"] > votes.total():
        return -1
    return int(2 * votes["helped"] > votes.total())


def _change(before: Sequence[AuditedPair], now: Sequence[AuditedPair]) -> AuditResult:
    """Compare how many anchors hold with this draft and with the one before, pair by pair."""
    if not before:
        return "null"
    gains = [after - earlier for earlier, after in _matched(before, now)]
    evidence = sign_evidence(sum(gain > 0 for gain in gains), sum(gain < 0 for gain in gains))
    return "helped" if evidence >= HELPED else "inert"


def _matched(before: Sequence[AuditedPair], now: Sequence[AuditedPair]) -> Iterator[tuple[int, int]]:
    """Yield how many anchors held before and hold now, for each pair of a task in turn."""
    earlier: dict[str, list[int]] = defaultdict(list)
    for pair in before:
        earlier[pair.material.task].append(sum(pair.material.with_skill.anchors.values()))
    for pair in now:
        if earlier[pair.material.task]:
            yield earlier[pair.material.task].pop(0), sum(pair.material.with_skill.anchors.values())


def _cures(before: Sequence[AuditedPair], now: Sequence[AuditedPair], aims: Collection[TaskHurt]) -> bool:
    """Tell whether what a draft is for goes better: a hurt that an evaluator saw is gone, or less fails there.

    Where all pairs of a task agree, one anchor or hurt less is enough; else it is what chance makes in one of
    twenty at most, over all of these tasks.
    """
    if any(_ends(_hurt_pairs(before, aim), _hurt_pairs(now, aim)) for aim in aims if aim.evaluator):
        return True
    tasks = {aim.task for aim in aims}
    was, is_now = _troubles(before, tasks), _troubles(now, tasks)
    if all(len(set(pairs)) == 1 for pairs in (*was.values(), *is_now.values())):
        return any(_ends(was.get(key, []), pairs) for key, pairs in is_now.items())
    earlier, later = (list(chain.from_iterable(troubles.values())) for troubles in (was, is_now))
    is_less = sum(later) * len(earlier) < sum(earlier) * len(later)
    return is_less and _chance_of_loss(earlier, later) <= _CHANCE


def worsening(before: Sequence[AuditedPair], now: Sequence[AuditedPair], chance: float) -> str:
    """Say what goes worse in some pairs than in others, "" where chance may have made it.

    Each anchor of each task counts by itself, and so do hurts in what was made: task by task, and over all tasks.
    """
    tasks = {pair.material.task for pair in now}
    was, is_now = _troubles(before, tasks), _troubles(now, tasks)
    for troubles in (was, is_now):
        troubles["", ""] = [shown for (_, name), pairs in troubles.items() if not name for shown in pairs]
    by_chance = {
        key: _chance_of_loss([not shown for shown in was[key]], [not shown for shown in pairs])
        for key, pairs in is_now.items()
        if was.get(key)
    }
    key = min(by_chance, key=lambda each: (by_chance[each], each), default=("", ""))
    if by_chance.get(key, 1.0) > chance:
        return ""
    where = f"{key[0]}: {key[1] or 'what is made'}" if key[0] else "what is made"
    having, lacking = (f"{sum(pairs)} of {len(pairs)}" for pairs in (is_now[key], was[key]))
    return f"{where} goes wrong in {having} pairs with it, in {lacking} without it"


def _troubles(pairs: Sequence[AuditedPair], tasks: Collection[str]) -> dict[tuple[str, str], list[bool]]:
    """Tell of each anchor of some tasks in which pairs it fails, and of each task in which what was made hurts."""
    failed = {key: [not kept for kept in held] for key, held in _held(pairs).items() if key[0] in tasks}
    return {**failed, **{(task, ""): _hurt_pairs(pairs, TaskHurt(task=task, evaluator="")) for task in tasks}}


def _hurt_pairs(pairs: Sequence[AuditedPair], aim: TaskHurt) -> list[bool]:
    """Tell in which pairs of a task an evaluator finds a hurt, or what was made or lost shows one."""
    evaluators = {aim.evaluator} if aim.evaluator else {*ARTIFACTS, SAFETY}
    return [
        any(r.result == "hurt" and r.evaluator in evaluators and not r.by_model for r in pair.reports)
        for pair in pairs
        if pair.material.task == aim.task
    ]


def _lost_anchors(before: Sequence[AuditedPair], now: Sequence[AuditedPair]) -> tuple[str, ...]:
    """Name the anchors that held in most pairs of a task before, and hold no more."""
    held = _held(before)
    lost = (key for key, kept in sorted(_held(now).items()) if _ends(held.get(key, []), kept))
    return tuple(f"{name} of {task}" for task, name in lost)


def _ends(before: Sequence[bool], now: Sequence[bool]) -> bool:
    """Tell whether what was so in all pairs before is so in none now, or in fewer than chance would have.

    One pair before and one after are enough. Where pairs of the same draft disagree, the difference must be one
    that chance makes in one of twenty at most (Fisher's exact test).
    """
    agree = all(before) and not any(now)
    return 2 * sum(before) > len(before) and (agree or _chance_of_loss(before, now) <= _CHANCE)


def _chance_of_loss(before: Sequence[bool], now: Sequence[bool]) -> float:
    """Give the chance that so few hold now, where the same share holds before and now."""
    holding, total = sum(before) + sum(now), len(before) + len(now)
    ways = [comb(holding, kept) * comb(total - holding, len(now) - kept) for kept in range(sum(now) + 1)]
    return sum(ways) / comb(total, len(now))


def _held(pairs: Sequence[AuditedPair]) -> dict[tuple[str, str], list[bool]]:
    held: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for pair in pairs:
        for name, kept in pair.material.with_skill.anchors.items():
            held[pair.material.task, name].append(kept)
    return held


def is_artifact(report: EvaluatorReport) -> bool:
    """Tell whether a report is about what was made, and computed."""
    return report.evaluator in ARTIFACTS and not report.by_model
