"""What the gate looks at: a candidate's effect on sealed, and both versions replayed on sealed and audit."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.score import Delta, Effect, Measured, Score, Split, Unmeasured
from strategies.claims.catalogue import contradicts
from strategies.engines.share import HERE
from strategies.gate.replay.claimed_episodes import ClaimedEpisodes
from strategies.gate.replay.confounders import confounding
from strategies.gate.replay.contrast import cases_of, contrast, effect_of, hints_in, judged
from strategies.gate.replay.exposure import Inverse, moments_of_each
from strategies.gate.replay.leave_one_out import replication
from strategies.gate.replay.recovery_endpoint import attempts, population
from strategies.gate.replay.replicates import replicates
from strategies.gate.replay.score import compare
from strategies.policy.canonical_json import digest
from strategies.policy.written_rules import METHOD, policy_text
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.candidate_events import CandidateScored
    from events.types.claims import Claim
    from events.types.score import Censoring, Endpoint
    from strategies.claims.applicability import Moment
    from strategies.engines.share import Sharing
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.stats.mantel_haenszel import Interval
    from strategies.pool.splits import Division


WORTH_A_LOOK: Final = 0.5
"""An effect that sealed logs do not show at all is not asked for its cause: it is rejected anyway."""


def evaluator_id(division: Division, split_key: str) -> str:
    """Name the replay evaluator that scores on these episodes.

    It is the hash of the sorted (episode hash, outcome) pairs of the splits that are scored, sealed and audit,
    as they stand, with the split key, the claim method and the written rule. Explore is never scored.
    """
    pairs = {
        split: sorted(
            (record.id, None if record.outcome is None else (record.outcome.value, record.outcome.source))
            for record in records
        )
        for split, records in (("sealed", division.sealed), ("audit", division.audit))
    }
    return digest(["evaluator", "replay", METHOD, policy_text(), split_key, pairs])


def canonical_claims(claims: Iterable[Claim]) -> tuple[str, ...]:
    """Write a claim set so that order, and defaults left unsaid, make no difference."""
    texts = {json.dumps(claim.model_dump(), sort_keys=True, separators=(",", ":")) for claim in claims}
    return tuple(sorted(texts))


def claim_evaluator(evaluator: str, claim: Claim) -> str:
    """Name the evaluator that judges one claim by `recovered`: the claim is part of it."""
    return digest(["evaluator", evaluator, "recovered", policy_text("recovered"), canonical_claims([claim])])


def candidate_id(
    capsule: str, claims: Sequence[Claim], evaluator: str, *, removes: Sequence[Claim] = (), text: str = ""
) -> str:
    """Name a replay candidate by its memory key: the same claims under the same evaluator are asked once.

    `removes` are the live claims that it takes away, `text` the words where no claim says what it is about.
    """
    removal = [canonical_claims(removes)] if removes else [text] if text else []
    return digest(["candidate", capsule, canonical_claims(claims), evaluator, *removal])


class MeasurementStamp(NamedTuple):
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
    `censoring` is what the arms lost there. `hints` are the sources from the world that counted as labels.
    """

    effect: Effect | None
    delta: Delta | None
    heuristic: bool = False
    contradicted: tuple[Claim, ...] = ()
    outcome: Effect | None = None
    censoring: Censoring | None = None
    hints: tuple[str, ...] = ()


def figures_as_stored(scored: CandidateScored, claims: Sequence[Claim], live: Sequence[Claim]) -> Figures:
    """Rebuild the figures of a candidate with these claims; live are those of the version it was measured on."""
    return Figures(
        effect=scored.effect,
        delta=scored.delta,
        heuristic=scored.heuristic,
        contradicted=contradicted(claims, live),
        outcome=scored.outcome_effect,
        censoring=scored.censoring,
        hints=scored.hints,
    )


@dataclass(frozen=True)
class ReplayEvidence:
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
    hints: tuple[str, ...] = ()

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
            hints=self.hints,
        )


def measure(  # noqa: PLR0913 - a claim, where it would stand, and what chose it
    claims: Sequence[Claim],
    live: Sequence[Claim],
    division: Division,
    stamp: MeasurementStamp,
    *,
    seed: int,
    place: int | None = None,
    endpoint: Endpoint = "outcome",
    chosen_of: int = 0,
) -> ReplayEvidence:
    """Measure a candidate against the live version of its capsule.

    Shapes: at least one claim, the one it is judged by first; live claims in gene order; `place` is the index
    among them where the candidate's come to stand, None for the end. Of two claims with one moment the later asks
    only those who obeyed the first, so an `avoid` behind the `do` of its template adds nothing. `chosen_of` is the
    number of claims that explore chose the first one of, 0 where that cannot be counted.
    """
    if endpoint == "recovered":
        return _measure_recovered(claims, live, division, stamp, seed=seed, chosen_of=chosen_of)
    sealed, heuristic = judged(division.sealed)
    kept = (claims[0], *(claim for claim in claims[1:] if helps(claim, sealed)))
    at = len(live) if place is None else place
    versions = tuple(live), (*live[:at], *kept, *live[at:])
    return ReplayEvidence(
        sealed=_replayed(
            sealed,
            kept[0],
            versions,
            _Ruler("sealed", stamp, seed, explore=judged(division.explore).records, chosen_of=chosen_of),
        ),
        audit=_replayed(judged(division.audit).records, kept[0], versions, _Ruler("audit", stamp, seed)),
        kept=kept,
        heuristic=heuristic,
        contradicted=contradicted(kept, live),
        hints=hints_in(sealed),
    )


def _measure_recovered(
    claims: Sequence[Claim],
    live: Sequence[Claim],
    division: Division,
    stamp: MeasurementStamp,
    *,
    seed: int,
    chosen_of: int,
) -> ReplayEvidence:
    """Measure by whether the next attempt works, and by outcomes as well where they exist.

    The population is of the claim's own making, so its scores are compared with nothing else: what the capsule
    asks for at other moments is no part of them.
    """
    first = claims[0]
    sealed, audit = population(first, division.sealed), population(first, division.audit)
    kept = (first, *(claim for claim in claims[1:] if helps(claim, sealed.records)))
    own = stamp._replace(evaluator=claim_evaluator(stamp.evaluator, first))
    versions = (), (first,)
    labelled = [record for record in division.sealed if truth(record) is not None]
    known = contrast(cases_of(first, labelled)) if labelled else None
    return ReplayEvidence(
        sealed=_replayed(
            sealed.records,
            first,
            versions,
            _Ruler("sealed", own, seed, "recovered", attempts(first, division.explore), chosen_of),
        ),
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
    stamp: MeasurementStamp,
    *,
    seed: int,
) -> ReplayEvidence:
    """Measure edits that may rewrite lines, on outcomes.

    Shapes: at least one claim, the one it is judged by first; versions are the live claims before and after, in
    gene order, the new ones among the latter.
    """
    sealed, heuristic = judged(division.sealed)
    stay = [claim for claim in versions[1] if claim not in claims]
    return ReplayEvidence(
        sealed=_replayed(
            sealed, claims[0], versions, _Ruler("sealed", stamp, seed, explore=judged(division.explore).records)
        ),
        audit=_replayed(judged(division.audit).records, claims[0], versions, _Ruler("audit", stamp, seed)),
        kept=tuple(claims),
        heuristic=heuristic,
        contradicted=contradicted(claims, stay),
        hints=hints_in(sealed),
    )


def measure_removal(
    claim: Claim, live: Sequence[Claim], division: Division, stamp: MeasurementStamp, *, seed: int
) -> ReplayEvidence:
    """Measure what it would mean to take one live claim away, on outcomes: its figures are those of its inverse.

    Shapes: live claims in gene order, the claim among them.
    """
    sealed, heuristic = judged(division.sealed)
    turned = Inverse(claim)
    versions = tuple(live), tuple(turned if other == claim else other for other in live)
    return ReplayEvidence(
        sealed=_replayed(
            sealed, turned, versions, _Ruler("sealed", stamp, seed, explore=judged(division.explore).records)
        ),
        audit=_replayed(judged(division.audit).records, turned, versions, _Ruler("audit", stamp, seed)),
        kept=(claim,),
        heuristic=heuristic,
        contradicted=(),
        hints=hints_in(sealed),
    )


def score(
    claims: Sequence[Claim], division: Division, stamp: MeasurementStamp, *, seed: int
) -> tuple[Measured, Measured]:
    """Score one version by its claims, in gene order; answers with sealed and audit."""
    ruled = (
        (_Ruler("sealed", stamp, seed), judged(division.sealed).records),
        (_Ruler("audit", stamp, seed), judged(division.audit).records),
    )
    sealed, audit = (_replayed(records, None, (claims, claims), ruler).before for ruler, records in ruled)
    return sealed, audit


def contradicted(claims: Sequence[Claim], live: Sequence[Claim]) -> tuple[Claim, ...]:
    """List the live claims that ask for another action at the moment of one of these claims."""
    return tuple(other for other in live if any(contradicts(other, claim) for claim in claims))


class _Ruler(NamedTuple):
    """One split, and what its scores share; `explore` are the episodes that chose the claim, of so many."""

    split: Split
    stamp: MeasurementStamp
    seed: int
    endpoint: Endpoint = "outcome"
    explore: Sequence[EpisodeRecord] | None = None
    chosen_of: int = 0

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
    judged_claims = () if claim is None else (claim,)
    known = moments_of_each([*versions[0], *versions[1], *judged_claims], records)
    both = compare(records, *versions, seed=ruler.seed, sharing=ruler.stamp.sharing, known=known)
    return Replayed(
        before=ruler.score(both.before, both.coverage_before, both.n),
        after=ruler.score(both.after, both.coverage_after, both.n),
        delta=Delta(value=both.delta.value, low=both.delta.low, high=both.delta.high, tasks=both.tasks),
        effect=None
        if claim is None
        else effect_on(
            claim,
            records,
            ruler.endpoint,
            explore=ruler.explore,
            chosen_of=ruler.chosen_of,
            moments=known[claim],
        ),
    )


def effect_on(
    claim: Claim | Inverse,
    records: Sequence[EpisodeRecord],
    endpoint: Endpoint = "outcome",
    *,
    explore: Sequence[EpisodeRecord] | None = None,
    chosen_of: int = 0,
    moments: Sequence[Moment | None] | None = None,
) -> Effect | None:
    """Contrast the arms of a claim, and once more without each origin; None where no stratum holds both.

    With `explore` each run is asked on both, and a common cause is looked for, beside an effect that sealed logs
    show; explore counts as well where it is known of how many claims it chose this one. `moments` are those of the
    records, where they are known already.
    """
    held = ClaimedEpisodes(claim, records, moments)
    figures = contrast(held.cases)
    if figures is None:
        return None
    effect = effect_of(figures, endpoint)
    every = held if explore is None else held.with_more(explore)
    looked = explore is not None and effect.p <= WORTH_A_LOOK
    cause = confounding(every, records, chosen_of=chosen_of, to_end=endpoint == "outcome") if looked else None
    shown = None if explore is None else replicates(every)
    further = {"replication": replication(held), "confounding": cause, "replicates": shown}
    return effect.model_copy(update=further)


def helps(claim: Claim, records: Sequence[EpisodeRecord]) -> bool:
    """Tell whether a claim's own estimate is above 0."""
    figures = contrast(cases_of(claim, records))
    return figures is not None and figures.difference.value > 0
