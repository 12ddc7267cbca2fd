"""Documents on skills: what a version says, where texts stand, which version is picked, names of versions."""

from typing import TYPE_CHECKING, Literal

from events.types.claims import Claim, Trigger
from events.types.score import Delta, Score
from registry.actions.publish import Standing
from registry.query.provenance import blame, line_tiers
from registry.skill_md.front_matter import description_of
from registry.skill_md.render import label, skill_text
from registry.state.line_claims import claims_of, is_unclaimed
from registry.state.tiers import LineTier
from tui.documents.document import ABSENT, Absent, Document, OrNull, Part, Rehearsed
from tui.documents.events import EventRow
from tui.documents.scores import score_of
from tui.facts.scores import why_unmeasured
from tui.text.words import kind_of

if TYPE_CHECKING:
    from pathlib import Path

    from events.sqlite.word_index import RankedDocument
    from events.store.envelope import Envelope
    from events.types.capsule_events import AliasDeployed, AliasMoved
    from registry.query.library import Library
    from registry.query.search import Match
    from registry.state.capsule import Capsule
    from registry.state.gene import Gene
    from registry.state.line import ProjectedLine
    from strategies.monitor.pick_version import Drawn, VersionOffer
    from strategies.scope.find_skills import Overlap


class FileRow(Part):
    """A file of a skill beside SKILL.md; `event` is the position of what brought it."""

    path: str
    sha256: str
    mode: str
    event: int


class SectionRow(Part):
    """A section of a skill."""

    gene: str
    version: int
    title: str
    keeper: str | None
    claims: tuple[Claim, ...]
    triggers: tuple[Trigger, ...]


class BlamedLine(Part):
    """A line of a skill with the event that it comes from."""

    line: int
    text: str
    event: int
    at: str
    kind: str
    since_version: int
    tier: LineTier
    claimed: bool | None

    @classmethod
    def of(cls, gene: "Gene | None", line: "ProjectedLine", origin: "Envelope", tier: LineTier) -> "BlamedLine":
        """Read it from the line and its event; `claimed` is null for what no candidate brought."""
        bare = is_unclaimed(gene, line, origin.event)
        return cls(
            line=line.number,
            text=line.text.rstrip("\r\n"),
            event=origin.position,
            at=origin.at,
            kind=kind_of(origin),
            since_version=line.version,
            tier=tier,
            claimed=True if gene is not None and claims_of(gene, line) else False if bare else None,
        )


class ShowDocument(Document):
    """Print a skill at any version; with --blame, line by line."""

    schema_: Literal["germline/show/1"] = "germline/show/1"
    skill: str
    version: int
    position: int
    at: str
    cause: str
    source: str
    unproven: bool
    score: Score | None
    unmeasured: str | None
    delta: Delta | None
    aliases: dict[str, int]
    files: tuple[FileRow, ...]
    genes: tuple[SectionRow, ...]
    lines: tuple[BlamedLine, ...]
    text: str

    @classmethod
    def of(cls, library: "Library", capsule: "Capsule") -> "ShowDocument":
        """Describe a version with the origin of each of its lines."""
        by_id = {gene.id: gene for gene in capsule.genes}
        blamed = blame(library, capsule)
        lines = (
            BlamedLine.of(by_id.get(line.gene), line, origin, tier)
            for (line, origin), tier in zip(blamed, line_tiers(library, blamed), strict=True)
        )
        files = (
            FileRow(path=file.entry.path, sha256=file.entry.blob, mode=oct(file.entry.mode), event=file.origin)
            for file in capsule.files
        )
        genes = (
            SectionRow(
                gene=gene.id,
                version=gene.version,
                title=gene.title,
                keeper=gene.keeper or None,
                claims=tuple(live.claim for live in gene.claims),
                triggers=tuple(gene.triggers),
            )
            for gene in capsule.genes
        )
        return cls.described(
            capsule,
            skill=capsule.name,
            score=score_of(capsule.score),
            unmeasured=why_unmeasured(capsule.score),
            aliases=dict(capsule.aliases),
            files=tuple(files),
            genes=tuple(genes),
            lines=tuple(lines),
            text=skill_text(capsule),
        )


class MatchRow(Part):
    """A place that holds a text; `next` is the command that tells more of it."""

    kind: str
    text: str
    event: int
    at: str
    skill: OrNull[str]
    version: OrNull[int]
    line: OrNull[int]
    live: bool
    gone_since: OrNull[int]
    candidate: OrNull[str]
    fingerprint: OrNull[str]
    next: str

    @classmethod
    def of(cls, match: "Match", following: str) -> "MatchRow":
        """Read it from what was found; `following` is the command to type next."""
        return cls.described(
            match, event=match.position, live=match.kind == "line" and not match.gone_since, next=following
        )


class SearchDocument(Document):
    """Find a text in skills, past and present, and in reasons."""

    schema_: Literal["germline/search/1"] = "germline/search/1"
    text: str
    matches: tuple[MatchRow, ...]
    more: bool


class FoundSkill(Part):
    """A skill that shares words with a task: its BM25 score, and the words by where they are written."""

    name: str
    version: int
    description: str
    folder: str
    score: float
    words: dict[str, tuple[str, ...]]

    @classmethod
    def of(cls, ranked: "RankedDocument", capsule: "Capsule") -> "FoundSkill":
        """Read it from the ranking and the skill."""
        return cls(
            name=capsule.name,
            version=capsule.version,
            description=description_of(capsule),
            folder=capsule.source,
            score=round(ranked.score, 4),
            words=ranked.shared,
        )


class SkillOverlap(Part):
    """Two skills that get in each other's way: copied text, or descriptions that fit the same tasks."""

    first: str
    second: str
    kind: Literal["copied", "competing"]
    share: float
    words: tuple[str, ...]

    @classmethod
    def of(cls, pair: "Overlap") -> "SkillOverlap":
        """Read it from the pair."""
        return cls(**pair._asdict() | {"share": round(pair.share, 4)})


class FindDocument(Document):
    """Find the skills that fit a task, by their words."""

    schema_: Literal["germline/find/1"] = "germline/find/1"
    task: OrNull[str]
    searched: int
    skills: tuple[FoundSkill, ...]
    overlaps: tuple[SkillOverlap, ...]


class OfferRow(Part):
    """A version on offer: how it did, and its chance of being the best one."""

    version: int
    aliases: tuple[str, ...]
    newest: bool
    episodes: int
    won: float
    lost: float
    expected: float
    chance: float

    @classmethod
    def of(cls, offer: "VersionOffer") -> "OfferRow":
        """Read it from the offer."""
        return cls.described(
            offer.posterior,
            version=offer.version,
            aliases=offer.names,
            newest=offer.newest,
            expected=offer.posterior.mean,
            chance=offer.chance,
        )


class RetiredVersion(Part):
    """A version that is offered no longer."""

    version: int
    reason: str


class PickDocument(Document):
    """Pick the version for the next agent; print its folder."""

    schema_: Literal["germline/pick/1"] = "germline/pick/1"
    skill: str
    version: int
    label: str
    folder: str
    offers: tuple[OfferRow, ...]
    retired: tuple[RetiredVersion, ...]
    seed: int
    trial: Absent[str] = ABSENT
    session: Absent[str] = ABSENT
    dry_run: Rehearsed = False
    events: tuple[EventRow, ...]

    @classmethod
    def of_trial(
        cls,
        arm: "Capsule",
        folder: "Path",
        trial: str,
        session: str,
        *,
        dry_run: bool,
        events: tuple[EventRow, ...],
    ) -> "PickDocument":
        """Describe the arm of a trial that a session is given; no seed but the trial's own draws it again."""
        return cls(
            skill=arm.name,
            version=arm.version,
            label=label(arm),
            folder=str(folder),
            offers=(),
            retired=(),
            seed=0,
            trial=trial,
            session=session,
            dry_run=dry_run,
            events=events,
        )

    @classmethod
    def of(
        cls, drawn: "Drawn", folder: "Path", *, seed: int, dry_run: bool, events: tuple[EventRow, ...]
    ) -> "PickDocument":
        """Describe the draw."""
        return cls(
            skill=drawn.skill,
            version=drawn.version,
            label=f"{drawn.skill}@{drawn.version}",
            folder=str(folder),
            offers=tuple(map(OfferRow.of, drawn.offers)),
            retired=tuple(map(RetiredVersion.model_validate, drawn.retired)),
            seed=seed,
            dry_run=dry_run,
            events=events,
        )


class AliasRow(Part):
    """A name of a version; `live` tells that it is the newest one."""

    skill: str
    alias: str
    version: int
    live: bool
    folder: OrNull[str]
    standing: OrNull[Standing]


class AliasListDocument(Document):
    """List the names of versions, of one skill or of all."""

    schema_: Literal["germline/alias-list/1"] = "germline/alias-list/1"
    aliases: tuple[AliasRow, ...]


class AliasSetDocument(Document):
    """Let a name point at a version; production needs --yes and --reason."""

    schema_: Literal["germline/alias-set/1"] = "germline/alias-set/1"
    dry_run: Rehearsed = False
    skill: Absent[str] = ABSENT
    alias: Absent[str] = ABSENT
    version: Absent[int] = ABSENT
    folder: Absent[str] = ABSENT
    written: Absent[tuple[str, ...]] = ABSENT
    events: tuple[EventRow, ...]


class AliasMove(Part):
    """A name that was moved, or deployed to a folder; null is no version, "" no folder any more."""

    position: int
    at: str
    actor: str
    alias: str
    version: Absent[OrNull[int]] = ABSENT
    folder: Absent[str] = ABSENT
    previous: OrNull[int | str]
    reason: str

    @classmethod
    def of(cls, envelope: "Envelope", event: "AliasMoved | AliasDeployed") -> "AliasMove":
        """Read it from the event."""
        return cls.described(event, position=envelope.position, at=envelope.at, actor=envelope.actor)


class AliasLogDocument(Document):
    """Show where the names of a skill pointed, newest first."""

    schema_: Literal["germline/alias-log/1"] = "germline/alias-log/1"
    skill: str
    moves: tuple[AliasMove, ...]
