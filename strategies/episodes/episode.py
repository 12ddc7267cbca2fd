"""The two shapes of an episode, as a reader gives it and as the registry keeps it, and when it happened."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Final, Literal, get_args

import msgspec

from strategies.episodes.usage import Usage
from strategies.files.log_records import Count, Span

if TYPE_CHECKING:
    from collections.abc import Iterable


Kind = Literal["call", "message", "note"]
EndedBy = Literal["agent", "environment", "limit", "unknown"]
OutcomeSource = Literal["reward", "tests", "ci", "merge", "deploy", "user", "heuristic"]
WorldSource = Literal[
    "last_check", "commit", "merged", "last_word", "repeated_request", "interrupted", "abandoned"
]
"""What hints at how an episode ended without saying so: no label, each with a reliability of its own."""
WORLD_SOURCES: Final[tuple[WorldSource, ...]] = get_args(WorldSource)
Trust = Literal["mine", "team", "public"]
"""Whose word a log is: one's own, that of people one works with, or of anybody."""

Milliseconds = Annotated[float, msgspec.Meta(ge=-1e15, le=1e15)]
"""A finite time, less than zero where a clock was set back; no calendar holds 30,000 years."""

MESSAGE: Final = "message"
"""The action class of a message without a call."""

SUBMIT: Final = "submit"
"""The action class of an agent that hands in its work: its own end, and nothing that a line could teach."""


class EpisodeOutcome(msgspec.Struct, frozen=True):
    """How an episode ended, in [0, 1], and who says so, or what hints at it."""

    value: Annotated[float, msgspec.Meta(ge=0, le=1)]
    source: OutcomeSource | WorldSource


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One step as a reader gives it: a call with its result, a message, or a note.

    Calls issued together share a `turn`. `tool` and `head` make the action class; `text` is the argument as
    the agent wrote it, and `error_text` what came back where `error` is set. `error_type` is a name for what
    went wrong that the log itself gives; on a note it marks what interrupted the agent. Notes never count as
    actions. `span` covers the raw record of the step, `error_span` that of the error text where it is another.
    `marks` are those of marks.py that the reader knows for sure; what the texts say is found there. `target` is
    the file that the step is about where the log names it apart from the argument, else "".
    Units: duration_ms milliseconds.
    """

    index: Count
    turn: Count
    kind: Kind
    actor: Literal["agent", "user", "environment"]
    tool: str = ""
    head: str = ""
    text: str = ""
    result: str = ""
    error: bool = False
    error_text: str = ""
    error_type: str = ""
    writes: bool = False
    started_at: str | None = None
    duration_ms: Milliseconds | None = None
    span: Span
    error_span: Span | None = None
    marks: tuple[str, ...] = ()
    target: str = ""

    @property
    def action(self) -> str:
        """The action class: tool plus head of the argument, `message` for the agent's own message, else ""."""
        if self.kind == "call":
            return f"{self.tool}:{self.head}" if self.head else self.tool
        return MESSAGE if self.kind == "message" and self.actor == "agent" else ""


class Episode(msgspec.Struct, frozen=True, kw_only=True):
    """One run of an agent on one task, as a reader gives it.

    `id` is the name that the log gives the episode, or its place in the file where the log gives none. `task` is
    the reader's own task name and `dataset` the set it comes from, both "" where the log has none (the task key
    is then the hash of the normalised first prompt). `answer` is the final action where the
    action is the answer (action–observation files), else "". `run` is the run configuration. `usage` is what it
    took, None where the log does not say.
    """

    id: str
    source: str
    format: str
    dataset: str = ""
    task: str = ""
    run: str = ""
    difficulty: str = ""
    labels: dict[str, str] = {}
    prompt: str = ""
    answer: str = ""
    started_at: str | None = None
    outcome: EpisodeOutcome | None = None
    ended_by: EndedBy = "unknown"
    skills: tuple[tuple[str, str], ...] = ()
    steps: tuple[Step, ...] = ()
    usage: Usage | None = None


class StepRecord(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One step as the registry keeps it: action class, template, flags, turn and place; never text.

    `same_call` is the index of the first identical call (tool and argument) of the episode, this step's own
    index where it is the first; `same_result` likewise for tool, argument and result. `span` is where the
    error text is if the step failed, else the step itself. `marks` says what kind of thing happened
    (marks.py), `same_target` is the first step that changed the same file, -1 where none is known. Of a call that
    failed, and of those soon after, `words` numbers the words of its argument that another such call of the
    episode has too, `flags` are its flags, and `worded` tells that it had words at all.
    """

    turn: Count
    kind: Kind
    actor: Literal["agent", "user", "environment"]
    action: str
    template: str
    error: bool
    writes: bool
    same_call: Count
    same_result: Count
    started_at: str | None
    duration_ms: Milliseconds | None
    span: Span
    marks: tuple[str, ...] = ()
    same_target: Annotated[int, msgspec.Meta(ge=-1, le=2**53 - 1)] = -1
    words: tuple[Count, ...] = ()
    flags: tuple[str, ...] = ()
    worded: bool = False


class EpisodeRecord(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One episode as the registry keeps it; `id` is its content hash (records.py says over which fields).

    `task` is the task key (a hash), `prompt_key` and `answer_key` are hashes that link tasks into split
    groups ("" where there is nothing to link by). `answer_key` is set for winning episodes only. `text_key` is
    the hash of all text of the episode: it tells apart what the fields that are kept do not. `answer_forms`
    says which forms the final answer has (answer_forms.py), and is empty where there is none. `trust` says whose
    word the log was when it was read, `owner` whose its file was, "" for who read it (origins.py). `usage` and
    `folder`, where the agent ran, are as the log has them and no part of the id.
    """

    id: str
    name: str
    source: str
    format: str
    task: str
    run: str
    difficulty: str
    labels: dict[str, str]
    prompt_key: str
    answer_key: str
    started_at: str | None
    outcome: EpisodeOutcome | None
    ended_by: EndedBy
    skills: tuple[tuple[str, str], ...]
    steps: tuple[StepRecord, ...]
    text_key: str = ""
    answer_forms: tuple[str, ...] = ()
    trust: Trust = "mine"
    owner: str = ""
    usage: Usage | None = None
    folder: str = ""


def moment(text: str | None) -> datetime | None:
    """Read an RFC 3339 time, None where it is none; a time without a zone counts as UTC."""
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def moment_s(text: str | None) -> float | None:
    """Give an RFC 3339 time as seconds since 1970, as `moment`; this takes five times as long."""
    time = moment(text)
    return None if time is None else time.timestamp()


def in_time(records: Iterable[EpisodeRecord]) -> list[EpisodeRecord]:
    """Sort episodes by when they began; those without a time first, in the order in which they were written."""
    return sorted(records, key=_when)


def _when(record: EpisodeRecord) -> tuple[float, str, int, str]:
    start = record.steps[0].span.byte_start if record.steps else 0
    return moment_s(record.started_at) or 0.0, record.source, start, record.id


def model_of(record: EpisodeRecord) -> str:
    """Name the model that ran an episode: the first that its log names, else its run configuration."""
    return record.usage.models[0] if record.usage and record.usage.models else record.run


def began_at(record: EpisodeRecord) -> str | None:
    """Tell when a session began, as RFC 3339: by its own time, else by that of its first step that has one."""
    return record.started_at or next((step.started_at for step in record.steps if step.started_at), None)


def began(record: EpisodeRecord) -> float | None:
    """Tell when a session began, in seconds since 1970."""
    return moment_s(began_at(record))


def lasted_ms(record: EpisodeRecord) -> float | None:
    """Tell how long a session took: as its log says, else to the end of its last step, else its steps' sum."""
    if record.usage and record.usage.duration_ms is not None:
        return record.usage.duration_ms
    last = next((step for step in reversed(record.steps) if step.started_at), None)
    start, end = began(record), moment_s(last.started_at) if last else None
    if last and start is not None and end is not None and end >= start:
        return (end - start) * 1000 + (last.duration_ms or 0.0)
    times = [step.duration_ms for step in record.steps if step.duration_ms is not None]
    return sum(times) if times else None
