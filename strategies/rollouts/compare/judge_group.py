"""Candidates judged by runs: tried in one group, read for what no skill should hold, recorded."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from events.errors import CheckFailedError, EditError, NotFoundError, RefusedError, UsageError
from events.types.candidate_events import CandidateScored
from events.types.score import Score, Unmeasured
from registry.decide.commands import Judge, Propose
from registry.decide.promote import whole
from registry.decide.retirement import require_live
from registry.decide.review import require_candidate
from registry.query.library import base_of
from strategies.gate.explain import gene_rules, text_rules, weight_rule
from strategies.gate.file_findings import file_changes
from strategies.gate.grave_actions import person_rules
from strategies.gate.lint import findings_on, limits_of
from strategies.gate.rule import failed
from strategies.gate.staleness import STALE, moved_on
from strategies.gate.verdict import Verdict
from strategies.rollouts.compare.comparison import contest_of, freeze, runs_of
from strategies.rollouts.compare.rounds import WAITS
from strategies.rollouts.compare.settle import Settled, rollout_candidate_id, settled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.types.candidate_events import CandidateProposed
    from events.types.parts import FileEntry
    from registry.state.candidate import Candidate
    from registry.state.capsule import Capsule
    from strategies.gate.rule import Rule
    from strategies.rollouts.compare.comparison import Rig
    from strategies.rollouts.compare.contest import Contest


def try_out(rig: Rig, ids: Sequence[str]) -> list[Candidate]:
    """Run candidates of one skill in one group, record what came of each, and return them as they then stand.

    What a bundle becomes without its passengers is a candidate of its own, and comes before it. What passed in
    company of those that became live before it is promoted on top of them; what passed by itself, and fits what
    is live then, is tested on that.
    Raises: NotFoundError for an unknown candidate; RefusedError for one that cannot be tested; CheckFailedError
    where the preset or lint refuses its text, before any run; what the runner raises.
    """
    capsule, proposals = _competing(rig, ids)
    with runs_of(rig) as runs:
        tried: list[Candidate] = []
        promoted: set[str] = set()
        for candidate in settled(rig, runs, capsule, proposals):
            live = base_of(rig.registry, candidate.proposed)
            again, base = [candidate], capsule
            if _goes_on(capsule, live, candidate):
                base = live
                if not promoted <= candidate.company:
                    again = settled(rig, runs, live, [candidate.proposed])
            judged = [record(rig, base, _read(rig, base, each)) for each in again]
            promoted |= {known.id for known in judged if known.verdict == "promote"}
            tried += judged
    return tried


def _goes_on(base: Capsule, live: Capsule, candidate: Settled) -> bool:
    """Tell whether a candidate that passed is to be tested on the version that another one has become since."""
    waits = candidate.verdict.reasons[0].startswith(WAITS)
    passed = candidate.verdict.decision == "promote" and live.version != base.version
    return (waits or passed) and fits(base, live, candidate.proposed)


def fits(base: Capsule, live: Capsule, proposed: CandidateProposed) -> bool:
    """Tell whether what a candidate changes of its base is in the live version as it was, to be rebased."""
    if base.version == live.version:
        return True
    lines, live_lines = _lines(base), _lines(live)
    files, live_files = _files(base), _files(live)
    changed = [
        *(lines.get(target) != live_lines.get(target) for target in proposed.targets),
        *(files.get(file.path) != live_files.get(file.path) for file in proposed.files),
    ]
    if proposed.skill or any(changed):
        return False
    try:
        whole(live, proposed)
    except (EditError, NotFoundError):
        return False
    return True


def _lines(capsule: Capsule) -> dict[tuple[str, int], str]:
    return {(gene.id, line.id): line.text for gene in capsule.genes for line in gene.lines}


def _files(capsule: Capsule) -> dict[str, FileEntry]:
    return {file.entry.path: file.entry for file in capsule.files}


def frozen_only(rig: Rig, ids: Sequence[str]) -> Contest:
    """Record what would be compared, and run nothing: what a dry run rehearses. Raises: as `try_out` does."""
    capsule, proposals = _competing(rig, ids)
    contest = contest_of(rig, capsule, proposals)
    freeze(rig, capsule, contest)
    return contest


def record(rig: Rig, capsule: Capsule, settled: Settled) -> Candidate:
    """Write down what came of a candidate; where another process was faster, its verdict is read."""
    registry, name = rig.registry, settled.proposed.candidate
    with registry.log.transaction():
        known = _known(rig, name)
        if known.is_decided:
            return known
        verdict, now = settled.verdict, base_of(registry, settled.proposed)
        if verdict.decision == "promote" and (moved := moved_on(registry, capsule, now)):
            verdict = Verdict("hold", (STALE, moved, *verdict.reasons))
        scored = _scored(rig, capsule, settled, known)
        judged = Judge(scored, registry.clock.new_id(), verdict.decision, verdict.reasons, rig.preset.name)
        registry.execute(judged, actor=known.actor)
    return _known(rig, name)


def _scored(rig: Rig, capsule: Capsule, settled: Settled, known: Candidate) -> CandidateScored:
    """Write the measurement down, beside what was measured before, if anything was."""
    nothing = Unmeasured(reason="no claim covers the line")
    empty = CandidateScored(
        candidate=known.id,
        capsule=capsule.name,
        base_version=capsule.version,
        before=nothing,
        after=nothing,
        delta=None,
        effect=None,
        audit_before=nothing,
        audit_after=nothing,
        sent=0,
    )
    stamped = {"base_version": capsule.version, "sent": _sent_to(rig) + 1}
    return settled.beside((known.scored or empty).model_copy(update=stamped))


def _sent_to(rig: Rig) -> int:
    """Count the candidates that this evaluator has judged so far."""
    scores = (
        candidate.scored.after
        for candidate in rig.registry.candidates()
        if candidate.scored and candidate.scored.rollouts
    )
    return sum(isinstance(score, Score) and score.evaluator == rig.harness.evaluator for score in scores)


def _known(rig: Rig, name: str) -> Candidate:
    """Return a candidate by its whole id."""
    return require_candidate(rig.registry.candidate(name), name)


def _competing(rig: Rig, ids: Sequence[str]) -> tuple[Capsule, list[CandidateProposed]]:
    """Return the skill that candidates would change, and what they propose; each may be run."""
    candidates = [_testable(rig, each) for each in dict.fromkeys(ids)]
    names = sorted({candidate.proposed.capsule for candidate in candidates})
    if len(names) != 1:
        raise UsageError(f"candidates of one skill compete; these are of {', '.join(names) or 'none'}")
    if len(candidates) > 1 and any(candidate.proposed.skill for candidate in candidates):
        raise UsageError("a drafted skill is run by itself, beside no skill", hint="name one candidate")
    capsule = base_of(rig.registry, candidates[0].proposed)
    for candidate in candidates:
        _require_fit(rig, capsule, candidate.proposed)
    return capsule, [candidate.proposed for candidate in candidates]


def _testable(rig: Rig, name: str) -> Candidate:
    """Return a candidate that may be run; one that another evaluator rejected is proposed again under this one.

    Raises: RefusedError where it is live, was rejected under this evaluator, or its base has moved on.
    """
    known = _known(rig, name)
    capsule = require_live(base_of(rig.registry, known.proposed))
    if known.verdict == "promote" and not known.reverted:
        raise RefusedError(
            f"candidate {name[:12]} was promoted already, to {capsule.name}@{known.version}",
            hint=f"germline show {capsule.name}@{known.version}",
        )
    base = base_of(rig.registry, known.proposed, str(known.proposed.base_version))
    if not fits(base, capsule, known.proposed):
        raise RefusedError(
            f"stale base: candidate {name[:12]} changes {capsule.name}@{known.proposed.base_version}, and "
            f"{capsule.name}@{capsule.version} is live",
            hint=f"germline candidate propose {capsule.name} --from FILE --reason TEXT",
        )
    if not known.is_decided:
        return known
    again = rollout_candidate_id(capsule, known.proposed, rig.harness.evaluator)
    if again == name or known.evaluator == rig.harness.evaluator:
        raise RefusedError(
            f"candidate {name[:12]} was rejected by this evaluator: {'; '.join(known.reasons[:1])}",
            hint=f"germline candidate show {name[:12]}",
        )
    with rig.registry.log.transaction():
        if rig.registry.candidate(again) is None:
            proposed = known.proposed.model_copy(update={"candidate": again, "evaluator": rig.harness.evaluator})
            rig.registry.execute(Propose(proposed))
    return _testable(rig, again)


def _require_fit(rig: Rig, capsule: Capsule, proposed: CandidateProposed) -> None:
    """Refuse before any run what the preset or lint refuses for its text alone."""
    decision, missing = failed(text_rules_of(rig, capsule, proposed))
    if decision == "reject":
        raise CheckFailedError(
            f"candidate {proposed.candidate[:12]} is refused before any run: {'; '.join(missing)}",
            hint=f"germline gate explain {proposed.candidate[:12]}",
        )


def _read(rig: Rig, capsule: Capsule, settled: Settled) -> Settled:
    """Hold what passes where its text, or the preset, asks for a person."""
    decision, missing = failed(text_rules_of(rig, capsule, settled.proposed))
    if settled.verdict.decision != "promote" or not missing:
        return settled
    return replace(settled, verdict=Verdict(decision, (*missing, *settled.verdict.reasons)))


def text_rules_of(rig: Rig, capsule: Capsule, proposed: CandidateProposed) -> list[Rule]:
    """Apply the rules about what a candidate says, whatever its runs show."""
    limits = limits_of(rig.preset, proposed.proposer)
    files = file_changes(rig.registry.log, capsule, proposed.files)
    findings = findings_on(capsule, proposed, limits, files=files)
    weight = weight_rule(proposed, rig.preset)
    return [
        *person_rules(proposed, files),
        weight,
        *gene_rules(proposed, rig.preset),
        *text_rules(findings),
    ]
