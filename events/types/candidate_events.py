"""What happens to a candidate: proposed, scored, reviewed, and one of three verdicts."""

from typing import Final, Literal

from events.types.claims import Claim, Trigger
from events.types.frozen import Frozen
from events.types.parts import Edit, FileEdit, NewGene, NewSkill, Reason, Strategy
from events.types.runs import Attribution, Count, Rollouts
from events.types.score import Censoring, Delta, Effect, Measured, Unit
from events.types.tiers import TierFigures

BY_HAND: Final = "by-hand"
"""The proposer, and the fingerprint, of what a person wrote: it answers no signal."""
AUDITOR: Final = "audit"
"""The proposer of the candidate that an audit ends with."""
TRAINER: Final = "trainer"
"""The proposer of all candidates of a training; their actor names the model or program that had the idea."""


class CandidateProposed(Frozen):
    """A proposed set of edits to one capsule, with its claims and reasons; not live.

    `removes` holds the live claims whose lines the edits take away; `files` what becomes of files beside SKILL.md.
    Claims and triggers belong to the new gene where one is `born`. `inert` tells that what is removed seemed to do
    nothing, where else it seemed to hurt. With a `skill` the capsule is not there yet: its base is version 0, and
    its claims are those of the sections, in their order. `tags` are those of the tasks that it is for: runs look
    there first.
    """

    type: Literal["CandidateProposed"] = "CandidateProposed"
    candidate: str
    capsule: str
    base_version: int
    strategy: Strategy
    preset: str
    proposer: str
    fingerprint: str
    edits: tuple[Edit, ...]
    claims: tuple[Claim, ...]
    triggers: tuple[Trigger, ...]
    reason: str
    evaluator: str
    removes: tuple[Claim, ...] = ()
    files: tuple[FileEdit, ...] = ()
    born: NewGene | None = None
    inert: bool = False
    skill: NewSkill | None = None
    tags: tuple[str, ...] = ()

    @property
    def new_lines(self) -> tuple[str, ...]:
        """The lines that it would bring, those of a new skill or gene first, with their endings."""
        own = self.born.lines if self.born else ()
        if self.skill is not None:
            own = (*self.skill.front, *(line for section in self.skill.sections for line in section.lines))
        return (*own, *(line for edit in self.edits for line in edit.text))

    @property
    def targets(self) -> frozenset[tuple[str, int]]:
        """The lines that its edits name, each with its gene: those that go, and those that new ones follow."""
        return frozenset((edit.gene, line) for edit in self.edits for line in edit.target)


class ComparisonFrozen(Frozen):
    """What a comparison by runs will be, written down before its first run.

    `comparison` is the hash, and the name of the blob, of all that was frozen: both versions, tasks and graders,
    agent, limits, thresholds and seed.
    """

    type: Literal["ComparisonFrozen"] = "ComparisonFrozen"
    candidate: str
    capsule: str
    base_version: int
    comparison: str
    evaluator: str
    agent: str
    sealed_tasks: int
    audit_tasks: int
    seed: int


class CandidateScored(Frozen):
    """A candidate is measured, once, as a whole.

    `outcome_effect` is what obeying goes with in outcomes where `effect` is on another endpoint; null where no
    outcomes exist. `censoring` says what each arm lost on the endpoint `recovered`. `heuristic` marks outcomes
    that were only guessed from signals, `hints` names the sources from the world that stand for labels. Where an
    agent was run, the scores and the delta are those of its runs and `rollouts` holds the figures; `attributions`
    say what each edit of a bundle brought.
    """

    type: Literal["CandidateScored"] = "CandidateScored"
    candidate: str
    capsule: str
    base_version: int
    before: Measured
    after: Measured
    delta: Delta | None
    effect: Effect | None
    audit_before: Measured
    audit_after: Measured
    audit_delta: Delta | None = None
    audit_effect: Effect | None = None
    outcome_effect: Effect | None = None
    censoring: Censoring | None = None
    sent: Count
    heuristic: bool = False
    hints: tuple[str, ...] = ()
    rollouts: Rollouts | None = None
    attributions: tuple[Attribution, ...] = ()


class CandidateReviewed(Frozen):
    """A person looks at a candidate and decides."""

    type: Literal["CandidateReviewed"] = "CandidateReviewed"
    candidate: str
    capsule: str
    decision: Literal["approve", "reject"]
    reason: Reason


class PromotionReviewed(Frozen):
    """A person looks at a promotion that was drawn at random, and says whether they agree; it stays as it is."""

    type: Literal["PromotionReviewed"] = "PromotionReviewed"
    candidate: str
    capsule: str
    version: int
    decision: Literal["agree", "disagree"]
    reason: Reason


class CandidatePromoted(Frozen):
    """A candidate becomes a version; `preset` is the one whose numbers judged it, "" where a person did."""

    type: Literal["CandidatePromoted"] = "CandidatePromoted"
    candidate: str
    capsule: str
    version: int
    reasons: tuple[str, ...]
    preset: str = ""


class CandidateRejected(Frozen):
    """A candidate is refused, for good, under its evaluator."""

    type: Literal["CandidateRejected"] = "CandidateRejected"
    candidate: str
    capsule: str
    reasons: tuple[str, ...]
    preset: str = ""


AWAITS_PERSON: Final = "for review: "
"""How the first reason begins where the gate lets a candidate through, and only a person's word is missing."""


class CandidateHeld(Frozen):
    """A candidate is neither promoted nor refused; the reasons name what is missing."""

    type: Literal["CandidateHeld"] = "CandidateHeld"
    candidate: str
    capsule: str
    reasons: tuple[str, ...]
    preset: str = ""


class SeenLineJudged(Frozen):
    """Outcomes are asked whether they support a line that is only seen, which spends a share of alpha if not.

    `sent` is its number among the claims that were sent to sealed logs and not promoted, `decisions` the sealed
    ones that it was asked on, `p` theirs before like ones were compared. A line that is `supported` climbs by the
    next event.
    """

    type: Literal["SeenLineJudged"] = "SeenLineJudged"
    candidate: str
    capsule: str
    sent: Count
    decisions: Count
    p: Unit
    supported: bool


class LineTierChanged(Frozen):
    """The lines of a candidate climb to another tier, or fall from theirs; null is no tier.

    What a promotion says by itself (the gate on outcomes: supported; runs of an agent: proven) is no change.
    """

    type: Literal["LineTierChanged"] = "LineTierChanged"
    candidate: str
    capsule: str
    before: TierFigures | None
    after: TierFigures | None
    reason: Reason
