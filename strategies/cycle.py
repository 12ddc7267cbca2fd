"""One turn of evolution: a signal in, at most one candidate out, judged and recorded."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from events.candidate_events import CandidateProposed, CandidateScored
from events.claims import Trigger
from events.registry_events import CycleFinished
from registry.commands import Judge, Propose, Record
from strategies.gate.decide import Verdict, judge
from strategies.gate.evaluator import candidate_id
from strategies.gate.lint import Limits, lint
from strategies.gate.measure import Figures, Stamp, contradicted, measure
from strategies.ground import sent_to
from strategies.proposers.placement import appended, home_of
from strategies.shown import CandidateShown, CycleResult, shown_edits

if TYPE_CHECKING:
    from events.claims import Claim
    from events.parts import Strategy
    from events.registry_events import SignalRaised
    from registry.candidate import Candidate
    from registry.capsule import Capsule
    from registry.gene import Gene
    from registry.registry import Registry
    from strategies.gate.decide import Decision
    from strategies.gate.measure import Evidence
    from strategies.ground import Ground
    from strategies.presets import Preset
    from strategies.proposers.proposal import Mined, Proposal

_STALE: Final = "stale base"
FOR_REVIEW: Final = "for review: the gate lets it through, and nobody was there to promote it"
"""The reason that a later run, which a person starts, promotes from the stored figures."""
_OF_LINT: Final[tuple[tuple[str, Decision], ...]] = (("refuse", "reject"), ("review", "hold"))
"""What a finding of lint makes of a promotion."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one turn works with: fixed before it begins. With `review` what the gate lets through is held."""

    registry: Registry
    ground: Ground
    preset: Preset
    seed: int
    edit_budget: int
    offered: tuple[Strategy, ...]
    review: bool = False


def run_cycle(turn: Turn, signal: SignalRaised, capsule: Capsule, mined: Mined) -> CycleResult:
    """Put what was mined for a signal through the gate, and record all of it in one transaction.

    A candidate that was judged before under this evaluator is read, not measured again. Nothing is appended
    before the measurement is done: an interrupted turn leaves no trace, and the next run repeats it.
    """
    home = home_of(capsule, signal.fingerprint, signal.action)
    if mined.proposal is None or home is None:
        return _nothing(turn, signal, capsule, mined)
    key = candidate_id(capsule.name, mined.proposal.claims, turn.ground.evaluator)
    known = turn.registry.candidate(key)
    if known is not None and not _open_again(known, capsule):
        return _remembered(turn, signal, known, mined)
    measured, proposed = _measured(turn, signal, capsule, home, mined.proposal, key)
    return _recorded(turn, signal, capsule, mined, proposed, measured)


def _nothing(turn: Turn, signal: SignalRaised, capsule: Capsule, mined: Mined) -> CycleResult:
    """Record that no claim survived explore, and what it would take; the same finding is recorded once."""
    needed = mined.needed_tasks
    if needed is None:
        reason = "no claim applicable: no action after this error has episodes on both sides"
    elif mined.tried:
        reason = f"no claim survived explore, of {mined.tried} tried; the strongest would need {needed:,} tasks"
    else:
        reason = f"too few episodes: no action has 20 on either side; the strongest would need {needed:,} tasks"
    result = CycleResult(
        strategy=signal.calls_for,
        signal=signal,
        capsule=capsule.name,
        reasons=(reason,),
        tried=mined.tried,
        needed_tasks=needed,
    )
    finished = _finished(turn, result)
    if any(_same_finding(cycle, finished) for cycle in turn.registry.cycles()):
        return replace(result, remembered=True)
    turn.registry.execute(Record((finished,)), actor="germline")
    return result


def _same_finding(one: CycleFinished, other: CycleFinished) -> bool:
    return (one.fingerprint, one.capsule, one.evaluator, one.candidate) == (
        other.fingerprint,
        other.capsule,
        other.evaluator,
        other.candidate,
    )


def _open_again(known: Candidate, capsule: Capsule) -> bool:
    """Tell whether a candidate may be measured once more: its base went stale while it was measured."""
    stale = known.verdict == "hold" and known.reasons[:1] == (_STALE,)
    return stale and known.times_scored == 1 and known.proposed.base_version != capsule.version


def _remembered(turn: Turn, signal: SignalRaised, known: Candidate, mined: Mined) -> CycleResult:
    """Read the verdict of a candidate; a held one is judged again where another preset has other numbers."""
    if known.verdict == "hold" and not _waits_for_a_person(known):
        with turn.registry.log.transaction():
            known = _judged_again(turn, turn.registry.candidate(known.id) or known)
    verdict, version = Verdict(known.verdict or "hold", known.reasons), known.version
    if known.reverted:
        verdict, version = Verdict("reject", ("it was promoted and taken back", *known.reasons)), None
    found = (known.proposed, known.scored, verdict)
    return _result(turn, signal, found, mined, version=version, remembered=True)


def _judged_again(turn: Turn, known: Candidate) -> Candidate:
    """Promote a held candidate where its stored figures now suffice and its base still stands.

    Runs under the write lock, on the candidate as it is there: two processes never both promote it.
    """
    scored, capsule = known.scored, turn.registry.capsule(known.proposed.capsule)
    if known.verdict != "hold" or scored is None or scored.base_version != capsule.version:
        return known
    against = contradicted(known.proposed.claims, live_claims(capsule))
    figures = Figures(scored.effect, scored.delta, contradicted=against)
    again = _verdict(turn, capsule, known.proposed, figures, scored.sent)
    if again.decision != "promote":
        return known
    judged = Judge(scored, known.scored_id, "promote", again.reasons)
    turn.registry.execute(judged, actor=f"miner:{known.proposed.proposer}")
    return turn.registry.candidate(known.id) or known


def _waits_for_a_person(known: Candidate) -> bool:
    return any(reason.startswith(("outcomes are heuristic", "lint:", _STALE)) for reason in known.reasons)


def live_claims(capsule: Capsule) -> tuple[Claim, ...]:
    """List the live claims of a capsule, in gene order."""
    return tuple(one.claim for gene in capsule.genes for one in gene.claims)


def _measured(
    turn: Turn, signal: SignalRaised, capsule: Capsule, home: Gene, proposal: Proposal, key: str
) -> tuple[Evidence, CandidateProposed]:
    """Measure what was mined; what it proposes keeps only the lines whose claims stay."""
    place = sum(len(gene.claims) for gene in capsule.genes[: capsule.genes.index(home) + 1])
    stamp = Stamp(turn.ground.evaluator, turn.registry.clock.now())
    measured = measure(
        proposal.claims, live_claims(capsule), turn.ground.division, stamp, seed=turn.seed, place=place
    )
    kept = proposal.keeping(measured.kept)
    trigger = Trigger(
        fingerprint=signal.fingerprint, kind=signal.kind, template=signal.template, action=signal.action
    )
    return measured, CandidateProposed(
        candidate=key,
        capsule=capsule.name,
        base_version=capsule.version,
        strategy=signal.calls_for,
        preset=turn.preset.name,
        proposer=kept.proposer,
        fingerprint=signal.fingerprint,
        edits=(appended(home, [line.text for line in kept.lines]),),
        claims=kept.claims,
        triggers=(trigger,),
        reason=kept.reason,
        evaluator=turn.ground.evaluator,
    )


def _recorded(
    turn: Turn,
    signal: SignalRaised,
    capsule: Capsule,
    mined: Mined,
    proposed: CandidateProposed,
    measured: Evidence,
) -> CycleResult:
    """Judge, and append proposal, measurement, verdict and what follows from it in one transaction.

    Whoever comes second to the same candidate reads the winner's verdict.
    """
    registry, actor = turn.registry, f"miner:{proposed.proposer}"
    with registry.log.transaction():
        winner = registry.candidate(proposed.candidate)
        if winner is not None and not _open_again(winner, capsule):
            return _remembered(turn, signal, winner, mined)
        if winner is None:
            registry.execute(Propose(proposed), actor=actor)
        sent = sent_to(registry, turn.ground.evaluator) + 1
        verdict = _verdict(turn, capsule, proposed, measured.figures, sent)
        now_at = registry.capsule(capsule.name).version
        if verdict.decision == "promote" and now_at != capsule.version:
            what = f"{capsule.name} went from version {capsule.version} to {now_at} meanwhile"
            verdict = Verdict("hold", (_STALE, what))
        scored = _scored(proposed, measured, sent)
        judged = Judge(scored, registry.clock.new_id(), verdict.decision, verdict.reasons)
        version = capsule.version + 1 if verdict.decision == "promote" else None
        result = _result(turn, signal, (proposed, scored, verdict), mined, version=version)
        registry.execute(judged, actor=actor)
        registry.execute(Record((_finished(turn, result),)), actor="germline")
    return result


def _verdict(turn: Turn, capsule: Capsule, proposed: CandidateProposed, figures: Figures, sent: int) -> Verdict:
    """Judge the figures, and refuse what they would promote but no skill should hold."""
    verdict = judge(figures, turn.preset.policy(), sent)
    if verdict.decision != "promote":
        return verdict
    limits = Limits(edits=turn.edit_budget, trust_region=turn.preset.trust_region)
    findings = lint(capsule, proposed.edits, limits)
    for severity, decision in _OF_LINT:
        said = tuple(f"lint: {one.what}" for one in findings if one.severity == severity)
        if said:
            return Verdict(decision, (*said, *verdict.reasons), verdict.scope)
    return Verdict("hold", (FOR_REVIEW, *verdict.reasons), verdict.scope) if turn.review else verdict


def _scored(proposed: CandidateProposed, measured: Evidence, sent: int) -> CandidateScored:
    return CandidateScored(
        candidate=proposed.candidate,
        capsule=proposed.capsule,
        base_version=proposed.base_version,
        before=measured.sealed.before,
        after=measured.sealed.after,
        delta=measured.sealed.delta,
        effect=measured.sealed.effect,
        audit_before=measured.audit.before,
        audit_after=measured.audit.after,
        audit_delta=measured.audit.delta,
        audit_effect=measured.audit.effect,
        sent=sent,
    )


def _finished(turn: Turn, result: CycleResult) -> CycleFinished:
    return CycleFinished.model_validate(
        {
            "preset": turn.preset.name,
            "seed": turn.seed,
            "strategy": result.strategy,
            "fingerprint": result.signal.fingerprint,
            "capsule": result.capsule,
            "evaluator": turn.ground.evaluator,
            "candidate": result.candidate.id if result.candidate else None,
            "verdict": result.verdict,
            "reasons": result.reasons,
            "tried": result.tried,
            "offered": turn.offered,
            "needed_tasks": result.needed_tasks,
        }
    )


def _result(
    turn: Turn,
    signal: SignalRaised,
    found: tuple[CandidateProposed, CandidateScored | None, Verdict],
    mined: Mined,
    *,
    version: int | None,
    remembered: bool = False,
) -> CycleResult:
    proposed, scored, verdict = found
    return CycleResult(
        strategy=signal.calls_for,
        signal=signal,
        capsule=proposed.capsule,
        candidate=CandidateShown(
            proposed.candidate, shown_edits(turn.registry.capsule(proposed.capsule), proposed), proposed.claims
        ),
        effect=scored.effect if scored else None,
        verdict=verdict.decision,
        reasons=verdict.reasons,
        before=scored.before if scored else None,
        after=scored.after if scored else None,
        delta=scored.delta if scored else None,
        audit_before=scored.audit_before if scored else None,
        audit_after=scored.audit_after if scored else None,
        audit_delta=scored.audit_delta if scored else None,
        version=version,
        tried=mined.tried,
        needed_tasks=mined.needed_tasks if verdict.decision == "hold" else None,
        remembered=remembered,
    )
