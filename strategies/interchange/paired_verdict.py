"""The gate for results of others: runs with and without a change, paired by task and seed, in one look.

The rule is that of runs of our own (`rollout_rules`): evidence that holds however often somebody looked before
handing it over, chance, size, and enough tasks. Two conditions are added, since nobody here saw the runs being
made: a gain of one seed alone, and a change that was chosen from many by the same scores.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, erfc, sqrt
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final

from strategies.gate.rollout_rule import figures_of, rollout_rules, sign_flip_p
from strategies.gate.rule import Rule, failed
from strategies.policy.written_rules import ROLLOUT_RULE
from strategies.signals.proportion import wilson

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from strategies.gate.rollout_rule import RolloutFigures
    from strategies.gate.rule import Decision
    from strategies.policy.written_rules import RolloutPolicy

    Scores = Mapping[str, Mapping[str, float | None]]
    """Of one side: task, seed, what the run came to."""

SURE: Final = 0.05
"""The chance below which seeds are said to differ, and a task to have got worse, over all of them together."""


GENERAL_SET: Final = "general set"
"""The rule that a set of other tasks than those trained on must keep."""
MOST_FALL: Final = 0.05
"""How much worse than before a general set may surely be, after a model was trained on something else."""


@dataclass(frozen=True)
class TaskChange:
    """A task whose mean fell: before and after, over so many pairs, and whether that is more than chance."""

    task: str
    before: float
    after: float
    pairs: int
    sure: bool


@dataclass(frozen=True)
class PairedVerdict:
    """What paired results come to.

    Units: `before` and `after` are means over the tasks that both sides finished; `unpaired` counts runs whose
    task and seed the other side does not have, `void` pairs that were lost on either side; `better` and `even`
    count tasks, `worse` lists the others, the largest loss first.
    """

    decision: Decision
    rules: tuple[Rule, ...]
    missing: tuple[str, ...]
    figures: RolloutFigures
    before: float
    after: float
    pairs: int
    void: int
    unpaired: int
    seeds: tuple[str, ...]
    better: int
    even: int
    worse: tuple[TaskChange, ...]


def judge_pairs(
    before: Scores, after: Scores, choices: int = 1, policy: RolloutPolicy = ROLLOUT_RULE
) -> PairedVerdict:
    """Judge a change by runs that were made with and without it.

    Units: `choices` is from how many changes this one was chosen by these same scores; evidence and chance are
    charged for it.
    """
    tasks = [task for task in before if task in after]
    seeds = tuple(dict.fromkeys(seed for task in tasks for seed in before[task] if seed in after[task]))
    by_seed = {
        task: {
            seed: (before[task][seed], after[task][seed])
            for seed in seeds
            if seed in before[task] and seed in after[task]
        }
        for task in tasks
    }
    both = {
        task: {seed: (had, has) for seed, (had, has) in runs.items() if had is not None and has is not None}
        for task, runs in by_seed.items()
    }
    gains = {task: {seed: has - had for seed, (had, has) in runs.items()} for task, runs in both.items() if runs}
    measured = figures_of([list(runs.values()) for runs in gains.values()], len(seeds))
    figures = replace(measured, e_value=measured.e_value / choices, p=min(measured.p * choices, 1.0))
    rules = (*_as_of_others(rollout_rules(figures, policy.looked_once), figures), every_seed(gains, seeds, policy))
    decision, missing = failed(rules)
    changes = [_change(task, both[task], len(gains)) for task in gains]
    pairs, ran = sum(map(len, by_seed.values())), sum(map(len, gains.values()))
    return PairedVerdict(
        decision=decision,
        rules=rules,
        missing=missing,
        figures=figures,
        before=fmean(change.before for change in changes) if changes else 0.0,
        after=fmean(change.after for change in changes) if changes else 0.0,
        pairs=ran,
        void=pairs - ran,
        unpaired=sum(len(runs) for side in (before, after) for runs in side.values()) - 2 * pairs,
        seeds=seeds,
        better=sum(change.after > change.before for change in changes),
        even=sum(change.after == change.before for change in changes),
        worse=tuple(
            sorted(
                (change for change in changes if change.after < change.before),
                key=lambda change: (not change.sure, change.after - change.before, change.task),
            )
        ),
    )


def held_general(verdict: PairedVerdict) -> PairedVerdict:
    """Judge the same pairs as a general set: not whether it gained, but that it surely did not fall by much.

    The interval is that of the share of what was gained less that of what was lost, each by Wilson's, put together
    as Newcombe does: where nothing differs it is as wide as so few tasks leave it.
    """
    losses = [change.before - change.after for change in verdict.worse]
    tasks, net = verdict.figures.tasks, verdict.figures.difference
    lost = sum(losses) / tasks if tasks else 0.0
    gained = max(net + lost, 0.0)
    (least_gained, most_gained), (least_lost, most_lost) = (
        wilson(share * tasks, tasks) for share in (gained, lost)
    )
    low = net - sqrt((gained - least_gained) ** 2 + (most_lost - lost) ** 2)
    high = net + sqrt((most_gained - gained) ** 2 + (lost - least_lost) ** 2)
    fell = high < -MOST_FALL
    what = "it fell" if fell else "it may have fallen"
    rule = Rule(
        GENERAL_SET,
        f"{net:+.3f} ({low:+.3f} to {high:+.3f}) on {tasks:,} tasks",
        f"surely no more than {MOST_FALL:.0%} worse",
        holds=low >= -MOST_FALL,
        missing=f"{what} by more than {MOST_FALL:.0%}: {net:+.3f} ({low:+.3f} to {high:+.3f})",
        otherwise="reject" if fell else "hold",
    )
    decision, missing = failed((rule,))
    figures = replace(verdict.figures, low=low, high=high)
    return replace(verdict, decision=decision, rules=(rule,), missing=missing, figures=figures)


def _as_of_others(rules: Sequence[Rule], figures: RolloutFigures) -> Iterator[Rule]:
    """Say no task was sealed, and how many would do where evidence or chance is missing and there is a gain."""
    needed = ceil(figures.tasks * (figures.detectable / figures.difference) ** 2) if figures.difference > 0 else 0
    for rule in rules:
        if rule.name == "tasks":
            plain = rule.missing.replace("sealed ", "")
            yield replace(rule, figure=rule.figure.replace("sealed ", ""), missing=plain)
        elif rule.name in {"evidence", "chance"} and not rule.holds and needed > figures.tasks:
            yield replace(rule, needed_tasks=needed, known_tasks=figures.tasks)
        else:
            yield rule


def every_seed(
    gains: Mapping[str, Mapping[str, float]], seeds: Sequence[str], policy: RolloutPolicy = ROLLOUT_RULE
) -> Rule:
    """Ask that a gain does not rest on one seed: where one surely gains more, the others must show it as well.

    Shapes: gains holds, for each task, after minus before by seed.
    """
    asks = "no seed that gains more than the others, or a gain without it"
    means = {
        seed: fmean(each)
        for seed in seeds
        if (each := [task_gains[seed] for task_gains in gains.values() if seed in task_gains])
    }
    if len(means) < 2:  # noqa: PLR2004 - one seed cannot differ from itself
        return Rule("every seed", "one seed", asks, holds=True, missing="")
    best = max(means, key=lambda seed: means[seed])
    others = {
        task: fmean(by_others)
        for task, task_gains in gains.items()
        if (by_others := [gain for seed, gain in task_gains.items() if seed != best])
    }
    apart = [gains[task][best] - mean for task, mean in others.items() if best in gains[task]]
    chance = min(_one_sided(apart) * len(means), 1.0)
    rest = list(others.values())
    without, rest_p = fmean(rest) if rest else 0.0, sign_flip_p(rest)
    alike = chance > SURE
    apart_words = f"seed {best} gains {means[best]:+.3f}, the rest {without:+.3f}"
    return Rule(
        "every seed",
        f"{len(means)} seeds, alike" if alike else apart_words,
        asks,
        alike or (rest_p <= policy.most_p and without >= policy.least_difference),
        f"the gain is that of seed {best} ({means[best]:+.3f}); the others show {without:+.3f}, p {rest_p:.3f}",
    )


def _one_sided(values: Sequence[float]) -> float:
    """Compute the chance of a mean at least this high where 0 is true, in the normal approximation."""
    if len(values) < 2:  # noqa: PLR2004 - a spread needs two
        return 1.0
    error = stdev(values) / sqrt(len(values))
    mean = fmean(values)
    if error == 0:
        return 0.0 if mean > 0 else 1.0
    return 0.5 * erfc(mean / error / sqrt(2))


def _change(task: str, runs: Mapping[str, tuple[float, float]], tasks: int) -> TaskChange:
    losses = [had - has for had, has in runs.values()]
    return TaskChange(
        task=task,
        before=fmean(had for had, _ in runs.values()),
        after=fmean(has for _, has in runs.values()),
        pairs=len(runs),
        sure=sum(losses) > 0 and sign_flip_p(losses) * tasks <= SURE,
    )
