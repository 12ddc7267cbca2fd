"""One turn of evolution: a signal in, at most one candidate out, judged and recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from events.types.registry_events import CycleFinished
from registry.decide.commands import ChangeTier, Judge, Propose, RecordFact
from registry.query.library import base_of
from strategies.claims.applicability import live_claims
from strategies.evolve.bundles import draft_edits
from strategies.evolve.draft import (
    FOR_REVIEW,
    RELAPSE,
    CandidateDraft,
    draft_lines,
    draft_removal,
    draft_unmeasured,
    key_of,
    register_evaluator,
    tier_of,
    verdict_on,
)
from strategies.evolve.results import CandidateShown, CycleResult, shown_edits
from strategies.evolve.rollout_stage import awaits_runs, passes_as_stored, with_runs
from strategies.evolve.stop_reason import harm_of
from strategies.gate.explain import UNCLAIMED, WRITTEN, explain
from strategies.gate.injection import QUARANTINE
from strategies.gate.replay.evaluation_set import sent_so_far
from strategies.gate.replay.measure import figures_as_stored
from strategies.gate.rules import HINTED
from strategies.gate.staleness import STALE, moved_on
from strategies.gate.verdict import Verdict
from strategies.propose.placement import home_of
from strategies.propose.proposal import NewLines, PlacedEdits, Removal, UnmeasuredEdits
from strategies.tiers.draft_tier import draft_reason

if TYPE_CHECKING:
    from events.types.candidate_events import CandidateProposed, CandidateScored
    from events.types.registry_events import SignalRaised
    from events.types.tiers import TierFigures
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from strategies.evolve.draft import TurnContext
    from strategies.gate.rule import NeededTasks
    from strategies.propose.proposal import Mined


def run_cycle(turn: TurnContext, signal: SignalRaised, capsule: Capsule, mined: Mined) -> CycleResult:
    """Put what was mined for a signal through the gate, and record all of it in one transaction.

    A candidate that was judged before under this evaluator is read, not measured again. Nothing is appended
    before the measurement is done: an interrupted turn leaves no trace, and the next run repeats it. Only where
    runs of an agent decide, the proposal and what will be compared stand before the first of them.
    """
    claims = mined.proposal.claims if mined.proposal else ()
    home = home_of(capsule, signal.fingerprint, signal.action, claims)
    if mined.proposal is None or home is None:
        return _nothing(turn, signal, capsule, mined)
    known = turn.registry.candidate(key_of(turn, capsule, mined.proposal))
    if known is not None and not _open_again(turn, known, capsule):
        return _remembered(turn, signal, known, mined)
    match mined.proposal:
        case NewLines() as lines:
            drafted = draft_lines(turn, signal, capsule, home, lines)
        case Removal() as removal:
            drafted = draft_removal(turn, signal, capsule, removal)
        case UnmeasuredEdits() as edits:
            drafted = draft_unmeasured(turn, signal, capsule, edits)
        case PlacedEdits() as bundle:
            drafted = draft_edits(turn, signal, capsule, bundle)
    return recorded(turn, signal, capsule, mined, with_runs(turn, capsule, drafted))


def _nothing(turn: TurnContext, signal: SignalRaised, capsule: Capsule, mined: Mined) -> CycleResult:
    """Record that no claim survived explore, and what it would take; the same finding is recorded once."""
    needed = mined.needed
    if mined.why:
        needed, reason = None, mined.why
    elif mined.refused:
        needed = None
        reason = f"of {mined.tried} claims tried, what survives explore was rejected before: more logs may tell"
    elif needed is None:
        after = "no action after this error" if signal.template else "nothing that could be asked for"
        reason = f"no claim applicable: {after} has episodes on both sides"
    elif mined.tried:
        reason = f"no claim survived explore, of {mined.tried} tried; the strongest has {needed.words}"
    else:
        reason = f"too few episodes: no claim has 20 on either side; the strongest has {needed.words}"
    result = CycleResult(
        strategy=signal.calls_for,
        signal=signal,
        capsule=capsule.name,
        reasons=(reason,),
        tried=mined.tried,
        needed=needed,
    )
    finished = _finished(turn, result)
    if any(_same_finding(cycle, finished) for cycle in turn.registry.cycles()):
        return replace(result, remembered=True)
    turn.registry.execute(RecordFact((finished,)), actor="germline")
    return result


def _same_finding(cycle: CycleFinished, other: CycleFinished) -> bool:
    return (cycle.fingerprint, cycle.capsule, cycle.evaluator, cycle.candidate) == (
        other.fingerprint,
        other.capsule,
        other.evaluator,
        other.candidate,
    )


def _open_again(turn: TurnContext, known: Candidate, capsule: Capsule) -> bool:
    """Tell whether a candidate may be measured once more: its base went stale while it was measured.

    One that waits for a person is measured again whenever its base moved on, since nobody can approve a stale one;
    with `review` every held one is, for the person who asks. So is one whose runs were never made, or interrupted.
    """
    if known.verdict is None or awaits_runs(turn, known, capsule.name):
        return True
    if known.verdict != "hold" or known.scored is None or known.scored.base_version == capsule.version:
        return False
    if known.reasons[:1] == (STALE,):
        return known.times_scored == 1
    return turn.review or _waits_for_a_person(known) or FOR_REVIEW in known.reasons


def _remembered(turn: TurnContext, signal: SignalRaised, known: Candidate, mined: Mined) -> CycleResult:
    """Read the verdict of a candidate; a held one is judged again where another preset has other numbers."""
    if known.verdict == "hold" and not _waits_for_a_person(known):
        with turn.registry.log.transaction():
            known = _judged_again(turn, turn.registry.candidate(known.id) or known)
    verdict, version = Verdict(known.verdict or "hold", known.reasons), known.version
    if known.taken_back:
        why = (known.tier_change.reason,) if known.fell and known.tier_change else ()
        verdict, version = Verdict("reject", ("it was promoted and taken back", *why, *known.reasons)), None
    remembered = (known.proposed, known.scored, verdict)
    result = _result(turn, signal, remembered, mined, version=version, remembered=True)
    return replace(result, tier=known.tier)


def _judged_again(turn: TurnContext, known: Candidate) -> Candidate:
    """Promote a held candidate where its stored figures now suffice and its base is still live.

    Runs under the write lock, on the candidate as it is there: two processes never both promote it.
    """
    scored, capsule = known.scored, turn.registry.capsule(known.proposed.capsule)
    if known.verdict != "hold" or scored is None or scored.base_version != capsule.version:
        return known
    if moved_on(turn.registry, capsule, capsule):
        return known
    if scored.rollouts is not None or _run_first(turn, capsule):
        return _promoted_as_stored(turn, known, capsule)
    figures = figures_as_stored(scored, known.proposed.claims, live_claims(capsule))
    again = verdict_on(turn, capsule, CandidateDraft(known.proposed, figures), scored.sent)
    if again.decision != "promote":
        return known
    judged = Judge(scored, known.scored_id, "promote", again.reasons, turn.preset.name)
    turn.registry.execute(judged, actor=known.actor)
    return turn.registry.candidate(known.id) or known


def _run_first(turn: TurnContext, capsule: Capsule) -> bool:
    return turn.trials is not None and turn.trials.covers(capsule.name)


def _promoted_as_stored(turn: TurnContext, known: Candidate, capsule: Capsule) -> Candidate:
    """Promote what runs had let through, and only a person's presence was missing."""
    scored = known.scored
    if scored is None or scored.rollouts is None or FOR_REVIEW not in known.reasons:
        return known
    if not passes_as_stored(turn, known, capsule):
        return known
    reasons = tuple(reason for reason in known.reasons if reason != FOR_REVIEW)
    turn.registry.execute(Judge(scored, known.scored_id, "promote", reasons, turn.preset.name), actor=known.actor)
    return turn.registry.candidate(known.id) or known


def _waits_for_a_person(known: Candidate) -> bool:
    asks = ("outcomes are heuristic", HINTED, "lint:", QUARANTINE, UNCLAIMED, WRITTEN, RELAPSE, STALE)
    seen = known.tier is not None and known.tier.tier == "seen"
    return seen or any(reason.startswith(asks) for reason in known.reasons)


def recorded(
    turn: TurnContext,
    signal: SignalRaised,
    capsule: Capsule,
    mined: Mined,
    drafted: CandidateDraft,
) -> CycleResult:
    """Judge, and append proposal, measurement, verdict and what follows from it in one transaction.

    A process that comes second to the same candidate reads the winner's verdict.
    """
    registry, proposed, actor = turn.registry, drafted.proposed, drafted.by
    with registry.log.transaction():
        winner = registry.candidate(proposed.candidate)
        if winner is not None and not _open_again(turn, winner, capsule):
            return _remembered(turn, signal, winner, mined)
        if winner is None:
            register_evaluator(registry, drafted)
            registry.execute(Propose(proposed), actor=actor)
        first = winner is None or not winner.times_scored  # measured again, it counts once
        sent = sent_so_far(registry) + first * drafted.sends if drafted.sends else 0
        verdict = verdict_on(turn, capsule, drafted, sent)
        if verdict.decision == "promote" and (moved := moved_on(registry, capsule, base_of(registry, proposed))):
            verdict = Verdict("hold", (STALE, moved))
        scored = drafted.scored(sent)
        judged = Judge(scored, registry.clock.new_id(), verdict.decision, verdict.reasons, turn.preset.name)
        version = capsule.version + 1 if verdict.decision == "promote" else None
        result = _result(turn, signal, (proposed, scored, verdict), mined, version=version)
        registry.execute(judged, actor=actor)
        tier = tier_of(turn, capsule, drafted, scored, verdict)
        if verdict.decision == "hold":
            _offer(turn, proposed, tier)
        registry.execute(RecordFact((_finished(turn, result),)), actor="germline")
    return replace(result, tier=tier)


def _offer(turn: TurnContext, proposed: CandidateProposed, figures: TierFigures | None) -> None:
    """Write down as what a held candidate is offered to a person, and that it is no longer where that ended."""
    reason = draft_reason(figures) if figures else "measured again, its figures no longer speak for it"
    turn.registry.execute(ChangeTier(proposed.candidate, proposed.capsule, figures, reason), actor="germline")


def _finished(turn: TurnContext, result: CycleResult) -> CycleFinished:
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
            "needed_tasks": result.needed.needed if result.needed else None,
            "because": turn.because,
        }
    )


def _result(
    turn: TurnContext,
    signal: SignalRaised,
    judged: tuple[CandidateProposed, CandidateScored | None, Verdict],
    mined: Mined,
    *,
    version: int | None,
    remembered: bool = False,
) -> CycleResult:
    proposed, scored, verdict = judged
    return CycleResult(
        strategy=signal.calls_for,
        signal=signal,
        capsule=proposed.capsule,
        candidate=CandidateShown(
            proposed.candidate, shown_edits(base_of(turn.registry, proposed), proposed), proposed.claims
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
        rollouts=scored.rollouts if scored else None,
        version=version,
        tried=mined.tried,
        needed=_needed(turn, proposed, scored) if verdict.decision == "hold" else None,
        proposer=proposed.proposer,
        sent=scored.sent if scored else 0,
        remembered=remembered,
        harm=harm_of(scored) if verdict.decision == "reject" else "",
    )


def _needed(turn: TurnContext, proposed: CandidateProposed, scored: CandidateScored | None) -> NeededTasks | None:
    """Tell how many tasks would do for a held candidate, as `gate explain` does."""
    base = base_of(turn.registry, proposed)
    return explain(proposed, scored, base, live_claims(base), turn.preset).needed
