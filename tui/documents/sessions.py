"""Sessions in documents: every episode in short, and one of them with its messages and calls."""

from typing import TYPE_CHECKING, Literal

from strategies.episodes.episode import WorldSource, began_at, lasted_ms
from tui.documents.document import Document, Part
from tui.documents.logs import KnownOutcome
from tui.reads.sessions import errors_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from strategies.advice.deciding_step import DecidingStep
    from strategies.episodes.episode import EpisodeRecord
    from strategies.episodes.world_outcomes import World
    from tui.reads.sessions import SessionChoice, SessionDetail, SessionStep


class SkillUsed(Part):
    """A skill that a session loaded; the version is "" where nothing tells it."""

    name: str
    version: str


class SessionRow(Part):
    """A session in short; what its log does not say is null, or "" where it is text.

    Units: duration_ms milliseconds, cost_usd US dollars. Tokens of a cache are among the input.
    """

    id: str
    short: str
    name: str
    format: str
    at: str | None
    project: str
    task: str
    run: str
    models: tuple[str, ...]
    skills: tuple[SkillUsed, ...]
    outcome: KnownOutcome | None
    ended_by: str
    steps: int
    errors: int
    duration_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None
    cost_usd: float | None
    file: str

    @classmethod
    def of(cls, record: "EpisodeRecord", task: str, short: int) -> "SessionRow":
        """Describe a session by its record and what was asked for."""
        usage = record.usage
        return cls.described(
            record,
            short=record.id[:short],
            at=began_at(record),
            project=record.folder,
            task=task,
            models=usage.models if usage else (),
            skills=tuple(SkillUsed(name=name, version=version) for name, version in record.skills),
            outcome=KnownOutcome.model_validate(record.outcome) if record.outcome else None,
            steps=len(record.steps),
            errors=errors_in(record),
            duration_ms=lasted_ms(record),
            input_tokens=usage.input_tokens if usage else None,
            output_tokens=usage.output_tokens if usage else None,
            cached_tokens=usage.cached_tokens if usage else None,
            cost_usd=usage.cost_usd if usage else None,
            file=record.source,
        )


class SessionsDocument(Document):
    """List the sessions that were read: how many are known, how many fit, and the newest of these."""

    schema_: Literal["germline/sessions/1"] = "germline/sessions/1"
    known: int
    matching: int
    sessions: tuple[SessionRow, ...]

    @classmethod
    def of(
        cls, choice: "SessionChoice", shown: "Sequence[EpisodeRecord]", tasks: "Sequence[str]", short: int
    ) -> "SessionsDocument":
        """Describe those that are shown."""
        rows = (SessionRow.of(record, task, short) for record, task in zip(shown, tasks, strict=True))
        return cls(known=choice.known, matching=len(choice.records), sessions=tuple(rows))


class SessionText(Part):
    """A text of a step: of a `person`, an `agent`, a `call`, its `result` or `error`, or a `note`."""

    kind: str
    text: str


class SessionStepRow(Part):
    """A step of a session; `template` is what its error has in common with others, "" where it did not fail."""

    number: int
    turn: int
    action: str
    error: bool
    template: str
    at: str | None
    duration_ms: float | None
    texts: tuple[SessionText, ...]

    @classmethod
    def of(cls, step: "SessionStep") -> "SessionStepRow":
        """Describe a step."""
        kept = step.record
        return cls.described(
            kept,
            number=step.number,
            at=kept.started_at,
            texts=tuple(SessionText(kind=part.label, text=part.text) for part in step.parts),
        )


class DecidedRow(Part):
    """The step that most likely decided a session that failed, and how those ended that were there.

    `same` and `other` are successes of sessions that had just seen the same, and did the same or something else.
    """

    step: int
    same: float
    same_sessions: int
    other: float
    other_sessions: int

    @classmethod
    def of(cls, decided: "DecidingStep") -> "DecidedRow":
        """Describe the step; steps count from 1 in documents."""
        (same, same_sessions), (other, other_sessions) = decided.same, decided.other
        return cls(
            step=decided.step + 1,
            same=same,
            same_sessions=same_sessions,
            other=other,
            other_sessions=other_sessions,
        )


class SessionDocument(Document):
    """Show one session step by step; `without_text` says why its texts are not there; `hints` are no labels.

    `decided` is null where the session did not fail, or no step differs enough.
    """

    schema_: Literal["germline/session/1"] = "germline/session/1"
    session: SessionRow
    without_text: str
    hints: dict[WorldSource, float]
    decided: DecidedRow | None
    steps: tuple[SessionStepRow, ...]

    @classmethod
    def of(
        cls,
        detail: "SessionDetail",
        steps: "Sequence[SessionStep]",
        short: int,
        hints: "World",
        decided: "DecidingStep | None",
    ) -> "SessionDocument":
        """Describe a session and those of its steps that are shown."""
        row = SessionRow.of(detail.record, detail.task, short)
        rows = tuple(map(SessionStepRow.of, steps))
        return cls(
            session=row,
            without_text=detail.without_text,
            hints=hints,
            decided=DecidedRow.of(decided) if decided else None,
            steps=rows,
        )
