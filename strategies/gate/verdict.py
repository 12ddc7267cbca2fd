"""The verdict: a pure rule over figures, with its reasons in words, before it and after the sealed logs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from registry.query.tier_sentences import unseen_words
from strategies.gate.replay.contrast import CARRYING_SHARE
from strategies.gate.replay.replicates import runs_words
from strategies.gate.rule import Decision, Rule, failed
from strategies.gate.rules import chance, estimate, inert_rules, p_words, replay_rules, share_words, turned
from strategies.policy.written_rules import WRITTEN_RULE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.score import Effect
    from strategies.gate.replay.contrast import Contrast
    from strategies.gate.replay.measure import Figures
    from strategies.policy.written_rules import GatePolicy


__all__ = ["Decision", "Verdict", "judge", "judge_inert"]


@dataclass(frozen=True)
class Verdict:
    """What the gate says, why, and on which ground (run configurations, heaviest first)."""

    decision: Decision
    reasons: tuple[str, ...]
    scope: tuple[str, ...] = ()


def judge(figures: Figures, policy: GatePolicy, sent: int) -> Verdict:
    """Decide whether a candidate may replace its base version.

    Units: sent is the number of claims sent so far and not promoted, this one counted; it names the share of
    alpha, and 0 all of it.
    Rejects where the estimate is not above 0, or surely below the least difference that matters; holds, naming
    what is missing, where it is neither refuted nor shown; promotes when nothing is missing. On the endpoint
    `recovered` a claim that lowers the outcome is rejected whatever it recovers.
    """
    effect = figures.effect
    decision, missing = failed(replay_rules(figures, policy, sent))
    if effect is None:
        return Verdict(decision, missing)
    runs = (effect.replicates.scope if effect.replicates else ()) or effect.scope
    scope = ", ".join(f"run={run}" for run in runs) or f"many runs, none with {CARRYING_SHARE:.0%} of the weight"
    return Verdict(decision, (*(missing or _shown(figures, effect, policy, sent)), f"scope: {scope}"), runs)


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
    p, where = chance(effect)
    yield f"{p_words(p)}{where}, at most {share_words(policy.alpha, sent)}"
    if figures.delta is not None:
        yield f"paired delta {figures.delta.value:+.3f} [{figures.delta.low:.3f}, {figures.delta.high:.3f}]"
    if effect.replicates is not None:
        yield runs_words(effect.replicates)
    yield (
        f"robustness value {effect.e_value:.2f}: something unseen would have to go with both obedience and "
        "success that strongly (risk ratio) to explain this away"
    )
    if effect.confounding and effect.confounding.times_as_strong:
        yield unseen_words(effect.confounding.times_as_strong)


REFUTED: Final = "explore refutes it"
"""How the reason begins where explore speaks against a claim."""
UNSHOWN: Final = "explore does not show it"
"""How the reason begins where explore says too little: nothing was sent to the sealed logs either way."""


def refusal(figures: Contrast | None, tried: int) -> Verdict:
    """Say why a claim that does not survive explore is not sent any further.

    It is rejected where it was compared on both sides and does not go with better outcomes, else held.
    Units: tried is the number of claims that were compared beside it, itself counted.
    """
    if figures is None:
        return Verdict("hold", (f"{UNSHOWN}: no stratum holds both who obeyed and who did not",))
    text = (
        f"risk difference {figures.difference.value:+.3f} "
        f"[{figures.difference.low:+.3f}, {figures.difference.high:+.3f}], z {figures.z:+.1f}, "
        f"{figures.obeyed} obeyed and {figures.disobeyed} did not"
    )
    if min(figures.obeyed, figures.disobeyed) < WRITTEN_RULE.least_arm:
        return Verdict("hold", (f"{UNSHOWN}: {text}; {WRITTEN_RULE.least_arm} on either side are needed",))
    refuted = figures.difference.value <= 0 or figures.difference.high < WRITTEN_RULE.least_difference
    if refuted:
        return Verdict("reject", (f"{REFUTED}: {text}",))
    return Verdict("hold", (f"{UNSHOWN}: {text}; it does not survive among {tried} claims tried",))


def explore_rule(reason: str) -> Rule:
    """Ask that a claim survives explore, given the reason that was stored because it does not."""
    return Rule(
        "explore",
        reason,
        "it survives Benjamini-Yekutieli on explore, and helps",
        holds=False,
        missing=reason,
        otherwise="reject" if reason.startswith(REFUTED) else "hold",
        decisive=True,
    )
