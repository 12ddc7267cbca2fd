"""What the gate looks at: a candidate's effect on sealed, and both versions replayed on sealed and audit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from events.score import Delta, Effect, Measured, Score, Split, Unmeasured
from strategies.claims.kinds import contradicts
from strategies.gate.contrast import cases_of, contrast, effect_of
from strategies.gate.evaluator import claim_evaluator
from strategies.gate.exposure import Inverse
from strategies.gate.outcomes import judged
from strategies.gate.recovered import population
from strategies.gate.replay import compare
from strategies.sharing import HERE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.candidate_events import CandidateScored
    from events.claims import Claim
    from events.score import Censoring, Endpoint
    from strategies.gate.splits import Division
    from strategies.gate.strata import Interval
    from strategies.logs.episode import EpisodeRecord
    from strategies.sharing import Sharing


class Stamp(NamedTuple):
    """What all figures of one measurement share: their evaluator, the time, and who works them out."""

    evaluator: str
    measured_at: str
    sharing: Sharing = HERE


@dataclass(frozen=True)
class Replayed:
    """Both versions on one split, and the effect of the candidate's first claim there."""

    before: Measured
    after: Measured
    delta: Delta | None
    effect: Effect | None


@dataclass(frozen=True)
class Figures:
    """All that a verdict rests on; can be rebuilt from `CandidateScored` when a preset changes.

    `outcome` is the effect on outcomes where `effect` is on another endpoint, None where no outcomes exist;
    `censoring` is what the arms lost there.
    """

    effect: Effect | None
    delta: Delta | None
    heuristic: bool = False
    contradicted: tuple[Claim, ...] = ()
    outcome: Effect | None = None
    censoring: Censoring | None = None


def figures_as_stored(scored: CandidateScored, claims: Sequence[Claim], live: Sequence[Claim]) -> Figures:
    """Rebuild the figures of a candidate with these claims; live are those of the version it was measured on."""
    return Figures(
        effect=scored.effect,
        delta=scored.delta,
        heuristic=scored.heuristic,
        contradicted=contradicted(claims, live),
        outcome=scored.outcome_effect,
        censoring=scored.censoring,
    )


@dataclass(frozen=True)
class Evidence:
    """A candidate measured, once, as a whole.

    `kept` are its claims without each later one whose own sealed estimate is not above 0; `audit` is reported
    and never decides. `outcome` is the effect on sealed outcomes where the claim is judged by `recovered`,
    `censoring` what the arms lost there.
    """

    sealed: Replayed
    audit: Replayed
    kept: tuple[Claim, ...]
    heuristic: bool
    contradicted: tuple[Claim, ...]
    outcome: Effect | None = None
    censoring: Censoring | None = None

    @property
    def figures(self) -> Figures:
        """Give the part that a verdict rests on."""
        return Figures(
            effect=self.sealed.effect,
            delta=self.sealed.delta,
            heuristic=self.heuristic,
            contradicted=self.contradicted,
            outcome=self.outcome,
            censoring=self.censoring,
        )


def measure(
    claims: Sequence[Claim],
    live: Sequence[Claim],
    division: Division,
    stamp: Stamp,
    *,
    seed: int,
    place: int | None = None,
    endpoint: Endpoint = "outcome",
) -> Evidence:
    """Measure a candidate against the live version of its capsule.

    Shapes: at least one claim, the one it is judged by first; live claims in gene order; `place` is the index
    among them where the candidate's come to stand, None for the end. An `avoid` that stands behind the `do` of
    its template is never judged twice: of two claims with one moment the first named wins.
    """
    if endpoint == "recovered":
        return _measure_recovered(claims, live, division, stamp, seed=seed)
    sealed, heuristic = judged(division.sealed)
    kept = (claims[0], *(claim for claim in claims[1:] if helps(claim, sealed)))
    at = len(live) if place is None else place
    versions = tuple(live), (*live[:at], *kept, *live[at:])
    return Evidence(
        sealed=_replayed(sealed, kept[0], versions, _Ruler("sealed", stamp, seed)),
        audit=_replayed(judged(division.audit).records, kept[0], versions, _Ruler("audit", stamp, seed)),
        kept=kept,
        heuristic=heuristic,
        contradicted=contradicted(kept, live),
    )


def _measure_recovered(
    claims: Sequence[Claim], live: Sequence[Claim], division: Division, stamp: Stamp, *, seed: int
) -> Evidence:
    """Measure by whether the next attempt works, and by outcomes as well where they exist.

    The population is of the claim's own making, so its scores are compared with nothing else: what the capsule
    asks for at other moments is no part of them.
    """
    first = claims[0]
    sealed, audit = population(first, division.sealed), population(first, division.audit)
    kept = (first, *(claim for claim in claims[1:] if helps(claim, sealed.records)))
    own = stamp._replace(evaluator=claim_evaluator(stamp.evaluator, first))
    versions = (), (first,)
    outcomes = judged(division.sealed)
    known = None if outcomes.heuristic else contrast(cases_of(first, outcomes.records))
    return Evidence(
        sealed=_replayed(sealed.records, first, versions, _Ruler("sealed", own, seed, "recovered")),
        audit=_replayed(audit.records, first, versions, _Ruler("audit", own, seed, "recovered")),
        kept=kept,
        heuristic=False,
        contradicted=contradicted(kept, live),
        outcome=None if known is None else effect_of(known),
        censoring=sealed.censoring,
    )


def measure_change(
    claims: Sequence[Claim],
    versions: tuple[Sequence[Claim], Sequence[Claim]],
    division: Division,
    stamp: Stamp,
    *,
    seed: int,
) -> Evidence:
    """Measure edits that may rewrite lines, on outcomes.

    Shapes: at least one claim, the one it is judged by first; versions are the live claims before and after, in
    gene order, the new ones among the latter.
    """
    sealed, heuristic = judged(division.sealed)
    stay = [claim for claim in versions[1] if claim not in claims]
    return Evidence(
        sealed=_replayed(sealed, claims[0], versions, _Ruler("sealed", stamp, seed)),
        audit=_replayed(judged(division.audit).records, claims[0], versions, _Ruler("audit", stamp, seed)),
        kept=tuple(claims),
        heuristic=heuristic,
        contradicted=contradicted(claims, stay),
    )


def measure_removal(
    claim: Claim, live: Sequence[Claim], division: Division, stamp: Stamp, *, seed: int
) -> Evidence:
    """Measure what it would mean to take one live claim away, on outcomes: its figures are those of its inverse.

    Shapes: live claims in gene order, the claim among them.
    """
    sealed, heuristic = judged(division.sealed)
    turned = Inverse(claim)
    versions = tuple(live), tuple(turned if one == claim else one for one in live)
    return Evidence(
        sealed=_replayed(sealed, turned, versions, _Ruler("sealed", stamp, seed)),
        audit=_replayed(judged(division.audit).records, turned, versions, _Ruler("audit", stamp, seed)),
        kept=(claim,),
        heuristic=heuristic,
        contradicted=(),
    )


def score(claims: Sequence[Claim], division: Division, stamp: Stamp, *, seed: int) -> tuple[Measured, Measured]:
    """Score one version by its claims, in gene order; answers with sealed and audit."""
    ruled = (
        (_Ruler("sealed", stamp, seed), judged(division.sealed).records),
        (_Ruler("audit", stamp, seed), judged(division.audit).records),
    )
    sealed, audit = (_replayed(records, None, (claims, claims), ruler).before for ruler, records in ruled)
    return sealed, audit


def contradicted(claims: Sequence[Claim], live: Sequence[Claim]) -> tuple[Claim, ...]:
    """List the live claims that ask for another action at the moment of one of these claims."""
    return tuple(one for one in live if any(contradicts(one, claim) for claim in claims))


class _Ruler(NamedTuple):
    """One split, and what its scores share."""

    split: Split
    stamp: Stamp
    seed: int
    endpoint: Endpoint = "outcome"

    def nothing(self) -> Unmeasured:
        """Say why there is no score."""
        has = "has an outcome" if self.endpoint == "outcome" else "tries again after this error"
        return Unmeasured(reason=f"no episode of the {self.split} split {has}")

    def score(self, value: Interval, coverage: float, n: int) -> Score:
        """Write one estimate down as a score."""
        return Score(
            value=value.value,
            n=n,
            low=value.low,
            high=value.high,
            kind="replay",
            endpoint=self.endpoint,
            evaluator=self.stamp.evaluator,
            split=self.split,
            coverage=coverage,
            measured_at=self.stamp.measured_at,
        )


def _replayed(
    records: Sequence[EpisodeRecord],
    claim: Claim | Inverse | None,
    versions: tuple[Sequence[Claim | Inverse], Sequence[Claim | Inverse]],
    ruler: _Ruler,
) -> Replayed:
    """Replay both versions on one split, and contrast the arms of the claim that is judged, if any."""
    if not records:
        return Replayed(ruler.nothing(), ruler.nothing(), None, None)
    both = compare(records, *versions, seed=ruler.seed, sharing=ruler.stamp.sharing)
    figures = None if claim is None else contrast(cases_of(claim, records))
    return Replayed(
        before=ruler.score(both.before, both.coverage_before, both.n),
        after=ruler.score(both.after, both.coverage_after, both.n),
        delta=Delta(value=both.delta.value, low=both.delta.low, high=both.delta.high, tasks=both.tasks),
        effect=None if figures is None else effect_of(figures, ruler.endpoint),
    )


def helps(claim: Claim, records: Sequence[EpisodeRecord]) -> bool:
    """Tell whether a claim's own estimate is above 0."""
    figures = contrast(cases_of(claim, records))
    return figures is not None and figures.difference.value > 0
