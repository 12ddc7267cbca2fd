"""What happens to a capsule: import, versions, reverts, files, aliases."""

from typing import Final, Literal

from events.types.claims import Claim, Trigger
from events.types.frozen import Frozen
from events.types.parts import Edit, FileEntry, Mutation, Pin, Reason, Strategy
from events.types.runs import Count, Rollouts
from events.types.score import Delta, Measured, Score, Unit, Unmeasured
from events.types.tiers import Tier

VersionCause = Literal["import", "promotion", "revert", "adoption", "override"]


class CapsuleImported(Mutation):
    """A skill folder becomes a capsule; its genes follow as `GeneBorn`, then version 1.

    So does a file of instructions, which is named by its path: `source` is the folder that it lies in.
    """

    type: Literal["CapsuleImported"] = "CapsuleImported"
    capsule: str
    source: str
    encoding: Literal["utf-8", "utf-8-sig", "latin-1"]
    mode: int
    front: tuple[str, ...]
    files: tuple[FileEntry, ...]
    warnings: tuple[str, ...] = ()


class CapsuleBorn(Mutation):
    """A skill comes to be that no folder held before; its genes follow as `GeneBorn`, then version 1.

    `source` is the folder that it is written to.
    """

    type: Literal["CapsuleBorn"] = "CapsuleBorn"
    capsule: str
    source: str
    front: tuple[str, ...]
    strategy: Strategy


class CapsuleVersioned(Mutation):
    """A capsule takes its next version: these genes, at these versions, in this order.

    `projected_hash` is over the files that the version projects (registry.skill_md.render.projected_hash); "" in
    events of schema 1, whose text is folded from the log wherever it leaves.
    """

    type: Literal["CapsuleVersioned"] = "CapsuleVersioned"
    capsule: str
    version: int
    genes: tuple[Pin, ...]
    cause: VersionCause
    summary: str
    stamped: bool
    delta: Delta | None = None
    projected_hash: str = ""


class KeptLine(Frozen):
    """A line as it stood in an earlier version, with the identity and the origin it had there."""

    id: int
    text: str
    origin: int
    version: int


class KeptClaim(Frozen):
    """A claim as an earlier version made it, with the event it came from, and its line if that was named."""

    claim: Claim
    origin: int
    line: int = 0


class KeptGene(Frozen):
    """A gene as it stood in an earlier version, whole; `version` is the one it takes by coming back."""

    gene: str
    version: int
    title: str
    lines: tuple[KeptLine, ...]
    claims: tuple[KeptClaim, ...] = ()
    triggers: tuple[Trigger, ...] = ()


class CapsuleReverted(Mutation):
    """A capsule goes back to the content of an earlier version, which the event carries; nothing is erased."""

    type: Literal["CapsuleReverted"] = "CapsuleReverted"
    capsule: str
    to_version: int
    reason: Reason
    front: tuple[KeptLine, ...]
    genes: tuple[KeptGene, ...]
    files: tuple[FileEntry, ...]


class ShareChange(Frozen):
    """How a share changed over tasks, paired, with its 95 % interval and the one-sided p of no gain."""

    tasks: int
    before: float
    after: float
    low: float
    high: float
    p: float


class DescriptionJudged(Frozen):
    """Another description of a skill was held to sessions that its writer never saw.

    `reached` is the share of sessions in which a claim of the skill applied whose request shares a word with the
    description, `spared` the share of all others whose request shares none. `link` is the p of no association
    between sharing a word with the description so far and loading the skill. Units: `alpha` is the share of the
    error rate.
    """

    type: Literal["DescriptionJudged"] = "DescriptionJudged"
    capsule: str
    version: int
    previous: str
    description: str
    verdict: Literal["promote", "hold", "reject"]
    reasons: tuple[str, ...]
    reached: ShareChange
    spared: ShareChange
    link: float
    alpha: float


class CapsuleDescribed(Mutation):
    """The front matter of a capsule changes, by lines named by identity; `judged` is why, null for a hand edit."""

    type: Literal["CapsuleDescribed"] = "CapsuleDescribed"
    capsule: str
    edits: tuple[Edit, ...]
    judged: DescriptionJudged | None = None


class FileChanged(Mutation):
    """A file beside SKILL.md is added, replaced, or (where `entry` is null) removed."""

    type: Literal["FileChanged"] = "FileChanged"
    capsule: str
    path: str
    entry: FileEntry | None


class HandEditAdopted(Mutation):
    """A person's edit of a projected file is taken in; the edits themselves follow, gene by gene."""

    type: Literal["HandEditAdopted"] = "HandEditAdopted"
    capsule: str
    base_version: int
    files: tuple[str, ...]
    dropped_claims: int = 0


class CapsuleMoved(Frozen):
    """A capsule is projected to another folder from now on: that is where a person moved its files."""

    type: Literal["CapsuleMoved"] = "CapsuleMoved"
    capsule: str
    source: str
    previous: str


class AliasMoved(Frozen):
    """A movable name points at another version; `version` 0 removes the name."""

    type: Literal["AliasMoved"] = "AliasMoved"
    capsule: str
    alias: str
    version: int
    previous: int
    reason: str


class AliasDeployed(Frozen):
    """A folder follows a movable name from now on: it holds the version that the name points at; "" ends that."""

    type: Literal["AliasDeployed"] = "AliasDeployed"
    capsule: str
    alias: str
    folder: str
    previous: str
    reason: str


class VersionRetired(Frozen):
    """A version is no longer offered to agents."""

    type: Literal["VersionRetired"] = "VersionRetired"
    capsule: str
    version: int
    reason: Reason


class VersionScored(Frozen):
    """A version is measured again, by the evaluator that its score names.

    `cause` says why: a new evaluator measures the live version first, a person asked, or time or ground changed.
    """

    type: Literal["VersionScored"] = "VersionScored"
    capsule: str
    version: int
    score: Score
    audit: Measured
    cause: Literal["evaluator", "asked", "recheck"]


class CapsuleRetired(Mutation):
    """A capsule is no longer projected."""

    type: Literal["CapsuleRetired"] = "CapsuleRetired"
    capsule: str
    reason: Reason


MERGED: Final = Unmeasured(reason="merged from another registry: nothing measured here")
"""What the events of a merged version say was measured of it."""
MERGER: Final = "merge"
"""The proposer of a candidate that was made of another registry's version."""


class OriginEvent(Frozen):
    """An event in the log of another registry, which is named by the hash of its own first event."""

    registry: str
    position: int
    hash: str
    event_id: str
    at: str
    actor: str


class VersionMerged(Frozen):
    """A version that another registry made is taken in, from its exported log.

    `origin` is its `CapsuleVersioned` there, `origin_cause` and `origin_tiers` what that registry says of it: that
    makes no line supported here. It became a `version`, or a `candidate` where both had changed the skill since
    `common_version` there (0: none in common), or was set `aside` where no candidate could hold it; it is `known`
    where the live version is the same text already. `version` is the live one here, afterwards.
    """

    type: Literal["VersionMerged"] = "VersionMerged"
    capsule: str
    origin: OriginEvent
    origin_version: int
    origin_cause: VersionCause
    origin_tiers: tuple[Tier, ...]
    common_version: int
    outcome: Literal["version", "candidate", "aside", "known"]
    version: int
    candidate: str = ""


class CapsuleRestored(Mutation):
    """A retired capsule is projected again, as it was."""

    type: Literal["CapsuleRestored"] = "CapsuleRestored"
    capsule: str
    reason: Reason


class RetirementProposed(Frozen):
    """A person is asked whether to retire a skill: the sessions that loaded it go too badly, or runs show harm.

    Units: of `uses` sessions with an outcome those that succeeded are the share `success`, with a 95 % interval;
    `effect` is what sessions that loaded it succeeded more than others of the same runs, None where nothing can be
    compared. `bound` and `least_uses` are those of the preset. A load costs about `tokens`, `loads` were seen.
    """

    type: Literal["RetirementProposed"] = "RetirementProposed"
    capsule: str
    version: int
    cause: Literal["sessions", "runs"]
    uses: int
    success: float
    low: float
    high: float
    effect: Delta | None
    bound: float
    least_uses: int
    preset: str
    loads: int
    tokens: int


class TestedLine(Frozen):
    """A line that was tested, by its identity in its section."""

    gene: str
    line: int
    text: str


class SkillTested(Frozen):
    """A live skill was run against runs without it: `before` are those without, `after` those with it.

    `beside` are the versions that were offered in both, none where it was run against no skill. With a `line` the
    whole skill was run against itself without that line. `verdict` is helps where the rule of the gate holds for
    it, harms where the same rule holds for doing without it, else unclear.
    """

    type: Literal["SkillTested"] = "SkillTested"
    capsule: str
    version: int
    beside: tuple[str, ...]
    verdict: Literal["helps", "harms", "unclear"]
    agent: str
    evaluator: str
    before: Measured
    after: Measured
    rollouts: Rollouts
    line: TestedLine | None = None


class MeanAmount(Frozen):
    """The mean difference of an amount over so many tasks that both models did, with its 95 % interval."""

    value: float
    low: float
    high: float
    tasks: Count


class ModelFigures(Frozen):
    """A skill under one model: what came of `uses` with an outcome, and whether having the skill helped.

    `grounds` are kept runs with it and without any skill, paired by task and round, or sessions that loaded it
    and others of the same run, which is observed. `effect` is with it minus without it, None where nothing can be
    compared. Units: `success` is a mean outcome with a 95 % interval, `cost_usd` and `seconds` are means of the
    uses that tell them.
    """

    model: str
    grounds: Literal["runs", "sessions"]
    uses: Count
    success: Unit | None
    low: Unit
    high: Unit
    cost_usd: float | None
    seconds: float | None
    effect: Delta | None
    verdict: Literal["helps", "harms", "unclear", "too little"]


class LineUnderModels(Frozen):
    """What obeying a line goes with under each of two models, on sealed sessions; None where nothing is known."""

    gene: str
    line: int
    text: str
    first: Delta | None
    second: Delta | None
    first_verdict: Literal["holds", "refuted", "unclear", "too little"]
    second_verdict: Literal["holds", "refuted", "unclear", "too little"]


class SkillModelsCompared(Frozen):
    """A live version is held against two models, from sessions and kept runs; neither counts for being newer.

    Differences are those of the `second` less those of the `first`, with the skill, over tasks that both did; None
    below ten of them. `suits` says which of them the skill goes with, `reason` why. Units: all questions that
    were asked of these figures share the error rate `alpha`.
    """

    type: Literal["SkillModelsCompared"] = "SkillModelsCompared"
    capsule: str
    version: int
    first: ModelFigures
    second: ModelFigures
    shared_tasks: Count
    difference: Delta | None
    cost_usd: MeanAmount | None
    seconds: MeanAmount | None
    lines: tuple[LineUnderModels, ...]
    suits: Literal["first", "second", "either", "neither", "unknown"]
    reason: str
    alpha: float
