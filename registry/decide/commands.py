"""Commands: what can be asked of a registry, in the imperative, as frozen data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from events.types.candidate_events import (
        CandidateProposed,
        CandidateScored,
        ComparisonFrozen,
        SeenLineJudged,
    )
    from events.types.capsule_events import (
        DescriptionJudged,
        RetirementProposed,
        SkillModelsCompared,
        SkillTested,
        VersionMerged,
        VersionScored,
    )
    from events.types.claims import Claim, Trigger
    from events.types.frozen import Frozen
    from events.types.tiers import TierFigures
    from events.types.trial_events import TrialAssigned, TrialEnded, TrialLooked, TrialStarted
    from registry.skill_md.folder import SkillFolder
    from registry.state.candidate import Verdict


class CreateRegistry(NamedTuple):
    """Begin a registry, with the key that divides tasks into splits."""

    split_key: str
    preset: str


class SwitchPreset(NamedTuple):
    """Let another preset bind the strategies."""

    preset: str
    reason: str


class DefinePreset(NamedTuple):
    """Let a preset of a person's own be known by its name, in the TOML they wrote; a later one replaces it."""

    preset: str
    definition: str


class ImportSkill(NamedTuple):
    """Take in a skill folder as a capsule; `triggers` are those of each section, none where it is empty."""

    skill: SkillFolder
    triggers: tuple[tuple[Trigger, ...], ...] = ()

    @property
    def capsule(self) -> str:
        """The capsule it will be."""
        return self.skill.name


class MoveSkill(NamedTuple):
    """Let a skill be projected to another folder, to which a person moved its files."""

    capsule: str
    source: str


class RecordFact(NamedTuple):
    """Write down a fact of the registry stream: a signal, an evaluator, the end of a cycle."""

    facts: tuple[Frozen, ...]


class Propose(NamedTuple):
    """Propose a candidate; refused with a conflict when the same one was proposed before."""

    proposal: CandidateProposed

    @property
    def capsule(self) -> str:
        """The capsule it would change."""
        return self.proposal.capsule

    @property
    def candidate(self) -> str:
        """Its id."""
        return self.proposal.candidate


class Freeze(NamedTuple):
    """Write down what a comparison by runs will be, before its first run; the same one is written once."""

    frozen: ComparisonFrozen

    @property
    def capsule(self) -> str:
        """The capsule whose versions are compared."""
        return self.frozen.capsule

    @property
    def candidate(self) -> str:
        """The candidate's id."""
        return self.frozen.candidate


class Judge(NamedTuple):
    """Record the measurement and the verdict of a candidate; a promotion makes the next version with it.

    `scored_id` is the event id that the measurement will have: each mutation names it. Where it is the one that
    the candidate has already, the stored measurement is judged again and not recorded twice. `preset` is the one
    whose numbers judged.
    """

    scored: CandidateScored
    scored_id: str
    verdict: Verdict
    reasons: tuple[str, ...]
    preset: str = ""

    @property
    def capsule(self) -> str:
        """The capsule it would change."""
        return self.scored.capsule

    @property
    def candidate(self) -> str:
        """The candidate's id."""
        return self.scored.candidate


class Review(NamedTuple):
    """Let a person decide on a candidate, whatever the gate decided so far; approval makes the next version."""

    candidate: str
    capsule: str
    decision: Literal["approve", "reject"]
    reason: str


class LookOver(NamedTuple):
    """Let a person say whether they agree with a promotion; the version stays as it is."""

    candidate: str
    capsule: str
    decision: Literal["agree", "disagree"]
    reason: str


class JudgeSeenLine(NamedTuple):
    """Write down that outcomes were asked about a line that is only seen, and what came of it."""

    judged: SeenLineJudged

    @property
    def capsule(self) -> str:
        """The skill of the line."""
        return self.judged.capsule

    @property
    def candidate(self) -> str:
        """The candidate that brought it."""
        return self.judged.candidate


class ChangeTier(NamedTuple):
    """Let the lines of a candidate climb to another tier, or fall; figures that it has already change nothing.

    `figures` are those of the new tier, None for none.
    """

    candidate: str
    capsule: str
    figures: TierFigures | None
    reason: str


class RevertVersion(NamedTuple):
    """Go back to the content of an earlier version, by a new version."""

    capsule: str
    to_version: int
    reason: str


class ScoreVersion(NamedTuple):
    """Write down what was measured of a version."""

    scored: VersionScored

    @property
    def capsule(self) -> str:
        """The capsule whose version it is."""
        return self.scored.capsule


class MoveAlias(NamedTuple):
    """Let a name point at a version; version 0 removes the name."""

    capsule: str
    alias: str
    version: int
    reason: str = ""


class DeployAlias(NamedTuple):
    """Let a folder follow a name; `previous` is the one that follows it now, "" for none either way."""

    capsule: str
    alias: str
    folder: str
    previous: str
    reason: str = ""


class RetireVersion(NamedTuple):
    """Offer a version to agents no longer; naming it again by an alias offers it again."""

    capsule: str
    version: int
    reason: str


class RetireSkill(NamedTuple):
    """Project a skill no longer; its history stays, and it can be restored."""

    capsule: str
    reason: str


class RestoreSkill(NamedTuple):
    """Project a retired skill again, as it was."""

    capsule: str
    reason: str


class RecordSkillFact(NamedTuple):
    """Write down what was found of a skill as a whole; its text stays as it is."""

    fact: SkillTested | RetirementProposed | SkillModelsCompared

    @property
    def capsule(self) -> str:
        """The skill that it is about."""
        return self.fact.capsule


class JudgeDescription(NamedTuple):
    """Write down what sessions say of another description; one that passes makes the next version."""

    judged: DescriptionJudged

    @property
    def capsule(self) -> str:
        """The skill that is described."""
        return self.judged.capsule


class Protect(NamedTuple):
    """Forbid edits of a gene's lines, or of the whole gene where none are named."""

    capsule: str
    gene: str
    lines: tuple[int, ...]
    reason: str


class Release(NamedTuple):
    """End the protection of a gene."""

    capsule: str
    gene: str
    reason: str


class Adopt(NamedTuple):
    """Take in the edits that a person made to the projected files.

    `keep_claims` leaves the claims of changed lines standing; `sessions` are those whose agents wrote the edit, as
    logs tell.
    """

    skill: SkillFolder
    keep_claims: bool = False
    sessions: tuple[str, ...] = ()

    @property
    def capsule(self) -> str:
        """The capsule whose files were edited."""
        return self.skill.name


class Reindex(NamedTuple):
    """Put the navigation index of a skill into its text, or take it out; `skill` is the live version with it."""

    skill: SkillFolder

    @property
    def capsule(self) -> str:
        """The capsule that it leads through."""
        return self.skill.name


class MergeVersion(NamedTuple):
    """Take in a version that another registry made; `skill` is what the live one becomes, None for no change."""

    merged: VersionMerged
    skill: SkillFolder | None = None

    @property
    def capsule(self) -> str:
        """The capsule that it belongs to."""
        return self.merged.capsule


class DropClaims(NamedTuple):
    """Let claims of a skill end while their lines stay as they are; `claims` are those of genes, by name."""

    capsule: str
    claims: Mapping[str, tuple[Claim, ...]]
    reason: str


class RunTrial(NamedTuple):
    """Let a trial of a skill begin, assign, look or end; what was written before is not written again."""

    event: TrialStarted | TrialAssigned | TrialLooked | TrialEnded

    @property
    def capsule(self) -> str:
        """The capsule whose lines are on trial."""
        return self.event.capsule


class PromoteProven(NamedTuple):
    """Let a candidate that a trial proved become a version; `reason` holds the figures."""

    candidate: str
    capsule: str
    reason: str


Command = (
    CreateRegistry
    | SwitchPreset
    | DefinePreset
    | ImportSkill
    | MoveSkill
    | RecordFact
    | Propose
    | Freeze
    | Judge
    | Review
    | LookOver
    | JudgeSeenLine
    | ChangeTier
    | RevertVersion
    | ScoreVersion
    | MoveAlias
    | DeployAlias
    | RetireVersion
    | RetireSkill
    | RestoreSkill
    | RecordSkillFact
    | JudgeDescription
    | Protect
    | Release
    | Adopt
    | Reindex
    | MergeVersion
    | DropClaims
    | RunTrial
    | PromoteProven
)
