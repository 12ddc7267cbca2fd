"""Trying out what was mined: cheap stages first, then runs of an agent for the skills that have a harness."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from registry.decide.commands import Propose
from strategies.claims.applicability import live_claims
from strategies.evolve.draft import register_evaluator, text_verdict, verdict_on
from strategies.gate.explain import explain
from strategies.gate.file_findings import file_changes
from strategies.gate.replay.evaluation_set import sent_so_far

if TYPE_CHECKING:
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from strategies.evolve.draft import CandidateDraft, TurnContext


def with_runs(turn: TurnContext, capsule: Capsule, drafted: CandidateDraft) -> CandidateDraft:
    """Run a candidate where runs decide on its skill; what the cheap stages end is not run.

    It is proposed before its first run, so that what will be compared can be recorded; an interrupted one is
    found without a verdict, and goes on from its finished runs.
    """
    if turn.trials is None or not turn.trials.covers(capsule.name):
        return drafted
    waiting = replace(drafted, awaits_runs=True)
    if text_verdict(turn, capsule, drafted.proposed) is not None:
        return drafted
    sent = sent_so_far(turn.registry) + 1
    if verdict_on(replace(turn, review=False), capsule, drafted, sent).decision == "reject":
        return drafted
    if turn.trials.deferred:
        return waiting
    with turn.registry.log.transaction():
        if turn.registry.candidate(drafted.proposed.candidate) is None:
            register_evaluator(turn.registry, drafted)
            turn.registry.execute(Propose(drafted.proposed), actor=drafted.by)
    runs = turn.trials.settle(turn.registry, capsule, drafted.proposed, turn.preset, turn.seed)
    return replace(drafted, runs=runs)


def awaits_runs(turn: TurnContext, known: Candidate, skill: str) -> bool:
    """Tell whether runs may still decide on a candidate that was held, or interrupted, without any."""
    if turn.trials is None or turn.trials.deferred or not turn.trials.covers(skill):
        return False
    return known.verdict == "hold" and known.scored is not None and known.scored.rollouts is None


def passes_as_stored(turn: TurnContext, known: Candidate, capsule: Capsule) -> bool:
    """Tell whether what runs had shown of a candidate for review reaches the bar of the preset in force."""
    if turn.review or known.scored is None:
        return False
    live = live_claims(capsule)
    files = file_changes(turn.registry.log, capsule, known.proposed.files)
    return explain(known.proposed, known.scored, capsule, live, turn.preset, files).decision == "promote"
