"""The rules of the replay gate, one by one: what each looks at, what it asks for, and whether that is there.

The verdict and its explanation are both made of this one list.
"""

from __future__ import annotations

from math import ceil
from statistics import NormalDist
from typing import TYPE_CHECKING, Final

from registry.query.tier_sentences import alike_words, unseen_words
from strategies.gate.replay.confounders import SURELY
from strategies.gate.replay.leave_one_out import stands
from strategies.gate.replay.recovery_endpoint import MOST_CENSORING_APART, too_far_apart
from strategies.gate.replay.support import is_controlled, is_noticed, support_p
from strategies.gate.rule import NeededTasks, Rule
from strategies.gate.run_rules import each_run, every_part
from strategies.gate.stats.alpha_spending import nth_share
from strategies.gate.stats.mantel_haenszel import Z95

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.score import Balance, Censoring, Confounding, DecisionEffect, Delta, Effect, Replication
    from strategies.gate.replay.measure import Figures
    from strategies.policy.written_rules import GatePolicy

NO_STRATUM: Final = "no sealed stratum holds both obedient and disobedient episodes"
BY_CHANCE: Final = "runs with and without it can tell (germline candidate test)"
RECOVERED_ALONE: Final = (
    "judged by `recovered` alone, whether the next attempt works: that supports nothing by itself, labels or a "
    "trial would"
)
UNCONTROLLED: Final = (
    "could not be measured: too few like decisions differ in how often the same is done elsewhere"
)
MOST_APART: Final = 0.1
"""Standard deviations that both sides may surely differ by in what was seen before (Austin 2009)."""
_MOST_GROWTH: Final = 1e6
"""Beyond that many times the tasks there are, no number says more."""
HEURISTIC: Final = "outcomes are heuristic, made of the same signals: for review"
HINTED: Final = "outcomes are hints from the world, no labels: for review"
"""How the reason begins; the sources follow."""


def replay_rules(figures: Figures, policy: GatePolicy, sent: int) -> Iterator[Rule]:
    """Apply the written rule to a candidate's figures, in the order in which a verdict names what fails.

    Units: sent is the number of claims sent so far and not promoted, this one counted; it names the share of
    alpha, and 0 all of it.
    """
    yield from _labelled(figures)
    yield _both_arms(figures)
    effect = figures.effect
    if effect is None:
        return  # nothing else can be asked of figures that are not there
    yield from _refuting(figures, effect, policy)
    yield from _significant(effect, policy, sent)
    yield _matters(effect, policy)
    yield _replays_better(figures.delta)
    yield from large_enough(effect, policy)
    yield from _endpoint(figures.censoring, effect)
    yield from replicated(effect, policy)
    yield from like_decisions(effect, policy, sent)
    yield from each_run(effect)
    yield from _contradicting(figures)


def inert_rules(figures: Figures, policy: GatePolicy) -> Iterator[Rule]:
    """Apply the rule for a live claim that does nothing; shapes as of `judge_inert`."""
    yield from _labelled(figures)
    yield _both_arms(figures)
    if figures.effect is None:
        return
    effect = turned(figures.effect)
    yield Rule(
        "inert",
        estimate(effect),
        f"its upper bound below {policy.least_difference:+.3f}",
        effect.high < policy.least_difference,
        f"{estimate(effect)}: it may matter",
        decisive=True,
    )
    yield from large_enough(effect, policy)
    if (left := figures.effect.replication) is not None:
        high = f"{-left.low:+.3f}"
        yield Rule(
            "origins",
            f"its upper bound {high} without {left.left_out}" if left.left_out else _sources(left),
            f"below {policy.least_difference:+.3f} without the logs of any single source",
            -left.low < policy.least_difference,
            f"its upper bound is {high} without the logs of {left.left_out}: it may matter",
        )


def replicated(effect: Effect, policy: GatePolicy) -> Iterator[Rule]:
    """Ask that a claim holds without the logs of any single origin; nothing where that was not measured."""
    left = effect.replication
    if left is None:
        return
    without = f"risk difference {left.risk_difference:+.3f}, {p_words(left.p)} without {left.left_out}"
    alone = left.origins == 1 and not left.own
    missing = (
        f"{left.shares[0].name} alone shows it: of logs of others two sources must, independently"
        if alone
        else f"{without}: it rests on the logs of one source"
    )
    yield Rule(
        "origins",
        p_words(left.p) if left.left_out and not alone else _sources(left),
        f"at most {left.most_p:g} without {left.left_out or 'any single source'}",
        stands(left, policy.least_difference),
        missing,
    )
    yield from _known(left)


def like_decisions(effect: Effect, policy: GatePolicy, sent: int) -> Iterator[Rule]:
    """Ask that no common cause explains an effect; nothing where that was not measured."""
    cause = effect.confounding
    if cause is None:
        return
    if not cause.decisions:
        missing = f"no decisions are alike enough to be compared: who did better anyway may do it; {BY_CHANCE}"
        yield Rule("like decisions", "none", "decisions that are like each other", holds=False, missing=missing)
        return
    if cause.balance is not None:
        yield _balanced(cause.balance, cause.times_as_strong)
    if cause.others is not None:
        yield _beside_others(cause, cause.others)
    yield _controlled(cause, policy, sent)
    if effect.replicates is None:
        yield every_part(cause.against)


def _balanced(balance: Balance, times_as_strong: float | None) -> Rule:
    """Ask that both sides were alike before: that what is left of their differences may be chance."""
    unseen = "chance alone could explain the effect"
    if times_as_strong is None:
        unseen = "what was seen before is too weak to measure the unseen by"
    elif times_as_strong:
        unseen = unseen_words(times_as_strong)
    left = f"{balance.after:.2f} ± {Z95 * balance.error:.2f} is left in {balance.left}"
    return Rule(
        "balance",
        f"both sides differed most in {balance.of}, by {balance.before:.2f} standard deviations; among like "
        f"decisions {left}; {unseen}",
        f"not surely above {MOST_APART:g}",
        balance.after - SURELY * balance.error <= MOST_APART,
        f"{left}, in standard deviations: who obeyed was not like the others before; {BY_CHANCE}",
    )


def _beside_others(cause: Confounding, others: DecisionEffect) -> Rule:
    """Say what a decision goes with in other attempts of its task, which it cannot have changed; never fails."""
    return Rule(
        "other attempts",
        f"how others did on the same tasks goes with it by {others.value:+.3f} ± {Z95 * others.error:.3f}"
        f"{'; each outcome is held against theirs' if cause.same_task else ''}",
        "less than the error of the effect, or each outcome is held against theirs",
        holds=True,
        missing="",
    )


def _controlled(cause: Confounding, policy: GatePolicy, sent: int) -> Rule:
    """Ask that a decision shows more than the same action does elsewhere, where that goes with success too."""
    bar, p = nth_share(policy.alpha, sent), support_p(cause, controlled=True)
    goes_with = f"{cause.later:+.3f} ± {Z95 * cause.later_error:.3f} each time"
    return Rule(
        "control",
        f"doing the same elsewhere goes with {goes_with}" if is_controlled(cause) else UNCONTROLLED,
        "not surely above 0, or the decision shows more than that explains",
        not is_noticed(cause) or p <= bar,
        f"those who do it elsewhere as well end {cause.later:+.3f} better each time, whatever they did here: "
        f"they may have been doing better already; beyond that p is {p:.2g}, above {bar:.2g}; {BY_CHANCE}",
    )


def _known(left: Replication) -> Iterator[Rule]:
    if left.own < left.origins:
        figure = "only others obey it" if left.new else "obeyed in one's own logs, or there are none"
        missing = "only the logs of others obey it, never your own: a person decides"
        yield Rule("known", figure, "no action that is new to one's own runs", not left.new, missing)


def _sources(left: Replication) -> str:
    return "one source" if left.origins == 1 else f"{left.origins} sources"


def turned(effect: Effect) -> Effect:
    """Turn the effect of an inverse into that of the claim; its robustness value is neither known nor asked."""
    return effect.model_copy(
        update={
            "risk_difference": -effect.risk_difference,
            "low": -effect.high,
            "high": -effect.low,
            "obeyed": effect.disobeyed,
            "disobeyed": effect.obeyed,
            "p": 1 - effect.p,
            "e_value": 1.0,
        }
    )


def _labelled(figures: Figures) -> Iterator[Rule]:
    """Ask for outcomes that are labels; where none are known, say so: another endpoint is judged then."""
    guessed, asks = "guessed from signals", "not made of the same signals"
    known = figures.outcome is not None or (figures.effect is not None and figures.effect.endpoint == "outcome")
    figure = guessed if figures.heuristic else "known" if known else "none known"
    yield Rule("outcomes", figure, asks, not figures.heuristic, HEURISTIC, decisive=True)
    if figures.hints:
        sources = ", ".join(figures.hints)
        yield Rule(
            "labels",
            f"hints from the world: {sources}",
            "labels alone",
            holds=False,
            missing=f"{HINTED}: {sources}",
        )


def large_enough(effect: Effect, policy: GatePolicy) -> Iterator[Rule]:
    """Ask for enough episodes on either side, and enough tasks: half as many where explore has as many again."""
    least = min(effect.obeyed, effect.disobeyed)
    both = effect.confounding is not None and effect.confounding.mined is not None
    asked = ceil(policy.least_arm / 2) if both else policy.least_arm
    needed = _grown(effect.tasks, asked / least) if 0 < least < asked else None
    yield Rule(
        "arms",
        f"{effect.obeyed} obedient and {effect.disobeyed} disobedient episodes",
        f"at least {asked} of each",
        least >= asked,
        f"{effect.obeyed} obedient and {effect.disobeyed} disobedient episodes in strata with both arms, "
        f"{asked} of each are needed{_of(effect.tasks, needed)}",
        needed_tasks=needed,
        known_tasks=effect.tasks,
    )
    few = effect.tasks < policy.least_tasks
    yield Rule(
        "tasks",
        f"{effect.tasks} tasks",
        f"at least {policy.least_tasks}",
        not few,
        f"{effect.tasks} tasks, {policy.least_tasks} are needed",
        needed_tasks=policy.least_tasks if few else None,
        known_tasks=effect.tasks,
    )


def estimate(effect: Effect) -> str:
    """Say a risk difference with its interval."""
    return f"risk difference {effect.risk_difference:+.3f} [{effect.low:+.3f}, {effect.high:+.3f}]"


def censored(censoring: Censoring) -> str:
    """Say what each arm lost."""
    return (
        f"left out for want of a further attempt: {censoring.obeyed:.0%} of the obedient, "
        f"{censoring.disobeyed:.0%} of the disobedient"
    )


def _both_arms(figures: Figures) -> Rule:
    there = figures.effect is not None
    return Rule(
        "ground",
        "strata with both arms" if there else "no stratum with both arms",
        "sealed strata with both arms",
        there,
        NO_STRATUM,
        decisive=True,
    )


def _refuting(figures: Figures, effect: Effect, policy: GatePolicy) -> Iterator[Rule]:
    """Ask that the figures do not speak against the claim."""
    outcome, estimated = figures.outcome, estimate(effect)
    if outcome is not None:
        lowers = f"it lowers the outcome, whatever it recovers: {estimate(outcome)}"
        holds = outcome.risk_difference >= 0
        yield Rule("outcome", estimate(outcome), "not below 0", holds, lowers, "reject", decisive=True)
    better = effect.risk_difference > 0
    yield Rule("direction", estimated, "above 0", better, f"{estimated} is not above 0", "reject", decisive=True)
    least = f"{policy.least_difference:+.3f}"
    yield Rule(
        "not refuted",
        f"at most {effect.high:+.3f}",
        f"not surely below {least}",
        effect.high >= policy.least_difference,
        f"{estimated} lies below {least}",
        "reject",
        decisive=True,
    )


def _significant(effect: Effect, policy: GatePolicy, sent: int) -> Iterator[Rule]:
    """Ask that chance does not explain an effect: among like decisions, where those were compared."""
    bar, shared = nth_share(policy.alpha, sent), share_words(policy.alpha, sent)
    p, where = chance(effect)
    needed = None if p <= bar else _for_significance(effect.tasks, p, bar)
    missing = f"{p_words(p)}{where} is above {shared}{_of(effect.tasks, needed)}"
    yield Rule(
        "chance",
        f"{p_words(p)}{where}",
        f"at most {shared}",
        p <= bar,
        missing,
        needed_tasks=needed,
        known_tasks=effect.tasks,
    )


def share_words(alpha: float, sent: int) -> str:
    """Say what p a claim is held to, and why: `0.0017, share 2 of alpha 0.01`."""
    return f"{nth_share(alpha, sent):.2g}, share {sent} of alpha {alpha:.2g}" if sent else f"alpha {alpha:.2g}"


def p_words(p: float) -> str:
    """Write a p; one that is too small for a float is not zero."""
    return f"p {p:.2g}" if p else "p below 1e-300"


def chance(effect: Effect) -> tuple[float, str]:
    """Give the p that counts and say of what: of like decisions where those were compared."""
    cause = effect.confounding
    if cause is None or not cause.decisions:
        return effect.p, ""
    splits = f", explore (best of {cause.chosen_of}) and sealed together" if cause.mined is not None else ""
    return support_p(cause), f" among decisions {alike_words(cause)}{splits}"


def _matters(effect: Effect, policy: GatePolicy) -> Rule:
    least = f"{policy.least_difference:+.3f}"
    text = f"risk difference {effect.risk_difference:+.3f}"
    holds = effect.risk_difference >= policy.least_difference
    return Rule("size", text, f"at least {least}", holds, f"{text} is below {least}")


def _replays_better(delta: Delta | None) -> Rule:
    value = "unknown" if delta is None else f"{delta.value:+.4f}"
    holds = delta is not None and delta.value > 0
    missing = f"the paired delta is {value}, not above 0: it gains nothing beside the lines that are there"
    return Rule("replay", f"paired delta {value}", "above 0", holds, missing)


def _endpoint(censoring: Censoring | None, effect: Effect) -> Iterator[Rule]:
    if censoring is not None:
        points = f"{100 * MOST_CENSORING_APART:.0f} points apart"
        yield Rule(
            "censoring",
            censored(censoring),
            f"at most {points}",
            not too_far_apart(censoring),
            f"{censored(censoring)}: more than {points}, so what is left of the arms cannot be compared",
        )
    yield Rule(
        "endpoint",
        f"judged by `{effect.endpoint}`",
        "`outcome`",
        effect.endpoint == "outcome",
        RECOVERED_ALONE,
    )


def _contradicting(figures: Figures) -> Iterator[Rule]:
    """Ask that no live claim wants something else at the same moment; each that does is named."""
    asks = "no other action at the same moment"
    if not figures.contradicted:
        yield Rule("agreement", "no live claim objects", asks, holds=True, missing="")
    for claim in figures.contradicted:
        asked = claim.model_dump_json(exclude_none=True)
        missing = f"a live claim asks for another action at the same moment: {asked}"
        yield Rule("agreement", asked, asks, holds=False, missing=missing)


def _for_significance(tasks: int, p: float, bar: float) -> int | None:
    """Tell how many tasks would bring p under the bar: z grows with the root of their number."""
    z = -NormalDist().inv_cdf(p) if 0 < p < 1 else 0.0
    return _grown(tasks, (NormalDist().inv_cdf(bar) / z) ** 2) if z > 0 else None


def _of(tasks: int, needed: int | None) -> str:
    return "" if needed is None else f": {NeededTasks(tasks, needed).words}"


def _grown(tasks: int, times: float) -> int:
    return ceil(tasks * min(times, _MOST_GROWTH))
