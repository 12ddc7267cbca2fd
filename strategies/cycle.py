"""One turn of evolution: a signal in, at most one candidate out, judged and recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from events.registry_events import CycleFinished
from registry.commands import Judge, Propose, Record
from strategies.drafts import UNCLAIMED, Draft, draft, key_of, live_claims, register_evaluator, verdict_on
from strategies.gate.decide import Verdict
from strategies.gate.measure import Figures, contradicted
from strategies.ground import sent_to
from strategies.proposers.placement import home_of
from strategies.shown import CandidateShown, CycleResult, shown_edits

if TYPE_CHECKING:
    from events.candidate_events import CandidateProposed, CandidateScored
    from events.registry_events import SignalRaised
    from registry.candidate import Candidate
    from registry.capsule import Capsule
    from strategies.drafts import Turn
    from strategies.proposers.proposal import Mined

_STALE: Final = "stale base"


def run_cycle(turn: Turn, signal: SignalRaised, capsule: Capsule, mined: Mined) -> CycleResult:
    """Put what was mined for a signal through the gate, and record all of it in one transaction.

    A candidate that was judged before under this evaluator is read, not measured again. Nothing is appended
    before the measurement is done: an interrupted turn leaves no trace, and the next run repeats it.
    """
    home = home_of(capsule, signal.fingerprint, signal.action)
    if mined.proposal is None or home is None:
        return _nothing(turn, signal, capsule, mined)
    known = turn.registry.candidate(key_of(turn, capsule, mined.proposal))
    if known is not None and not _open_again(known, capsule):
        return _remembered(turn, signal, known, mined)
    return _recorded(turn, signal, capsule, mined, draft(turn, signal, capsule, home, mined.proposal))


def _nothing(turn: Turn, signal: SignalRaised, capsule: Capsule, mined: Mined) -> CycleResult:
    """Record that no claim survived explore, and what it would take; the same finding is recorded once."""
    needed = mined.needed_tasks
    if needed is None:
        after = "no action after this error" if signal.template else "nothing that could be asked for"
        reason = f"no claim applicable: {after} has episodes on both sides"
    elif mined.tried:
        reason = f"no claim survived explore, of {mined.tried} tried; the strongest would need {needed:,} tasks"
    else:
        reason = f"too few episodes: no claim has 20 on either side; the strongest would need {needed:,} tasks"
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
    figures = Figures(
        effect=scored.effect,
        delta=scored.delta,
        contradicted=against,
        outcome=scored.outcome_effect,
        censoring=scored.censoring,
    )
    again = verdict_on(turn, capsule, Draft(known.proposed, figures), scored.sent)
    if again.decision != "promote":
        return known
    judged = Judge(scored, known.scored_id, "promote", again.reasons)
    turn.registry.execute(judged, actor=f"miner:{known.proposed.proposer}")
    return turn.registry.candidate(known.id) or known


def _waits_for_a_person(known: Candidate) -> bool:
    return any(
        reason.startswith(("outcomes are heuristic", "lint:", UNCLAIMED, _STALE)) for reason in known.reasons
    )


def _recorded(
    turn: Turn,
    signal: SignalRaised,
    capsule: Capsule,
    mined: Mined,
    drafted: Draft,
) -> CycleResult:
    """Judge, and append proposal, measurement, verdict and what follows from it in one transaction.

    Whoever comes second to the same candidate reads the winner's verdict.
    """
    registry, proposed = turn.registry, drafted.proposed
    actor = f"miner:{proposed.proposer}"
    with registry.log.transaction():
        winner = registry.candidate(proposed.candidate)
        if winner is not None and not _open_again(winner, capsule):
            return _remembered(turn, signal, winner, mined)
        if winner is None:
            register_evaluator(registry, drafted)
            registry.execute(Propose(proposed), actor=actor)
        sent = sent_to(registry, turn.ground.evaluator) + 1
        verdict = verdict_on(turn, capsule, drafted, sent)
        now_at = registry.capsule(capsule.name).version
        if verdict.decision == "promote" and now_at != capsule.version:
            what = f"{capsule.name} went from version {capsule.version} to {now_at} meanwhile"
            verdict = Verdict("hold", (_STALE, what))
        scored = drafted.scored(sent)
        judged = Judge(scored, registry.clock.new_id(), verdict.decision, verdict.reasons)
        version = capsule.version + 1 if verdict.decision == "promote" else None
        result = _result(turn, signal, (proposed, scored, verdict), mined, version=version)
        registry.execute(judged, actor=actor)
        registry.execute(Record((_finished(turn, result),)), actor="germline")
    return result


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
