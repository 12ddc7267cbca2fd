"""Candidates in documents: what was proposed, how it was judged, and what people decide."""

from typing import TYPE_CHECKING, Any, Literal

from events.types.audit_events import AuditMove
from events.types.claims import Claim
from events.types.parts import Edit, NewGene, NewSkill, Strategy
from events.types.runs import Attribution, Rollouts
from events.types.score import Delta, Effect, Score
from events.types.tiers import TierFigures
from registry.state.candidate import Verdict
from strategies.gate.explain import Way
from strategies.gate.lint import unclaimed_lines
from strategies.gate.rule import Decision
from tui.documents.differences import ChangedFile, FileFindingRow, changed_file_rows, finding_rows
from tui.documents.document import ABSENT, Absent, Document, Part, Rehearsed
from tui.documents.events import EventRow
from tui.documents.evidence import ErasedRow, EvidenceRow, erased_rows, evidence_rows
from tui.documents.scores import AgreementRow, AuditScores, score_of
from tui.documents.signals import RaisedSignal
from tui.documents.trials import TrialLine

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from registry.state.candidate import Candidate
    from strategies.gate.explain import Explanation
    from strategies.gate.rule import NeededTasks, Rule
    from strategies.interchange.paired_verdict import PairedVerdict
    from strategies.monitor.agreement import Agreement
    from tui.reads.review import CandidatePage


class CandidateRow(Part):
    """A candidate with its figures and its verdict."""

    id: str
    skill: str
    base_version: int
    strategy: Strategy
    preset: str
    proposer: str
    fingerprint: str
    evaluator: str
    reason: str
    edits: tuple[Edit, ...]
    born: NewGene | None
    new_skill: NewSkill | None
    claims: tuple[Claim, ...]
    effect: Effect | None
    before: Score | None
    after: Score | None
    delta: Delta | None
    tier: TierFigures | None
    verdict: Verdict | None
    reasons: tuple[str, ...]
    version: int | None
    reverted: bool
    position: int
    at: str


def candidate_fields(candidate: "Candidate") -> dict[str, Any]:
    """Return the fields of a row, for documents that hold more beside them."""
    proposed, scored = candidate.proposed, candidate.scored
    return {
        "id": candidate.id,
        "skill": proposed.capsule,
        "base_version": proposed.base_version,
        "strategy": proposed.strategy,
        "preset": proposed.preset,
        "proposer": proposed.proposer,
        "fingerprint": proposed.fingerprint,
        "evaluator": proposed.evaluator,
        "reason": proposed.reason,
        "edits": proposed.edits,
        "born": proposed.born,
        "new_skill": proposed.skill,
        "claims": proposed.claims,
        "effect": scored.effect if scored else None,
        "before": score_of(scored.before) if scored else None,
        "after": score_of(scored.after) if scored else None,
        "delta": scored.delta if scored else None,
        "tier": candidate.tier,
        "verdict": candidate.verdict,
        "reasons": candidate.reasons,
        "version": candidate.version,
        "reverted": candidate.reverted,
        "position": candidate.position,
        "at": candidate.at,
    }


class CandidateListed(CandidateRow):
    """A candidate in the list; `waits` tells that nobody decided on it yet, and the tasks how far it is from that.

    They are null where it is decided, or where no number of tasks would do. `second_look` tells that it was drawn
    among the promotions of the gate, and that no person looked it over yet.
    """

    waits: bool
    second_look: bool
    known_tasks: int | None
    needed_tasks: int | None


class CandidatesDocument(Document):
    """List what was proposed; what waits for review comes first."""

    schema_: Literal["germline/candidates/1"] = "germline/candidates/1"
    candidates: tuple[CandidateListed, ...]
    agreement: AgreementRow

    @classmethod
    def of(
        cls,
        waiting: "Iterable[Candidate]",
        looks: "Iterable[Candidate]",
        decided: "Iterable[Candidate]",
        away: "Mapping[str, NeededTasks]",
        agreement: "Agreement",
    ) -> "CandidatesDocument":
        """List those that wait, with how far they are from a verdict, then second looks, then what is decided."""
        groups = ((True, False, waiting), (False, True, looks), (False, False, decided))
        rows = (
            CandidateListed(
                **candidate_fields(candidate),
                waits=waits,
                second_look=second_look,
                known_tasks=away[candidate.id].known if candidate.id in away else None,
                needed_tasks=away[candidate.id].needed if candidate.id in away else None,
            )
            for waits, second_look, group in groups
            for candidate in group
        )
        return cls(candidates=tuple(rows), agreement=AgreementRow.model_validate(agreement))


class RuleStep(Part):
    """A rule that was applied: its figure, what it asks for, and what is missing where it does not hold."""

    rule: str
    figure: str
    asks: str
    holds: bool
    otherwise: Decision
    missing: str | None
    known_tasks: int | None
    needed_tasks: int | None

    @classmethod
    def of(cls, step: "Rule") -> "RuleStep":
        """Read it from the rule."""
        return cls.described(step, rule=step.name, missing=None if step.holds else step.missing)


class VerdictSteps(Part):
    """A verdict, rule by rule."""

    candidate: str
    skill: str
    base_version: int
    preset: str
    sent: int | None
    way: Way
    verdict: Verdict | None
    reasons: tuple[str, ...]
    reviewed: Literal["approve", "reject"] | None
    steps: tuple[RuleStep, ...]
    known_tasks: int | None
    needed_tasks: int | None


def verdict_fields(candidate: "Candidate", explanation: "Explanation", preset: str) -> dict[str, Any]:
    """Return the fields of a verdict and its steps."""
    return {
        "candidate": candidate.id,
        "skill": candidate.proposed.capsule,
        "base_version": candidate.proposed.base_version,
        "preset": preset,
        "sent": candidate.scored.sent if candidate.scored else None,
        "way": explanation.way,
        "verdict": candidate.verdict,
        "reasons": candidate.reasons,
        "reviewed": candidate.reviewed.decision if candidate.reviewed else None,
        "steps": tuple(map(RuleStep.of, explanation.steps)),
        "known_tasks": explanation.needed.known if explanation.needed else None,
        "needed_tasks": explanation.needed.needed if explanation.needed else None,
    }


class GateExplainDocument(VerdictSteps, Document):
    """Explain a verdict: each rule, its figure, what it asks for, and what is missing."""

    schema_: Literal["germline/gate-explain/1"] = "germline/gate-explain/1"


class TaskChangeRow(Part):
    """A task whose mean fell; `sure` if by more than chance, over all tasks together."""

    task: str
    before: float
    after: float
    pairs: int
    sure: bool


class GatePairsDocument(Document):
    """Judge a change by results of another tool: runs with and without it, paired by task and seed."""

    schema_: Literal["germline/gate-pairs/1"] = "germline/gate-pairs/1"
    format: str
    before_side: str
    after_side: str
    decision: Decision
    before: float
    after: float
    difference: float
    low: float
    high: float
    e_value: float
    p: float
    detectable: float
    chosen_from: int
    tasks: int
    pairs: int
    void: int
    unpaired: int
    seeds: tuple[str, ...]
    better: int
    even: int
    worse: tuple[TaskChangeRow, ...]
    rules: tuple[RuleStep, ...]

    @classmethod
    def of(
        cls, format_name: str, sides: tuple[str, str], choices: int, verdict: "PairedVerdict"
    ) -> "GatePairsDocument":
        """Describe the verdict, with the figures that it rests on."""
        figures = verdict.figures
        return cls.described(
            verdict,
            format=format_name,
            before_side=sides[0],
            after_side=sides[1],
            chosen_from=choices,
            difference=figures.difference,
            low=figures.low,
            high=figures.high,
            e_value=figures.e_value,
            p=figures.p,
            detectable=figures.detectable,
            tasks=figures.tasks,
            worse=tuple(map(TaskChangeRow.described, verdict.worse)),
            rules=tuple(map(RuleStep.of, verdict.rules)),
        )


class CandidateShowDocument(CandidateRow, Document):
    """Show one candidate: its diff, claims, evidence, scores, and the gate step by step."""

    schema_: Literal["germline/candidate-show/1"] = "germline/candidate-show/1"
    stale: bool
    signal: RaisedSignal | None
    removes: tuple[Claim, ...]
    files: tuple[ChangedFile, ...]
    findings: tuple[FileFindingRow, ...]
    misfit: str | None
    unclaimed: tuple[str, ...]
    audit: AuditScores | None
    evidence: tuple[EvidenceRow, ...]
    erased: tuple[ErasedRow, ...]
    gate: VerdictSteps
    trials: tuple[TrialLine, ...]
    moves: Absent[tuple[AuditMove, ...]] = ABSENT

    @classmethod
    def of(cls, page: "CandidatePage") -> "CandidateShowDocument":
        """Describe a candidate with what led to it and what it would change."""
        candidate, scored = page.candidate, page.candidate.scored
        return cls(
            **candidate_fields(candidate),
            stale=page.stale,
            signal=RaisedSignal.model_validate(page.signal.event) if page.signal else None,
            removes=candidate.proposed.removes,
            files=changed_file_rows(page.files),
            findings=finding_rows(page.findings),
            misfit=page.misfit or None,
            unclaimed=tuple(unclaimed_lines(candidate.proposed)),
            audit=AuditScores.of(scored) if scored else None,
            evidence=evidence_rows(page.evidence, page.there),
            erased=erased_rows(page.erased),
            gate=VerdictSteps(**verdict_fields(candidate, page.explanation, page.preset)),
            trials=tuple(map(TrialLine.of, page.trials)),
            **({"moves": page.moves} if page.moves else {}),
        )


class TriedCandidate(CandidateRow):
    """A candidate with the figures of its runs."""

    audit: AuditScores | None
    rollouts: Rollouts | None
    attributions: tuple[Attribution, ...]

    @classmethod
    def of(cls, candidate: "Candidate") -> "TriedCandidate":
        """Read it from the candidate."""
        scored = candidate.scored
        return cls(
            **candidate_fields(candidate),
            audit=AuditScores.of(scored) if scored else None,
            rollouts=scored.rollouts if scored else None,
            attributions=scored.attributions if scored else (),
        )


class CandidateTestDocument(Document):
    """Run an agent with candidates and with the live version on sealed tasks, and judge by the runs."""

    schema_: Literal["germline/candidate-test/1"] = "germline/candidate-test/1"
    dry_run: Rehearsed = False
    evaluator: str
    candidates: Absent[tuple[TriedCandidate, ...]] = ABSENT
    agent: Absent[str] = ABSENT
    sealed_tasks: Absent[int] = ABSENT
    audit_tasks: Absent[int] = ABSENT
    least_runs: Absent[int] = ABSENT
    most_runs: Absent[int] = ABSENT
    events: Absent[tuple[EventRow, ...]] = ABSENT


class CandidateEvents(Part):
    """The events of a proposal or a decision, and the candidate that they are about."""

    dry_run: Rehearsed = False
    candidate: Absent[str] = ABSENT
    skill: Absent[str] = ABSENT
    events: tuple[EventRow, ...]


class CandidateProposeDocument(CandidateEvents, Document):
    """Propose a change of your own: it is not live until runs or a person let it through. Needs --reason."""

    schema_: Literal["germline/candidate-propose/1"] = "germline/candidate-propose/1"


class CandidateApproveDocument(Document):
    """Promote a candidate on your word; it stays marked unproven where it was not measured. Needs --reason."""

    schema_: Literal["germline/candidate-approve/1"] = "germline/candidate-approve/1"
    dry_run: Rehearsed = False
    candidate: Absent[str] = ABSENT
    skill: Absent[str] = ABSENT
    version: Absent[int] = ABSENT
    unproven: Absent[bool] = ABSENT
    written: Absent[tuple[str, ...]] = ABSENT
    events: tuple[EventRow, ...]


class CandidateRejectDocument(CandidateEvents, Document):
    """Refuse a candidate on your word; it stays known, and is not proposed again. Needs --reason."""

    schema_: Literal["germline/candidate-reject/1"] = "germline/candidate-reject/1"


class SecondLook(Part):
    """The events of a second look at a promotion, and the version that it is about."""

    dry_run: Rehearsed = False
    candidate: Absent[str] = ABSENT
    skill: Absent[str] = ABSENT
    version: Absent[int | None] = ABSENT
    events: tuple[EventRow, ...]


class CandidateAgreeDocument(SecondLook, Document):
    """Say that a promotion was right; the version stays as it is. Needs --reason."""

    schema_: Literal["germline/candidate-agree/1"] = "germline/candidate-agree/1"


class CandidateDisagreeDocument(SecondLook, Document):
    """Say that a promotion was wrong; the version stays until it is reverted. Needs --reason."""

    schema_: Literal["germline/candidate-disagree/1"] = "germline/candidate-disagree/1"
