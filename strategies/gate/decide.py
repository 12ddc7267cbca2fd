"""The verdict: a pure rule over figures, with its reasons in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from strategies.gate.recovered import MOST_CENSORING_APART, too_far_apart

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.score import Censoring, Effect
    from strategies.gate.measure import Figures
    from strategies.gate.policy import GatePolicy

Decision = Literal["promote", "reject", "hold"]


@dataclass(frozen=True)
class Verdict:
    """What the gate says, why, and on which ground (run configurations, heaviest first)."""

    decision: Decision
    reasons: tuple[str, ...]
    scope: tuple[str, ...] = ()


def judge(figures: Figures, policy: GatePolicy, sent: int) -> Verdict:
    """Decide whether a candidate may replace its base version.

    Units: sent is the number of claims sent to this evaluator so far, this one counted; it divides alpha.
    Rejects where the estimate is not above 0, or surely below the least difference that matters; holds, naming
    what is missing, where it is neither refuted nor shown; promotes when nothing is missing. On the endpoint
    `recovered` a claim that lowers the outcome is rejected whatever it recovers.
    """
    effect = figures.effect
    if figures.heuristic:
        return Verdict("hold", ("outcomes are heuristic, made of the same signals: for review",), _scope(effect))
    if effect is None:
        return Verdict("hold", ("no sealed stratum holds both obedient and disobedient episodes",))
    scope = f"scope: {', '.join(f'run={run}' for run in effect.scope)}"
    refuted = _refuted(figures, effect, policy)
    if refuted:
        return Verdict("reject", (refuted, scope), effect.scope)
    missing = tuple(_missing(figures, effect, policy, sent))
    if missing:
        return Verdict("hold", (*missing, scope), effect.scope)
    return Verdict("promote", (*_shown(figures, effect, policy, sent), scope), effect.scope)


def judge_inert(figures: Figures, policy: GatePolicy) -> Verdict:
    """Decide whether a live claim does nothing, so that its lines may go: no delta is asked for.

    Shapes: figures are those of the claim itself, not of its inverse.
    """
    effect = figures.effect
    if effect is None:
        return Verdict("hold", ("no sealed stratum holds both obedient and disobedient episodes",))
    if effect.high >= policy.least_difference:
        return Verdict("hold", (f"{_estimate(effect)}: it may matter",), effect.scope)
    missing = tuple(_too_small(effect, policy))
    if missing:
        return Verdict("hold", missing, effect.scope)
    return Verdict(
        "promote", (f"inert: {_estimate(effect)} lies below {policy.least_difference:+.3f}",), effect.scope
    )


def _refuted(figures: Figures, effect: Effect, policy: GatePolicy) -> str:
    """Say how the figures speak against the claim, if they do."""
    outcome = figures.outcome
    if outcome is not None and outcome.risk_difference < 0:
        return f"it lowers the outcome, whatever it recovers: {_estimate(outcome)}"
    if effect.risk_difference <= 0:
        return f"{_estimate(effect)} is not above 0"
    if effect.high < policy.least_difference:
        return f"{_estimate(effect)} lies below {policy.least_difference:+.3f}"
    return ""


def _missing(figures: Figures, effect: Effect, policy: GatePolicy, sent: int) -> Iterator[str]:
    """Name each condition of the written rule that does not hold."""
    if effect.p > policy.alpha / sent:
        yield f"p {effect.p:.2g} is above alpha/m = {policy.alpha:g}/{sent}"
    if effect.risk_difference < policy.least_difference:
        yield f"risk difference {effect.risk_difference:+.3f} is below {policy.least_difference:+.3f}"
    if figures.delta is None or figures.delta.low <= 0:
        low = "unknown" if figures.delta is None else f"{figures.delta.low:+.4f}"
        yield f"the paired delta's lower bound is {low}, not above 0"
    yield from _too_small(effect, policy)
    if effect.e_value < policy.least_e_value:
        yield f"E-value {effect.e_value:.2f} is below {policy.least_e_value:g}"
    if figures.censoring is not None and too_far_apart(figures.censoring):
        yield (
            f"{_censored(figures.censoring)}: more than {100 * MOST_CENSORING_APART:.0f} points apart, so what is "
            "left of the arms cannot be compared"
        )
    if effect.endpoint not in policy.endpoints:
        yield f"the preset does not promote on `{effect.endpoint}` alone"
    for claim in figures.contradicted:
        asked = claim.model_dump_json(exclude_none=True)
        yield f"a live claim asks for another action at the same moment: {asked}"


def _too_small(effect: Effect, policy: GatePolicy) -> Iterator[str]:
    """Name what the arms lack."""
    if min(effect.obeyed, effect.disobeyed) < policy.least_arm:
        yield (
            f"{effect.obeyed} obedient and {effect.disobeyed} disobedient episodes in strata with both arms, "
            f"{policy.least_arm} of each are needed"
        )
    if effect.tasks < policy.least_tasks:
        yield f"{effect.tasks} tasks, {policy.least_tasks} are needed"


def _shown(figures: Figures, effect: Effect, policy: GatePolicy, sent: int) -> Iterator[str]:
    """Name what was shown, figure by figure."""
    yield (
        f"risk difference {effect.risk_difference:+.2f} [{effect.low:+.2f}, {effect.high:+.2f}] on sealed logs, "
        f"{effect.obeyed} obedient and {effect.disobeyed} disobedient episodes of {effect.tasks} tasks"
    )
    if effect.endpoint == "recovered":
        yield "judged by `recovered` alone: whether the next attempt works, not how the task ended"
    if figures.censoring is not None:
        yield _censored(figures.censoring)
    if figures.outcome is not None:
        yield f"where outcomes are known: {_estimate(figures.outcome)}"
    yield f"p {effect.p:.2g}, at most alpha/m = {policy.alpha:g}/{sent}"
    if figures.delta is not None:
        yield f"paired delta {figures.delta.value:+.3f} [{figures.delta.low:.3f}, {figures.delta.high:.3f}]"
    yield (
        f"E-value {effect.e_value:.2f}: something unseen would have to go with both obedience and success "
        "that strongly (risk ratio) to explain this away"
    )


def _estimate(effect: Effect) -> str:
    """Say a risk difference with its interval."""
    return f"risk difference {effect.risk_difference:+.3f} [{effect.low:+.3f}, {effect.high:+.3f}]"


def _censored(censoring: Censoring) -> str:
    """Say what each arm lost."""
    return (
        f"left out for want of a further attempt: {censoring.obeyed:.0%} of the obedient, "
        f"{censoring.disobeyed:.0%} of the disobedient"
    )


def _scope(effect: Effect | None) -> tuple[str, ...]:
    """Give the ground of an effect, if there is one."""
    return () if effect is None else effect.scope
