"""Sessions as people look for them: every episode in short, and one of them with its messages and calls."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from os.path import normpath
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.evidence.personal_details import personal_data_in
from registry.evidence.redaction import redact
from registry.query.signals import erased_records
from strategies.episodes.action_class import command_of
from strategies.episodes.episode import began, moment_s
from strategies.episodes.episode_records import place_key
from strategies.episodes.skill_version import under_versions
from strategies.episodes.step_records import without_templates
from strategies.files.project_sessions import ProjectSessions
from strategies.pool.known_episodes import all_episodes
from tui.text.names import unique_chars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from registry.query.library import Library
    from strategies.episodes.episode import EpisodeRecord, Step, StepRecord
    from tui.text.rows import Tone

FAILED_BELOW: Final = 0.5
"""An outcome under this counts as a failure."""

_GONE: Final = "its log is gone"
_CHANGED: Final = "its log no longer holds it as it was read, or a text of it was erased"
_ERASED: Final = "a text of it was erased"


class SessionFilter(NamedTuple):
    """Which sessions are wanted; a field that is "" or false leaves out none. `since` is RFC 3339."""

    failed: bool = False
    project: str = ""
    skill: str = ""
    since: str = ""
    unlabelled: bool = False
    log_format: str = ""

    def tests(self) -> list[tuple[str, Callable[[EpisodeRecord], bool]]]:
        """Give what is asked of sessions, each with the words for those that answer to it."""
        named: list[tuple[str, Callable[[EpisodeRecord], bool]]] = []
        if self.project:
            named.append((f"ran in {self.project}", partial(_ran_in, self.project, _sessions_of(self.project))))
        if self.skill:
            named.append((f"loaded the skill {self.skill}", lambda record: self.skill in dict(record.skills)))
        if self.log_format:
            named.append((f"have the format {self.log_format}", lambda record: record.format == self.log_format))
        if self.since:
            first = moment_s(self.since) or 0.0
            named.append((f"began since {self.since[:16]}", lambda record: (began(record) or 0.0) >= first))
        if self.unlabelled:
            named.append(("have no outcome", lambda record: record.outcome is None))
        if self.failed:
            named.append(("failed", failed))
        return named

    @property
    def words(self) -> str:
        """Say what is asked for, "" for everything."""
        return " and ".join(words for words, _ in self.tests())


class SessionChoice(NamedTuple):
    """The sessions that are wanted, newest first; of none `missing` is what no session answers to.

    `short_of` says how many answer to what was asked before that, "" where nothing was.
    """

    known: int
    records: tuple[EpisodeRecord, ...]
    missing: str = ""
    short_of: str = ""


def read_sessions(library: Library) -> tuple[EpisodeRecord, ...]:
    """Read every session, the newest first; those without a time come last."""
    return newest_first(all_episodes(library))


def newest_first(records: Iterable[EpisodeRecord]) -> tuple[EpisodeRecord, ...]:
    """Put sessions in order, the newest first; those without a time come last."""
    return tuple(sorted(records, key=lambda record: (-(began(record) or 0.0), record.id)))


def chosen(records: Sequence[EpisodeRecord], wanted: SessionFilter) -> SessionChoice:
    """Choose among sessions, and say which question left none."""
    left, passed = tuple(records), list[str]()
    for words, fits in wanted.tests():
        fitting = tuple(filter(fits, left))
        if left and not fitting:
            before = f"{len(left):,} {' and '.join(passed)}, none of these {words}" if passed else ""
            return SessionChoice(len(records), (), words, before)
        left = fitting
        passed.append(words)
    return SessionChoice(len(records), left)


def failed(record: EpisodeRecord) -> bool:
    """Tell whether a session is known to have failed."""
    return record.outcome is not None and record.outcome.value < FAILED_BELOW


def errors_in(record: EpisodeRecord) -> int:
    """Count the steps that failed."""
    return sum(step.error for step in record.steps)


def short_ids(records: Iterable[EpisodeRecord]) -> int:
    """Give how many characters of an id tell every session from all others."""
    return unique_chars(record.id for record in records)


def read_tasks(library: Library, records: Sequence[EpisodeRecord], *, personal_data: bool = True) -> list[str]:
    """Read what was asked for in sessions, "" where nothing tells it; `personal_data` as for `read_session`."""
    from strategies.logs.first_requests import first_requests  # noqa: PLC0415 - the readers are not for every look

    tasks = first_requests(records, erased_records(library))
    return list(map(without_personal_data, tasks)) if personal_data else tasks


def without_personal_data(text: str) -> str:
    """Take e-mail addresses, card and phone numbers out of a text."""
    leaks = personal_data_in([text])
    return redact(text, leaks)[0] if leaks else text


class SessionPart(NamedTuple):
    """A text of a step behind what it is: `person`, `agent`, `call`, `result`, `error` or `note`."""

    label: str
    text: str
    tone: Tone = ""


class SessionStep(NamedTuple):
    """A step of a session as it is read: `number` counts from 1."""

    number: int
    record: StepRecord
    parts: tuple[SessionPart, ...]

    @property
    def failed(self) -> bool:
        """Whether the log says that it failed."""
        return self.record.error


@dataclass(frozen=True, slots=True)
class SessionDetail:
    """One session: `without_text` says why its texts are not shown, "" where they are."""

    record: EpisodeRecord
    task: str
    steps: tuple[SessionStep, ...]
    without_text: str = ""


def read_session(library: Library, record: EpisodeRecord, *, personal_data: bool = True) -> SessionDetail:
    """Read a session again with its texts, free of secrets; without them where its log does not give them.

    Its skills are named with the versions that they had here. With `personal_data` its e-mail addresses, card and
    phone numbers are left out too.
    """
    from strategies.logs.transcripts import read_transcripts  # noqa: PLC0415 - as above

    erased = erased_records(library)
    (transcript,) = read_transcripts([record], erased)
    (record,) = under_versions(library, [record])
    if transcript is not None:
        texts = zip(record.steps, transcript.steps, strict=True)
        clean = without_personal_data if personal_data else str
        steps = tuple(
            SessionStep(at, kept, tuple(part._replace(text=clean(part.text)) for part in step_parts(kept, step)))
            for at, (kept, step) in enumerate(texts, 1)
        )
        return SessionDetail(record, clean(transcript.task), steps)
    is_erased = any(place_key(record, step.span) in erased for step in record.steps) if erased else False
    left = without_templates(record.steps) if is_erased else record.steps
    steps = tuple(SessionStep(at, kept, _kept_parts(kept)) for at, kept in enumerate(left, 1))
    return SessionDetail(record, "", steps, _ERASED if is_erased else _CHANGED if _there(record) else _GONE)


def with_neighbours(steps: Sequence[SessionStep]) -> list[SessionStep]:
    """Give the steps that failed, with the one before and the one after each."""
    near = {at + beside for at, step in enumerate(steps) if step.failed for beside in (-1, 0, 1)}
    return [step for at, step in enumerate(steps) if at in near]


def step_parts(kept: StepRecord, step: Step) -> tuple[SessionPart, ...]:
    """Give the texts of a step, each behind what it is."""
    if kept.kind == "call":
        given = command_of(step.tool, step.text) or step.text
        call = SessionPart("call", " ".join(filter(None, (kept.action, given))), "strong")
        result = (step.error_text or step.result) if kept.error else step.result
        answer = (
            SessionPart("error", result or kept.template, "bad") if kept.error else SessionPart("result", result)
        )
        return (call, answer) if answer.text else (call,)
    words = step.text or step.error_text or step.error_type
    if kept.kind == "note" or kept.error:
        return (SessionPart("error" if kept.error else "note", words, "bad" if kept.error else "dim"),)
    return (SessionPart("person", words, "accent") if kept.actor == "user" else SessionPart("agent", words),)


def _kept_parts(kept: StepRecord) -> tuple[SessionPart, ...]:
    """Give what is kept of a step without its texts."""
    of_message = "person" if kept.actor == "user" else "agent"
    label = of_message if kept.kind == "message" else kept.kind
    first = SessionPart(label, kept.action if kept.kind == "call" else "", "strong")
    return (first, SessionPart("error", kept.template, "bad")) if kept.error and kept.template else (first,)


def _there(record: EpisodeRecord) -> bool:
    return bool(record.source) and Path(record.source).is_file()


def _ran_in(project: str, sessions: ProjectSessions | None, record: EpisodeRecord) -> bool:
    if record.folder:
        return (sessions is not None and sessions.holds(record.folder)) or project in {
            record.folder,
            record.folder.rpartition("/")[2],
        }
    return sessions is not None and sessions(Path(record.source))


def _sessions_of(project: str) -> ProjectSessions | None:
    """Give what tells the sessions of a folder, None where a project is called by its name alone."""
    folder = Path(normpath(Path(project).expanduser()))
    return ProjectSessions(folder) if "/" in project or folder.is_dir() else None
