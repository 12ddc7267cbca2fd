"""Worth: what a line's claim is worth by the logs, held to the same rule as a candidate of the gate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from events.types.claims import AnytimeBefore, Before, FinishWith, Instead, Never
from strategies.episodes.action_class import is_of
from strategies.gate.replay.contrast import Case, contrast, effect_of, judged, settings_of
from strategies.gate.replay.exposure import Inverse, moments_of
from strategies.gate.replay.measure import Figures, effect_on, measure, measure_removal
from strategies.gate.replay.recovery_endpoint import endpoint_for, population
from strategies.gate.rules import replay_rules, turned
from strategies.gate.stats.mantel_haenszel import one_sided_p
from strategies.gate.verdict import judge, judge_inert
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.claims import Claim
    from events.types.score import Effect, Endpoint
    from strategies.claims.applicability import Moment
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.contrast import Contrast
    from strategies.gate.replay.measure import MeasurementStamp
    from strategies.policy.written_rules import GatePolicy
    from strategies.pool.splits import Division

Verdict = Literal["helps", "hurts", "inert", "unknown", "unwitnessed"]
"""What a line is worth; of an `unwitnessed` one no log could tell."""

_NO_HARM: Final = -0.10
"""The lower bound above which a line that does not help is called inert, and not perhaps harmful (a guess)."""
_IN_SIGHT: Final = 20
"""How many times as many tasks are still worth waiting for (a guess)."""
_ORDERS: Final = (AnytimeBefore, Before, FinishWith)
_LOST_CHANCE: Final = (
    "it seems to hurt, as any order does where success ends a session: what is done first costs a chance"
)
_USES: Final = (AnytimeBefore, Instead)
_EXACT_STEPS: Final = 8
"""Up to here sessions are compared that did exactly as much before, from here on in steps that double."""
_BY_CHANCE: Final = "runs with the line and without it, drawn by chance"


@dataclass(frozen=True)
class Worth:
    """A verdict, the effect that it rests on, why it is that one, and what would tell more ("" for none)."""

    verdict: Verdict
    effect: Effect | None
    why: str
    tell: str = ""


UNWITNESSED: Final = Worth(
    "unwitnessed",
    None,
    "its words name no order or choice of commands and tools that logs hold",
    "words that do: run X before Y; use A, not B; never use Z",
)


class ClaimComparison(NamedTuple):
    """By what a claim is judged, on which episodes, and what comparing them shows: None where they cannot be.

    What cannot be compared takes no share of an error rate.
    """

    endpoint: Endpoint
    records: Sequence[EpisodeRecord]
    figures: Contrast | None


def comparison_of(claim: Claim, division: Division) -> ClaimComparison:
    """Compare the sealed episodes that obeyed a claim with those that did not; of a `Never` they cannot be."""
    endpoint = endpoint_for(claim, division.everything)
    records = _population(claim, division.sealed, endpoint)
    figures = None if isinstance(claim, Never) else contrast(_cases(claim, records))
    return ClaimComparison(endpoint, records, figures)


def worth_of(
    claim: Claim,
    division: Division,
    claims: int,
    stamp: MeasurementStamp,
    *,
    seed: int,
    comparison: ClaimComparison | None = None,
) -> Worth:
    """Hold a claim to the rule of the gate, and its inverse, on the sealed part of these episodes.

    Units: `claims` is the number of claims that are compared together; they share one error rate equally.
    `comparison` is that of `comparison_of`, if at hand.
    """
    if isinstance(claim, Never):
        return Worth(
            "unknown", None, "who had no reason to call it obeyed it as well", f"what to use instead; {_BY_CHANCE}"
        )
    endpoint, records, figures = comparison or comparison_of(claim, division)
    if figures is None:
        return _one_sided(claim, records)
    effect = effect_of(figures, endpoint)
    policy = WRITTEN_RULE.model_copy(update={"alpha": WRITTEN_RULE.alpha / max(claims, 1)})
    if effect.p <= policy.alpha:
        evidence = measure([claim], (), division, stamp, seed=seed, endpoint=endpoint)
        return _judged("helps", effect, evidence.figures, policy)
    if one_sided_p(-figures.z) <= policy.alpha:
        return _hurting(claim, effect, division, policy, stamp, seed)
    if effect.low > _NO_HARM and endpoint == "outcome":
        heuristic = judged(division.sealed).heuristic
        inverse = Figures(effect_on(Inverse(claim), records), None, heuristic=heuristic)
        if judge_inert(inverse, WRITTEN_RULE).decision == "promote":
            return Worth("inert", effect, f"obeying it goes with {effect.low:+.3f} to {effect.high:+.3f}")
    return _undecided(effect, policy)


def _cases(claim: Claim, records: Sequence[EpisodeRecord]) -> list[Case]:
    """Find the episodes at a claim's moment; those that did as much else before are compared with each other.

    Who comes to it later has lived longer, and more may have been done by then.
    """
    moment_of, cases = moments_of(claim), list[Case]()
    for record, ((run, difficulty, task), of_task, outcome) in zip(records, settings_of(records), strict=True):
        moment = moment_of(record)
        if moment is not None:
            before = _done_before(claim, record, moment) if isinstance(claim, _USES) else 0
            late = before if before <= _EXACT_STEPS else _EXACT_STEPS + before.bit_length()
            cases.append(((run, f"{difficulty}\x1f{late}", task), of_task, moment.obeyed, outcome))
    return cases


def _done_before(claim: AnytimeBefore | Instead, record: EpisodeRecord, moment: Moment) -> int:
    """Count the calls before a moment, those left out that obey."""
    earlier = record.steps[: moment.step]
    return sum(step.kind == "call" and not is_of(step.action, claim.do) for step in earlier)


def _hurting(
    claim: Claim, effect: Effect, division: Division, policy: GatePolicy, stamp: MeasurementStamp, seed: int
) -> Worth:
    """Hold what a claim forbids to the rule, where that differs from what any claim of its kind would show."""
    if isinstance(claim, _ORDERS):
        return Worth("unknown", effect, _LOST_CHANCE, _BY_CHANCE)
    if effect.endpoint != "outcome":
        return Worth("unknown", effect, "it lowers what is recovered, and no outcome is known", _BY_CHANCE)
    if isinstance(claim, Instead):
        other = Instead(do=claim.avoid, avoid=claim.do)
        evidence = measure([other], (), division, stamp, seed=seed)
    else:
        evidence = measure_removal(claim, (claim,), division, stamp, seed=seed)
    return _judged("hurts", effect, evidence.figures, policy)


def _population(claim: Claim, records: Sequence[EpisodeRecord], endpoint: Endpoint) -> Sequence[EpisodeRecord]:
    return population(claim, records).records if endpoint == "recovered" else judged(records).records


def _judged(verdict: Verdict, effect: Effect, figures: Figures, policy: GatePolicy) -> Worth:
    """Give the verdict where the gate agrees, else what it misses."""
    ruling = judge(figures, policy, 0)
    if ruling.decision == "promote":
        whose = "the gate's rule holds" if verdict == "helps" else "the gate's rule holds for the opposite"
        chance = next((reason for reason in ruling.reasons if reason.startswith("p ")), "")
        return Worth(verdict, effect, f"{whose}: {chance}")
    return Worth("unknown", effect, f"it seems that it {verdict}, but {ruling.reasons[0]}", _BY_CHANCE)


def _one_sided(claim: Claim, records: Sequence[EpisodeRecord]) -> Worth:
    """Say why there is nothing to compare."""
    if not any(truth(record) is not None for record in records):
        return Worth("unknown", None, "no session says how it ended", "germline outcome: label sessions")
    moment_of = moments_of(claim)
    obeyed = [moment.obeyed for record in records if (moment := moment_of(record)) is not None]
    if not obeyed:
        return Worth("unknown", None, "no session with an outcome came to it", "sessions that do")
    if any(obeyed) and not all(obeyed):
        return Worth("unknown", None, f"of {len(obeyed)} sessions that came to it no two are alike", _BY_CHANCE)
    which = "obeyed" if all(obeyed) else "ignored it"
    return Worth("unknown", None, f"all {len(obeyed)} sessions that came to it {which}", _BY_CHANCE)


def _undecided(effect: Effect, policy: GatePolicy) -> Worth:
    """Say how far an effect is from a verdict, in tasks."""
    towards = effect if effect.risk_difference >= 0 else turned(effect)
    rules = [rule for rule in replay_rules(Figures(towards, None), policy, 0) if not rule.holds]
    furthest = max((rule.needed for rule in rules if rule.needed), key=lambda tasks: tasks.needed, default=None)
    why = next((rule.missing for rule in rules), "")
    if furthest is None or furthest.needed > _IN_SIGHT * furthest.known:
        return Worth("unknown", effect, why, _BY_CHANCE)
    return Worth("unknown", effect, why, f"more sessions: {furthest.words}")
