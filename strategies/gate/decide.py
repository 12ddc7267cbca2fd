"""The verdict: a pure rule over figures, with its reasons in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from strategies.gate.rules import Decision, censored, estimate, failed, inert_rules, replay_rules, turned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.score import Effect
    from strategies.gate.measure import Figures
    from strategies.gate.policy import GatePolicy

__all__ = ["Decision", "Verdict", "judge", "judge_inert"]


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
    decision, missing = failed(replay_rules(figures, policy, sent))
    if effect is None:
        return Verdict(decision, missing)
    scope = f"scope: {', '.join(f'run={run}' for run in effect.scope)}"
    return Verdict(decision, (*(missing or _shown(figures, effect, policy, sent)), scope), effect.scope)


def judge_inert(figures: Figures, policy: GatePolicy) -> Verdict:
    """Decide whether a live claim does nothing, so that its lines may go: no delta is asked for.

    Shapes: figures are those of its inverse, as for a claim that hurts.
    """
    decision, missing = failed(inert_rules(figures, policy))
    if figures.effect is None:
        return Verdict(decision, missing)
    effect = turned(figures.effect)
    shown = f"inert: {estimate(effect)} lies below {policy.least_difference:+.3f}"
    return Verdict(decision, missing or (shown,), effect.scope)


def _shown(figures: Figures, effect: Effect, policy: GatePolicy, sent: int) -> Iterator[str]:
    """Name what was shown, figure by figure."""
    yield (
        f"risk difference {effect.risk_difference:+.2f} [{effect.low:+.2f}, {effect.high:+.2f}] on sealed logs, "
        f"{effect.obeyed} obedient and {effect.disobeyed} disobedient episodes of {effect.tasks} tasks"
    )
    if effect.endpoint == "recovered":
        yield "judged by `recovered` alone: whether the next attempt works, not how the task ended"
    if figures.censoring is not None:
        yield censored(figures.censoring)
    if figures.outcome is not None:
        yield f"where outcomes are known: {estimate(figures.outcome)}"
    yield f"p {effect.p:.2g}, at most alpha/m = {policy.alpha:g}/{sent}"
    if figures.delta is not None:
        yield f"paired delta {figures.delta.value:+.3f} [{figures.delta.low:.3f}, {figures.delta.high:.3f}]"
    yield (
        f"E-value {effect.e_value:.2f}: something unseen would have to go with both obedience and success "
        "that strongly (risk ratio) to explain this away"
    )
