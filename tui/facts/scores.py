"""Scores, differences and effects as facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from events.types.score import Score
from registry.query.tier_sentences import alike_words
from tui.facts.fact import Fact, ScorePair, fact
from tui.facts.replicates import replicate_facts
from tui.text.numbers import count, interval, share, signed
from tui.text.rows import RowPart, tone_of
from tui.text.words import hint_words, scope_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.candidate_events import CandidateScored
    from events.types.score import Confounding, Delta, Effect, Measured, Replication
    from tui.text.rows import Row


def score_facts(scored: CandidateScored | None) -> Iterator[Fact]:
    """Say what was measured of a candidate: the effect of its claims, and scores before and after."""
    if scored is None:
        yield fact("score", "not measured yet", "dim")
        return
    if scored.effect:
        yield effect_fact(scored.effect)
        if left := scored.effect.replication:
            yield fact("sources", sources_words(left))
        yield from replicate_facts(scored.effect.replicates)
        if cause := scored.effect.confounding:
            yield fact("alike", like_decisions_words(cause))
    yield from pair_facts("score", scored.before, scored.after, scored.delta)
    if scored.hints:
        yield fact("labels", hint_words(scored.hints), "warn")
    if isinstance(scored.audit_after, Score):
        yield from pair_facts("audit", scored.audit_before, scored.audit_after, scored.audit_delta, drawn=False)


def pair_facts(
    label: str, before: Measured, after: Measured, delta: Delta | None, *, drawn: bool = True
) -> Iterator[Fact]:
    """Write two scores with their paired difference, and what the later one rests on."""
    parts = pair_parts(before, after, delta)
    if isinstance(before, Score) and isinstance(after, Score):
        yield Fact(label, parts, drawing=ScorePair(before, after, delta) if drawn else None)
        if drawn:
            yield fact("", measured_words(after), "dim")
    else:
        yield Fact(label, parts)


def pair_parts(before: Measured, after: Measured, delta: Delta | None) -> Row:
    """Write two scores in one line, an interval behind its own: `.441 → .460 [.4, .5]   Δ +.019 [.011, .027]`."""
    if not (isinstance(before, Score) and isinstance(after, Score)):
        return (RowPart(f"not measured: {why_unmeasured(after) or why_unmeasured(before)}", "dim"),)
    between = RowPart(f" {interval(after.low, after.high)}", "dim")
    pair = RowPart(share(before.value)), RowPart(" → ", "dim"), RowPart(share(after.value), "strong"), between
    if delta is None:
        return pair
    bounds = RowPart(f" {interval(delta.low, delta.high)}", "dim")
    return *pair, RowPart("   Δ ", "dim"), RowPart(signed(delta.value), tone_of(delta.low, delta.high)), bounds


def why_unmeasured(measured: Measured | None) -> str | None:
    """Say why there is no score; None where there is one."""
    return getattr(measured, "reason", None)


def measured_words(score: Score) -> str:
    """Say what a score rests on."""
    what = "run" if score.kind == "rollout" else "episode"
    return f"over {count(score.n, what)}, coverage {score.coverage:.0%}, by {score.kind} {score.evaluator[:8]}"


def of_skill(measured: Measured) -> Score | None:
    """Give a score that is the skill's: `recovered` judges one claim, on episodes of the claim's own choosing."""
    return measured if isinstance(measured, Score) and measured.endpoint == "outcome" else None


def like_decisions_words(cause: Confounding) -> str:
    """Say what is left of an effect where decisions are compared that saw the same before."""
    if not cause.decisions:
        return "no decisions that could be compared"
    from strategies.gate.stats.mantel_haenszel import Z95  # noqa: PLC0415 - 50 ms, for measured claims alone

    low, high = (cause.risk_difference + side * Z95 * cause.error for side in (-1, 1))
    figure = f"{signed(cause.risk_difference, 2)} {interval(low, high, 2)}"
    return f"{figure} among {cause.decisions:,} decisions {alike_words(cause)}"


def sources_words(left: Replication) -> str:
    """Name whose logs show an effect, heaviest first."""
    named = ", ".join(f"{share.name} ({share.episodes:,})" for share in left.shares)
    more = left.origins - len(left.shares)
    return f"from {count(left.origins, 'source')}: {named}{f' and {more:,} more' if more else ''}"


def effect_fact(effect: Effect, where: str = "sealed logs") -> Fact:
    """Write what obeying a claim goes with: the risk difference on these logs, both arms, where it holds."""
    ground = f"; ground: {scope_words(effect.scope)}" if effect.scope else ""
    figure = RowPart(signed(effect.risk_difference, 2), tone_of(effect.low, effect.high))
    bounds = RowPart(f" on {where} {interval(effect.low, effect.high, 2)}")
    arms = f"{effect.obeyed:,} obeyed and {effect.disobeyed:,} did not, in {count(effect.tasks, 'task')}"
    return Fact("effect", (figure, bounds), note=f"{arms}; judged by {effect.endpoint}{ground}", drawing=effect)
