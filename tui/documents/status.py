"""The document of `germline status`: what the registry holds now, and what waits."""

from typing import TYPE_CHECKING, Literal

from events.types.capsule_events import RetirementProposed
from events.types.judgements import Assessment, FailureFigures, Reading, Rung, Track
from events.types.score import Delta, Score
from events.types.tiers import Tier, TierFigures
from registry.actions.publish import Standing
from tui.documents.document import Document, Part
from tui.documents.events import HeadRow
from tui.documents.scores import AgreementRow
from tui.documents.trials import TrialRow
from tui.reads.check import CheckFinding

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self

    from registry.state.candidate import Candidate, CandidateOutline
    from tui.session.own_registries import RegistryTrust, SkillPlace

TrustName = Literal["not needed", "trusted", "answered for", "changed", "untrusted"]
"""`changed`: other settings were trusted. `answered for`: by --trust-project, for one command."""


class TrustState(Part):
    """Whether the settings of a project are trusted, and which of them need it."""

    state: TrustName
    settings: tuple[str, ...]


class SkillPlaceRow(Part):
    """A folder outside the project that a skill is written to, once it is confirmed; links are followed."""

    skill: str
    folder: str
    confirmed: bool


class RegistryTrustState(Part):
    """Whether commands may write to a registry, and the places outside the project that its skills lie in."""

    registry: str
    state: Literal["trusted", "answered for", "changed", "untrusted"]
    places: tuple[SkillPlaceRow, ...]

    @classmethod
    def of(cls, trust: "RegistryTrust", places: "Iterable[SkillPlace]") -> "Self":
        """Put what is known of a registry into the document."""
        rows = tuple(SkillPlaceRow.model_validate(place._asdict()) for place in places)
        return cls(registry=str(trust.where), state=trust.state, places=rows)


class AutoPreset(Part):
    """The preset that `auto` chose, and why."""

    preset: str
    because: str


class DriftRow(Part):
    """A file on disk that is not what was projected; `minor` where nothing that the skill holds is different.

    `refused` says why it cannot be a file of a skill.
    """

    path: str
    kind: Literal["changed", "missing", "added", "mode"]
    refused: str = ""
    minor: bool = False


class EpisodeRecordRow(Part):
    """What became of the episodes that ran under a version."""

    episodes: int
    ended: int
    mean: float | None
    exposed: int
    obeyed: int


class StaleMeasurement(Part):
    """What a measurement does not cover; age_s in seconds."""

    runs: tuple[str, ...]
    models: tuple[str, ...]
    agents: tuple[str, ...]
    tasks: int
    new_tasks: int
    age_s: float


class DeployedAlias(Part):
    """A folder that follows a name of versions, and what it holds."""

    alias: str
    version: int
    folder: str
    standing: Standing


class StaleSource(Part):
    """A source of what a skill knows that changed since it was read, or is gone."""

    source: str
    state: Literal["changed", "missing"]


class SkillStatus(Part):
    """A skill as it is now; `stale_sources` are those of its knowledge, `models` those it was measured under."""

    skill: str
    version: int
    at: str
    source: str
    aliases: dict[str, int]
    score: Score | None
    hints: tuple[str, ...] = ()
    models: tuple[str, ...]
    delta: Delta | None
    unproven: bool
    tiers: dict[Tier, int]
    standing: Standing
    drift: tuple[DriftRow, ...]
    moved_to: str | None
    held_edits: tuple[str, ...]
    deployed: tuple[DeployedAlias, ...]
    stale_sources: tuple[StaleSource, ...]
    record: EpisodeRecordRow
    stale: StaleMeasurement | None


class CheckDocument(Document):
    """Say whether skills on disk and in the registry are as they should be; for CI."""

    schema_: Literal["germline/check/1"] = "germline/check/1"
    ok: bool
    skills: int
    events: int
    unproven: int
    most_unproven: int | None
    findings: tuple[CheckFinding, ...]


class OpenSignal(Part):
    """A signal that no live claim answers yet."""

    fingerprint: str
    kind: str
    template: str
    count: int
    episodes: int


class DrawnPromotion(Part):
    """A promotion that was drawn for a person to look over, which nobody did yet."""

    id: str
    skill: str
    version: int

    @classmethod
    def of(cls, look: "CandidateOutline") -> "Self":
        """Put a promotion into the document."""
        return cls(id=look.id, skill=look.capsule, version=look.version or 0)


class HeldCandidate(Part):
    """A candidate that waits."""

    id: str
    skill: str
    tier: TierFigures | None
    reasons: tuple[str, ...]

    @classmethod
    def of(cls, held: "Candidate") -> "Self":
        """Put a held candidate into the document."""
        return cls(id=held.id, skill=held.proposed.capsule, tier=held.tier, reasons=held.reasons)


class AdviceRow(Part):
    """Advice as it was given last."""

    at: str
    type: Literal["AdviceGiven"]
    capsule: str
    track: Track
    reasons: tuple[str, ...]
    figures: FailureFigures
    reading: Reading | None
    assessment: Assessment | None
    started: Rung | None


class StatusDocument(Document):
    """Show skills, drift, open signals, what waits, the preset."""

    schema_: Literal["germline/status/1"] = "germline/status/1"
    registry: str
    preset: str
    auto: AutoPreset | None
    created_at: str
    head: HeadRow
    skills: tuple[SkillStatus, ...]
    open_signals: tuple[OpenSignal, ...]
    unrouted: tuple[str, ...]
    held: tuple[HeldCandidate, ...]
    second_looks: tuple[DrawnPromotion, ...]
    agreement: AgreementRow
    trust: TrustState
    registry_trust: RegistryTrustState
    advice: tuple[AdviceRow, ...]
    trials: tuple[TrialRow, ...]
    unloaded: tuple[str, ...]
    retirements: tuple[RetirementProposed, ...]
