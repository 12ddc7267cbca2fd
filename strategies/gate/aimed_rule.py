"""The aimed gate: a change is looked for on the tasks that it is for, then confirmed on all of them by fresh runs.

Evidence is a product of bets on single pairs (`e_value`), so it may be looked at after every round. Under "no
better on any of these tasks" the evidence of both stages together passes 100 in at most one of a hundred. It is
about the sealed tasks with these tags, not about others like them; that all tasks together lose nothing is asked
of the fresh runs.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Final

from events.types.runs import AimFigures, FreshFigures
from strategies.gate.rollout_rule import (
    FUTILE_Z,
    LOOKS,
    PATIENT_ROUNDS,
    STAKES,
    Z95_ONE_SIDED,
    RolloutVerdict,
    e_value,
    figures_of,
    figures_words,
    refuting_rules,
    rounds_words,
    run_pairs,
    tasks_rule,
)
from strategies.gate.rule import Rule, failed
from strategies.policy.written_rules import ROLLOUT_RULE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strategies.gate.rollout_rule import Pairs
    from strategies.policy.written_rules import RolloutPolicy

AIM_STAKES: Final = (*STAKES, 0.7, 0.9)
"""Bets on the few tasks that a change is for: it moves most of them where it works."""
LEAST_AIMED: Final = 3
"""Tasks from which there is something to aim at; fewer say too little about others of their kind (a guess)."""
FRESH_ROUNDS: Final = 12
"""Rounds of fresh runs at most, on all sealed tasks (simulated: of lines that lift a sixth of 30 tasks from .33 to
.90 nine of ten are promoted, for as many runs as the eight of ten that eight rounds show)."""
FRESH: Final = range(LOOKS[-1], LOOKS[-1] + FRESH_ROUNDS)
"""The rounds whose runs confirm: no first look ever counts one of them."""
FIRST_EVIDENCE: Final = 20
"""What the first runs must show before all tasks are run (simulated: 3 rounds where most of the tasks change)."""
FRESH_EVIDENCE: Final = 2
"""What fresh runs must show by themselves, whatever the first ones did."""
_EARLY_EXPONENT: Final = 0.2
"""The power of 1/share by which a look after a share of the rounds is surer than the last (simulated: of lines
whose rest loses what their own tasks gain 5 % pass in all looks together, without it 14 %)."""
_UNCHANGED: Final = 2
"""Pairs without a difference that are added to those of the tasks that a change is for: a few that are all won do
not tell that every one will be (a guess, after Agresti & Coull 1998)."""
MOST_HARM: Final = 20
"""Evidence of harm on the rest that ends a candidate: 1 in 20 of those that do none reaches it, over all looks."""
MOST_FUTILE: Final = 0.25
"""What a change must always be able to do for its tasks (a guess)."""


def aim_figures(pairs: Pairs, rounds: int, tags: Sequence[str], sealed: int) -> AimFigures:
    """Compute what the first rounds say of the tasks that a change is for; see `rollout_rule.look` for shapes."""
    seen = run_pairs(pairs, rounds)
    flat = [pair for task in seen for pair in task]
    mean = sum(flat) / len(flat) if flat else 0.0
    best = max(range(len(seen)), key=lambda at: sum(seen[at]), default=0)
    others = [pair for at, task in enumerate(seen) if at != best for pair in task]
    return AimFigures(
        tags=tuple(tags),
        tasks=len(pairs),
        sealed=sealed,
        rounds=rounds,
        evidence=e_value(flat, AIM_STAKES),
        without_best=e_value(others, AIM_STAKES),
        difference=mean,
        error=_spread(flat, mean) / sqrt(len(flat)) if flat else 1.0,
    )


def _spread(flat: Sequence[float], mean: float) -> float:
    return sqrt(max(sum(pair * pair for pair in flat) / len(flat) - mean * mean, 0.0))


def fresh_figures(
    aimed: Pairs, rest: Pairs, rounds: int, noise: Sequence[Sequence[float]] | None = None
) -> FreshFigures:
    """Compute what fresh runs say: of the tasks that a change is for, and of the rest.

    Shapes: as above; `noise` are the pairs of all of them without what other changes explain that were run beside
    it, the pairs themselves where none was.
    """
    seen = run_pairs((*aimed, *rest), rounds)
    run = [task for task in seen if task]
    tasks = max(len(run), 1)
    difference = sum(sum(task) / len(task) for task in run) / tasks
    spread = seen if noise is None else noise
    squares = [*_squares(spread[: len(aimed)], _UNCHANGED), *_squares(spread[len(aimed) :])]
    error = sqrt(sum(squares)) / tasks
    return FreshFigures(
        rounds=rounds,
        evidence=e_value([pair for task in seen[: len(aimed)] for pair in task], AIM_STAKES),
        harm=e_value([-pair for task in seen[len(aimed) :] for pair in task], AIM_STAKES),
        difference=difference,
        low=difference - _asked_errors(rounds) * error,
    )


def _asked_errors(rounds: int) -> float:
    """Give the standard errors that a look after so many rounds takes off: who looks often is lucky early."""
    asked: float = Z95_ONE_SIDED * (FRESH_ROUNDS / max(rounds, 1)) ** _EARLY_EXPONENT
    return asked


def _squares(spread: Sequence[Sequence[float]], unchanged: int | None = None) -> Iterator[float]:
    """Give the squared error of each task's mean, () for tasks without pairs.

    A pair counts as if nothing had changed on its task: where something did, the bound only gets wider. With
    `unchanged`, what all of these tasks gain is taken out, as if so many more pairs had shown nothing.
    """
    flat = [pair for task in spread for pair in task]
    mean = 0.0 if unchanged is None else sum(flat) / (len(flat) + unchanged)
    return (sum((pair - mean) ** 2 for pair in task) / len(task) ** 2 for task in spread if task)


def look_at_aim(
    pairs: Pairs, rounds: int, tags: Sequence[str], sealed: int, policy: RolloutPolicy = ROLLOUT_RULE
) -> tuple[RolloutVerdict, AimFigures]:
    """Look at the first runs, on the tasks that a change is for.

    Answers "promote" where all tasks should be run, which is no promotion yet; None while the first runs go on.
    """
    aim = aim_figures(pairs, rounds, tags, sealed)
    last = rounds >= LOOKS[-1] or _is_unlikely(aim)
    return _verdict(_first_rules(aim, policy), aim, pairs, rounds, last=last), aim


def _is_unlikely(aim: AimFigures) -> bool:
    """Tell whether evidence that grows as it did so far is too little after the last look.

    The wealth of the best bet grows by the same factor each round; the others count as lost.
    """
    bets = len(AIM_STAKES)
    grown: float = (aim.evidence * bets) ** (LOOKS[-1] / aim.rounds)
    return aim.rounds >= PATIENT_ROUNDS and grown < FIRST_EVIDENCE * bets


def is_promising(aim: AimFigures | None) -> bool:
    """Tell whether a first look goes on while others have not begun: its evidence exceeds the rounds that it took.

    Simulated on five tasks each, with three lines in ten that work: for each that is shown all lines take 38 runs,
    where they take 61 if every look goes on until it is decided. Bars twice as high save no more.
    """
    return aim is not None and aim.evidence > aim.rounds


def look_at_fresh(
    aim: AimFigures,
    aimed: Pairs,
    rest: Pairs,
    rounds: int,
    policy: RolloutPolicy = ROLLOUT_RULE,
    noise: Sequence[Sequence[float]] | None = None,
) -> tuple[RolloutVerdict, AimFigures]:
    """Look at fresh runs on all sealed tasks, after the first ones had shown a change; `noise` as above."""
    fresh = fresh_figures(aimed, rest, rounds, noise)
    known = aim.model_copy(update={"fresh": fresh})
    rules = tuple(aimed_rules(known, policy))
    last = rounds >= FRESH_ROUNDS or _is_lost_cause(fresh)
    return _verdict(rules, known, (*aimed, *rest), rounds, last=last), known


def _is_lost_cause(fresh: FreshFigures) -> bool:
    """Tell whether the last look will hardly be sure that nothing is lost, if runs go on as they went so far.

    Source: predictive power under a flat prior, Spiegelhalter, Freedman & Blackburn 1986.
    """
    part = min(fresh.rounds / FRESH_ROUNDS, 1.0)
    error = (fresh.difference - fresh.low) / _asked_errors(fresh.rounds)
    ahead = fresh.difference - Z95_ONE_SIDED * error * sqrt(part)
    return ahead < -FUTILE_Z * error * sqrt(1 - part)


def aimed_rules(aim: AimFigures, policy: RolloutPolicy = ROLLOUT_RULE) -> Iterator[Rule]:
    """Apply the written rule to what runs showed of a change with an aim, as far as they came."""
    if aim.fresh is None:
        yield from _first_rules(aim, policy)
        missing = "its own tasks do not show it yet"
        yield Rule("fresh runs", "none", "runs of all sealed tasks", holds=False, missing=missing)
        return
    fresh, least = aim.fresh, policy.aimed_e
    together = aim.evidence * fresh.evidence
    yield tasks_rule(aim.sealed, policy, beside=f", {aim.tasks} of them its own")
    yield Rule(
        "evidence",
        f"e-value {aim.evidence:.1f} × {fresh.evidence:.1f} on its tasks",
        f"at least {least:g}, and {FRESH_EVIDENCE} by fresh runs",
        together >= least and fresh.evidence >= FRESH_EVIDENCE,
        f"e-value {aim.evidence:.1f} × {fresh.evidence:.1f} is below {least:g}"
        if together < least
        else f"fresh runs alone show an e-value of {fresh.evidence:.1f}, below {FRESH_EVIDENCE}",
    )
    yield Rule(
        "size",
        f"difference {fresh.difference:+.3f} over all tasks",
        f"at least {policy.least_difference:+.3f}",
        fresh.difference >= policy.least_difference,
        f"difference {fresh.difference:+.3f} over all tasks is below {policy.least_difference:+.3f}",
    )
    yield Rule(
        "no loss",
        f"{fresh.low:+.3f} at least (95 %) over all tasks",
        "0 or more: what the rest may lose is surely less than what its tasks gain",
        fresh.low >= 0,
        f"what the rest loses may be more than what its tasks gain: {fresh.low:+.3f} at least (95 %)",
    )
    yield Rule(
        "no harm",
        f"e-value {fresh.harm:.1f} of harm on the rest",
        f"below {MOST_HARM}",
        fresh.harm < MOST_HARM,
        f"harms the tasks that it is not for: e-value {fresh.harm:.1f}",
        "reject",
        decisive=True,
    )


def _first_rules(aim: AimFigures, policy: RolloutPolicy) -> tuple[Rule, ...]:
    text = f"e-value {aim.evidence:.1f} on the {aim.tasks} tasks tagged {', '.join(aim.tags)}"
    alone = f"e-value {aim.without_best:.1f} without the task that gained most"
    shown = (
        Rule(
            "aim",
            text,
            f"at least {FIRST_EVIDENCE}",
            aim.evidence >= FIRST_EVIDENCE,
            f"{text} is below {FIRST_EVIDENCE}",
        ),
        Rule(
            "more than one task",
            alone,
            f"at least {policy.least_e / 2:g}",
            aim.without_best >= policy.least_e / 2,
            f"{alone} is below {policy.least_e / 2:g}",
        ),
    )
    least = min(policy.futile_below * aim.sealed / max(aim.tasks, 1), MOST_FUTILE)
    return (*shown, *refuting_rules(aim, least, shown, where=" on its tasks"))


def _verdict(rules: Sequence[Rule], aim: AimFigures, pairs: Pairs, rounds: int, *, last: bool) -> RolloutVerdict:
    figures = figures_of(pairs, rounds)
    decision, missing = failed(rules)
    reason = f"{aim_words(aim)}; {figures_words(figures)}"
    if decision == "promote":
        return RolloutVerdict("promote", reason, figures)
    if decision == "reject":
        return RolloutVerdict("reject", f"{missing[0]}; {reason}", figures)
    return RolloutVerdict("hold" if last else None, f"{missing[0]}; {reason}", figures)


def aim_words(aim: AimFigures) -> str:
    """Say what runs showed on the tasks that a change is for."""
    first = (
        f"for {', '.join(aim.tags)}: {aim.difference:+.3f} on {aim.tasks} of {aim.sealed} sealed tasks, "
        f"{rounds_words(aim.rounds)}, e-value {aim.evidence:.1f}"
    )
    return f"{first}, {aim.fresh.evidence:.1f} in fresh runs" if aim.fresh else first
