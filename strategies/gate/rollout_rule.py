"""The rollout gate: runs of candidate and incumbent, paired by task and round, and a rule that may stop early."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd, sqrt
from typing import TYPE_CHECKING, Final

from strategies.gate.rule import Rule, failed
from strategies.gate.stats.mantel_haenszel import Z95
from strategies.policy.written_rules import ROLLOUT_RULE

if TYPE_CHECKING:
    from events.types.runs import AimFigures
    from strategies.gate.rule import Decision
    from strategies.policy.written_rules import RolloutPolicy

LOOKS: Final = (1, 2, 3, 4, 6, 8)
"""The rounds after which the gate looks; after the last it holds."""
PATIENT_ROUNDS: Final = 3
"""The round from which a point estimate may reject; before that only an interval does (simulated: a line that
fixes 4 of 30 tasks was rejected in 12 of 100, half of them after one round, and now in 2)."""
STAKES: Final = (0.05, 0.1, 0.2, 0.35, 0.5)
"""The bets whose average wealth is the e-value (Waudby-Smith & Ramdas 2024)."""
SCALE: Final = 840
"""Task means are counted in these parts: every mean of up to eight whole differences is a whole number of them."""
FUTILE_Z: Final = 1.28
"""One-sided 90 %: what a candidate must still be able to reach."""
Z95_ONE_SIDED: Final = 1.645


Pairs = Sequence[Sequence[float | None]]


@dataclass(frozen=True)
class RolloutFigures:
    """What the runs so far say.

    Units: difference is the mean over tasks of candidate minus incumbent, with a 95 % interval; `detectable` is
    the smallest true difference that this many tasks, varying as these do, would show in four of five times.
    """

    rounds: int
    tasks: int
    e_value: float
    p: float
    difference: float
    error: float
    low: float
    high: float
    detectable: float


@dataclass(frozen=True)
class RolloutVerdict:
    """What the gate says after a look, and why; None while the runs go on."""

    decision: Decision | None
    reason: str
    figures: RolloutFigures


def look(
    pairs: Pairs, rounds: int, policy: RolloutPolicy = ROLLOUT_RULE, *, removal: bool = False
) -> RolloutVerdict:
    """Look at the runs of the first rounds, and say promote, reject, hold, or nothing yet.

    With `removal` the candidate only takes lines away, and need not gain anything.

    Shapes: pairs holds, for each sealed task, candidate minus incumbent of each round in order, None where an
    infrastructure error voided the pair; a task without any pair does not count.
    Units: differences in [-1, 1]. The order of the rules matters: evidence first, then ties and futility.
    """
    figures = figures_of(pairs, rounds)
    reasons = figures_words(figures)
    rules = removal_rules(figures, policy) if removal else rollout_rules(figures, policy)
    decision, missing = failed(rules)
    if decision == "promote":
        return RolloutVerdict("promote", reasons, figures)
    if decision == "reject":
        return RolloutVerdict("reject", f"{missing[0]}: {reasons}", figures)
    few = not rules[0].holds
    if rounds >= LOOKS[-1] or (len(pairs) < policy.least_tasks and len(missing) == 1):  # no round brings a task
        return RolloutVerdict(
            "hold", missing[0] if few else f"not shown after {rounds} rounds: {reasons}", figures
        )
    return RolloutVerdict(None, reasons, figures)


def rollout_rules(figures: RolloutFigures, policy: RolloutPolicy = ROLLOUT_RULE) -> tuple[Rule, ...]:
    """Apply the written rule to what runs say; what was shown is not futile, however wide its interval.

    Shapes: the rule about the number of tasks comes first.
    """
    text, asked = f"difference {figures.difference:+.3f}", asked_evidence(figures.rounds, policy)
    shown = (
        tasks_rule(figures.tasks, policy),
        Rule(
            "evidence",
            f"e-value {figures.e_value:.1f}",
            f"at least {asked:.3g} after {rounds_words(figures.rounds)}",
            figures.e_value >= asked,
            f"e-value {figures.e_value:.1f} is below {asked:.3g}",
        ),
        Rule(
            "chance",
            f"p {figures.p:.3f}",
            f"at most {policy.most_p:g}",
            figures.p <= policy.most_p,
            f"p {figures.p:.3f} is above {policy.most_p:g}",
        ),
        Rule(
            "size",
            text,
            f"at least {policy.least_difference:+.3f}",
            figures.difference >= policy.least_difference,
            f"{text} is below {policy.least_difference:+.3f}",
        ),
    )
    return (*shown, *refuting_rules(figures, policy.futile_below, shown))


def asked_evidence(rounds: int, policy: RolloutPolicy = ROLLOUT_RULE) -> float:
    """Give the evidence that so many rounds on all tasks must show.

    Simulated on 25 to 90 tasks with rates of three Beta distributions: of lines that change nothing .8 to 1.0 %
    pass in eight rounds (with the same bar at every look 1.7 to 2.4 %), and of lines that help 0 to 4 points less.
    """
    asked: float = policy.least_e * (LOOKS[-1] / max(rounds, 1)) ** policy.early_exponent
    return asked


def refuting_rules(
    figures: RolloutFigures | AimFigures, least: float, shown: Sequence[Rule], where: str = ""
) -> tuple[Rule, ...]:
    """Reject what runs refute, on the tasks that `where` names: before the third round by the 95 % bound alone.

    Units: `least` is what a candidate must still be able to reach, unless all rules of `shown` hold.
    """
    patient = figures.rounds < PATIENT_ROUNDS
    best = figures.difference + (Z95 if patient else FUTILE_Z) * figures.error
    better = figures.difference > 0 or (patient and best > 0)
    text = f"difference {figures.difference:+.3f}{where}"
    missing = f"no better{where}: {text}" if where else "no better"
    return (
        Rule("direction", text, "above 0", better, missing, "reject", decisive=True),
        Rule(
            "not futile",
            f"{best:+.3f} at best{where}",
            f"at least {least:+.2f}, or shown",
            all(rule.holds for rule in shown) or best >= least,
            f"futile{where}, even at best below {least:+.2f}",
            "reject",
            decisive=True,
        ),
    )


def removal_rules(figures: RolloutFigures, policy: RolloutPolicy = ROLLOUT_RULE) -> tuple[Rule, ...]:
    """Ask of a candidate that only takes lines away that less is lost than a gain would have to be.

    Simulated at 30 tasks, looking from the third round on: of lines that do nothing 64 % go, of those worth 5
    points 3 %, of those worth 11 none.
    Shapes: the rule about the number of tasks comes first.
    """
    least, best = figures.difference - Z95_ONE_SIDED * figures.error, figures.difference + Z95 * figures.error
    ran = figures.rounds >= PATIENT_ROUNDS
    text = f"{least:+.3f} at least" if ran else f"{figures.rounds} of at least {PATIENT_ROUNDS} rounds"
    return (
        tasks_rule(figures.tasks, policy),
        Rule(
            "no loss",
            text,
            f"at least {-policy.futile_below:+.2f}, from round {PATIENT_ROUNDS} on",
            ran and least >= -policy.futile_below,
            f"that nothing is lost is not shown: {text}",
        ),
        Rule(
            "harm",
            f"{best:+.3f} at best",
            "0 or more",
            best >= 0,
            f"the lines are missed, {best:+.3f} at best",
            "reject",
            decisive=True,
        ),
    )


def tasks_rule(tasks: int, policy: RolloutPolicy, beside: str = "") -> Rule:
    """Ask for enough sealed tasks; `beside` says more of them."""
    few = tasks < policy.least_tasks
    return Rule(
        "tasks",
        f"{tasks} sealed tasks{beside}",
        f"at least {policy.least_tasks}",
        not few,
        f"{tasks} sealed tasks, {policy.least_tasks} are needed: a person decides",
        needed_tasks=policy.least_tasks if few else None,
        known_tasks=tasks,
    )


def decide(pairs: Pairs, policy: RolloutPolicy = ROLLOUT_RULE) -> RolloutVerdict:
    """Look after each round at which the gate looks, and stop at the first verdict.

    Runs that end before the last look without one hold: missing runs never promote.
    """
    last = RolloutVerdict("hold", "no pair was run", figures_of((), 0))
    available = max((len(rounds) for rounds in pairs), default=0)
    for rounds in LOOKS:
        if rounds > available:
            break
        last = look(pairs, rounds, policy)
        if last.decision is not None:
            return last
    return RolloutVerdict("hold", f"runs are missing: {last.reason}", last.figures)


def figures_of(pairs: Pairs, rounds: int) -> RolloutFigures:
    """Compute what the pairs of the first rounds say; see `look` for shapes."""
    by_round = [[task[at] for task in pairs if at < len(task)] for at in range(rounds)]
    flat = [pair for pairs_of_round in by_round for pair in pairs_of_round if pair is not None]
    means = [sum(task) / len(task) for task in run_pairs(pairs, rounds) if task]
    tasks = len(means)
    mean = sum(means) / tasks if tasks else 0.0
    spread = sqrt(sum((task_mean - mean) ** 2 for task_mean in means) / (tasks - 1)) if tasks > 1 else 1.0
    error = spread / sqrt(tasks) if tasks else 1.0
    return RolloutFigures(
        rounds=rounds,
        tasks=tasks,
        e_value=e_value(flat),
        p=sign_flip_p(means),
        difference=mean,
        error=error,
        low=max(mean - Z95 * error, -1.0),
        high=min(mean + Z95 * error, 1.0),
        detectable=min((Z95_ONE_SIDED + 0.84) * error, 1.0),
    )


def run_pairs(pairs: Pairs, rounds: int) -> list[list[float]]:
    """Give the pairs of the first rounds, task by task, without those that were voided."""
    return [[pair for pair in task[:rounds] if pair is not None] for task in pairs]


def e_value(differences: Sequence[float], stakes: Sequence[float] = STAKES) -> float:
    """Compute the wealth of a gambler who bets on the candidate, averaged over fixed stakes.

    Under "no better" it stays below 10 with probability 9 in 10, however often one looks.
    Source: betting e-process, Waudby-Smith & Ramdas 2024.
    """
    wealth = [1.0] * len(stakes)
    for difference in differences:
        wealth = [have * (1 + stake * difference) for have, stake in zip(wealth, stakes, strict=True)]
    return sum(wealth) / len(wealth)


def sign_flip_p(means: Sequence[float]) -> float:
    """Compute the share of sign patterns of the task means whose sum is at least the one seen; one-sided, exact.

    A dynamic programme over integer sums: `ways` is a polynomial in one big integer, whose digits count how many
    patterns reach each sum, so that a task costs one shift and one addition. Means of 0 flip to themselves.
    """
    signed = [part for part in (round(mean * SCALE) for mean in means) if part]
    if not signed:
        return 1.0
    unit = gcd(*signed)
    sizes = [abs(part) // unit for part in signed]
    width = len(sizes) + 1  # bits of a digit: no count exceeds 2 ** len(sizes)
    ways = 1
    for size in sizes:
        ways += ways << (size * width)  # flipping a task from minus to plus moves the sum by twice its size
    least = (sum(signed) // unit + sum(sizes)) // 2  # half of what was moved from "all minus"
    favourable = _digit_sum(ways >> (least * width), width)
    return float(Fraction(favourable, 2 ** len(sizes)))


def _digit_sum(number: int, width: int) -> int:
    """Sum the digits of a number whose digits have this many bits, by folding it in half again and again."""
    digits = -(-number.bit_length() // width)
    while digits > 1:
        half = (digits + 1) // 2
        low = number & ((1 << (half * width)) - 1)
        number = low + (number >> (half * width))
        digits = half
    return number


def figures_words(figures: RolloutFigures) -> str:
    """Say the figures, and what they could not have shown."""
    return (
        f"difference {figures.difference:+.3f} [{figures.low:+.3f}, {figures.high:+.3f}], "
        f"e-value {figures.e_value:.1f}, p {figures.p:.3f}, "
        f"{figures.tasks} tasks in {rounds_words(figures.rounds)}; {limit_words(figures.detectable)}"
    )


def limit_words(detectable: float) -> str:
    """Say the smallest effect that figures could have shown; 0 where all tasks differ alike."""
    if not detectable:
        return "all tasks differ alike, so they cannot say how small an effect they show"
    return f"the smallest effect that these could have shown is about {detectable:+.2f}"


def rounds_words(rounds: int) -> str:
    """Say how many rounds."""
    return "1 round" if rounds == 1 else f"{rounds} rounds"
