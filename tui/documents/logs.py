"""Documents on logs: what a scan and a watch read, and outcomes that arrive late."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from events.types.score import Score
from strategies.episodes.episode import WorldSource
from tui.documents.document import ABSENT, Absent, Document, OrNull, Part, Rehearsed
from tui.documents.events import EventRow
from tui.documents.evolve import EvolveRun
from tui.documents.signals import RaisedSignal, raised_signals

if TYPE_CHECKING:
    from strategies.advice.label_queue import LabelWish
    from strategies.episodes.episode import EpisodeRecord
    from strategies.logs.scan import Scan
    from strategies.monitor.recheck import Rechecked
    from strategies.pool.intake import Intake


class MalformedRecord(Part):
    """A record that could not be read."""

    file: str
    line: int
    byte_start: int
    reason: str


class EmptyFile(Part):
    """A file that a reader took for its own, and that gave no episode."""

    source: str
    format: str
    why_empty: str


class ReaderRow(Part):
    """What one reader makes of a file."""

    format: str
    takes: bool
    chosen: bool
    episodes: int
    steps: int
    failing: int
    problem: str
    matches: tuple[str, ...] = Field(default=(), alias="found")


class ExplainedFile(Part):
    """A file, and what every reader makes of it."""

    file: str
    readers: tuple[ReaderRow, ...]


def _outcome_of(scan: "Scan", taken: "Intake") -> dict[str, Any]:
    """Give the fields that a scan and a look of `watch` share."""
    return {
        "files": len(scan.files),
        "new_episodes": taken.new_episodes,
        "longer_episodes": taken.longer,
        "steps": scan.steps,
        "errors": scan.errors,
        "malformed": len(scan.malformed),
        "broken": tuple(broken.message for broken in scan.broken),
        "raised": raised_signals(taken.signals),
    }


class ScanDocument(Document):
    """Read logs into episodes and signals."""

    schema_: Literal["germline/scan/1"] = "germline/scan/1"
    dry_run: Rehearsed = False
    events: Absent[tuple[EventRow, ...]] = ABSENT
    files: Absent[int] = ABSENT
    bytes: Absent[int] = ABSENT
    text_bytes: Absent[int] = ABSENT
    episodes: Absent[int] = ABSENT
    new_episodes: Absent[int] = ABSENT
    longer_episodes: Absent[int] = ABSENT
    uncounted_episodes: Absent[int] = ABSENT
    unchanged: Absent[int] = ABSENT
    duplicates: Absent[int] = ABSENT
    steps: Absent[int] = ABSENT
    errors: Absent[int] = ABSENT
    malformed: Absent[int] = ABSENT
    malformed_at: Absent[tuple[MalformedRecord, ...]] = ABSENT
    unknown: Absent[dict[str, int]] = ABSENT
    skipped: Absent[tuple[str, ...]] = ABSENT
    links: Absent[tuple[str, ...]] = ABSENT
    lacking: Absent[tuple[str, ...]] = ABSENT
    broken: Absent[tuple[str, ...]] = ABSENT
    empty: Absent[tuple[EmptyFile, ...]] = ABSENT
    explained: Absent[tuple[ExplainedFile, ...]] = ABSENT
    signals: Absent[int] = ABSENT
    raised: Absent[tuple[RaisedSignal, ...]] = ABSENT
    seconds: Absent[float] = ABSENT

    @classmethod
    def of(cls, scan: "Scan", taken: "Intake", *, seconds: float) -> "ScanDocument":
        """Describe a scan and what it brought."""
        return cls(
            **_outcome_of(scan, taken),
            bytes=scan.size_bytes,
            text_bytes=scan.text_bytes,
            episodes=len(scan.records),
            uncounted_episodes=taken.uncounted,
            unchanged=len(scan.unchanged),
            duplicates=scan.duplicates + taken.copies,
            malformed_at=tuple(
                MalformedRecord(file=bad.source, line=bad.line, byte_start=bad.byte_start, reason=bad.reason)
                for bad in scan.malformed
            ),
            unknown=dict(scan.unknown),
            skipped=scan.skipped,
            links=scan.links,
            lacking=scan.lacking,
            empty=tuple(EmptyFile.model_validate(file) for file in scan.empty),
            signals=len(taken.signals),
            seconds=round(seconds, 3),
        )


class RecheckRow(Part):
    """A version that was measured again."""

    skill: str
    version: int
    score: Score | None
    unmeasured: OrNull[str]
    floor: float
    under_floor: bool

    @classmethod
    def of(cls, checked: "Rechecked", floor: float) -> "RecheckRow":
        """Read it from the measurement, held against a floor."""
        return cls.described(checked, floor=floor, under_floor=checked.fallen)


class WatchDocument(Document):
    """Read logs as they grow: a batch, a turn or a recheck, one a line."""

    schema_: Literal["germline/watch/1"] = "germline/watch/1"
    at: str
    files: Absent[int] = ABSENT
    bytes: Absent[int] = ABSENT
    new_episodes: Absent[int] = ABSENT
    longer_episodes: Absent[int] = ABSENT
    steps: Absent[int] = ABSENT
    errors: Absent[int] = ABSENT
    malformed: Absent[int] = ABSENT
    broken: Absent[tuple[str, ...]] = ABSENT
    raised: Absent[tuple[RaisedSignal, ...]] = ABSENT
    evolve: Absent[EvolveRun] = ABSENT
    recheck: Absent[tuple[RecheckRow, ...]] = ABSENT

    @classmethod
    def of_batch(cls, at: str, scan: "Scan", taken: "Intake") -> "WatchDocument":
        """Describe what one look found."""
        return cls(at=at, bytes=scan.text_bytes, **_outcome_of(scan, taken))


class KnownOutcome(Part):
    """How an episode ended, and who says so."""

    value: float
    source: str


class OutcomeEpisode(Part):
    """An episode, and how it was known to end before."""

    episode: str
    name: str
    run: str
    before: KnownOutcome | None

    @classmethod
    def of(cls, record: "EpisodeRecord") -> "OutcomeEpisode":
        """Read it from the episode."""
        before = KnownOutcome.model_validate(record.outcome) if record.outcome else None
        return cls(episode=record.id, name=record.name, run=record.run, before=before)


class LabelWishRow(Part):
    """A session without a label, the held candidates that one would count for, and the hints that disagree."""

    episode: str
    name: str
    weight: int
    candidates: tuple[str, ...]
    disagreeing: tuple[WorldSource, ...]

    @classmethod
    def of(cls, wish: "LabelWish") -> "LabelWishRow":
        """Read it from the queue."""
        return cls(
            episode=wish.record.id,
            name=wish.record.name,
            weight=wish.weight,
            candidates=tuple(dict.fromkeys(held.candidate for held in wish.claims)),
            disagreeing=wish.disagreeing,
        )


class LabelQueueDocument(Document):
    """List the sessions of which one label would decide most, those first."""

    schema_: Literal["germline/outcome-queue/1"] = "germline/outcome-queue/1"
    waiting: int
    sessions: tuple[LabelWishRow, ...]


class OutcomeDocument(Document):
    """Record how an episode ended, as CI, a merge or a person says."""

    schema_: Literal["germline/outcome/1"] = "germline/outcome/1"
    dry_run: Rehearsed = False
    value: Absent[float] = ABSENT
    source: Absent[str] = ABSENT
    episodes: Absent[tuple[OutcomeEpisode, ...]] = ABSENT
    recorded: Absent[int] = ABSENT
    events: tuple[EventRow, ...]
