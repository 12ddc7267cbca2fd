"""What `germline start` shows: what costs most in the sessions of a registry, and the line each would bring."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from events.errors import NotFoundError, RefusedError, UsageError
from registry.query.signals import erased_records
from registry.skill_md.instructions import find_instructions, instructions_name
from registry.state.instruction_formats import covers_project
from strategies.episodes.action_class import command_of
from strategies.lessons.lesson import lessons_of
from strategies.lessons.take import candidate_of, decided, home_for
from strategies.logs.transcripts import read_transcripts
from strategies.pool.evidence_context import AFTER, BEFORE
from strategies.pool.person_words import known_wishes
from tui.reads.sessions import errors_in, read_sessions, step_parts, without_personal_data
from tui.text.names import LEAST_CHARS, SHOWN_CHARS, named_candidate
from tui.text.words import VERDICT_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from collections.abc import Set as AbstractSet
    from pathlib import Path

    from registry.query.library import Library
    from strategies.episodes.episode import EpisodeRecord, Step, StepRecord
    from strategies.lessons.lesson import Lesson
    from tui.reads.sessions import SessionPart

SHOWN: Final = 5
"""Things that a page shows: more are too many to decide on at once."""
_WITHOUT_LINE: Final = 3
"""Things without a line that are named below them."""
NEW_HOME: Final = "CLAUDE.md"
"""The instructions that are made where a project has none: most agents read them."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A few steps of one session as they happened: the number of each, counted from 1, and its texts."""

    session: str
    steps: tuple[tuple[int, tuple[SessionPart, ...]], ...]


@dataclass(frozen=True, slots=True)
class LessonHome:
    """Where a line belongs: a skill or instructions by name.

    `file` is the one that would come into the registry first, "" where it is in it; `is_new` tells that it is not
    even there.
    """

    name: str
    file: str = ""
    is_new: bool = False


@dataclass(frozen=True, slots=True)
class StartThing:
    """One thing that costs; the excerpt is None where its log does not give it any more, or it is not shown."""

    lesson: Lesson
    home: LessonHome
    excerpt: Excerpt | None = None

    @property
    def id(self) -> str:
        """The id of the candidate that its line becomes: it stays, whatever else is taken or refused."""
        return candidate_of(self.home.name, self.lesson)


@dataclass(frozen=True, slots=True)
class StartPage:
    """What costs most: `things` with a line, the costliest first, and those `without_line` that cost much too.

    `sessions` are those known, `failed` the steps that failed in them, `decided` the lessons a person decided on.
    """

    sessions: int
    failed: int
    things: tuple[StartThing, ...]
    without_line: tuple[StartThing, ...]
    decided: int

    def named(self, library: Library, text: str) -> StartThing:
        """Find the thing whose line a person decides on, by its id or the beginning of it.

        Raises: RefusedError for one that was decided on before; UsageError where there is none, or are several.
        """
        begun = text.lower() if len(text) >= LEAST_CHARS else ""
        fitting = [thing for thing in self.things if begun and thing.id.startswith(begun)]
        if len(fitting) == 1:
            return fitting[0]
        with suppress(NotFoundError):
            known = named_candidate(library, begun)
            if known.is_decided and not fitting:
                word = VERDICT_WORDS[known.verdict]
                hint = f"germline candidate show {known.id[:SHOWN_CHARS]}    germline start"
                raise RefusedError(f"the line of {text} was decided on before: it is {word}", hint=hint)
        what = f"{len(fitting)} lines have ids that begin with {text}" if fitting else f"no line has the id {text}"
        raise UsageError(f"{what}: the page shows them", hint="germline start")


def read_start(library: Library, project: Path, *, personal_data: bool = True, shown: int = SHOWN) -> StartPage:
    """Read what costs most; with `personal_data` e-mail addresses, card and phone numbers are left out.

    Excerpts are read for the first `shown` things.
    """
    records, erased = read_sessions(library), erased_records(library)
    clean = without_personal_data if personal_data else str
    every = lessons_of(records, known_wishes(library, records, personal_data=personal_data))
    open_now = [lesson for lesson in every if not (lesson.line and decided(library, lesson))]
    instructions = _instructions(project)
    things = [_thing(library, lesson, records, project, instructions) for lesson in open_now]
    with_line = [thing for thing in things if thing.lesson.line]
    without = [thing for thing in things if not thing.lesson.line][:_WITHOUT_LINE]
    read = _with_excerpts(with_line[:shown], records, erased, clean)
    return StartPage(
        sessions=len(records),
        failed=sum(map(errors_in, records)),
        things=(*read, *with_line[shown:]),
        without_line=tuple(without),
        decided=len(every) - len(open_now),
    )


def _instructions(project: Path) -> Path | None:
    """Find the file of instructions of a project as a whole that is there."""
    files = find_instructions(project, depth=0) if project.is_dir() else []
    return next((file for file in sorted(files) if covers_project(instructions_name(file, project))), None)


def _thing(
    library: Library, lesson: Lesson, records: Sequence[EpisodeRecord], project: Path, file: Path | None
) -> StartThing:
    name = home_for(library, lesson, records)
    if name:
        return StartThing(lesson, LessonHome(name))
    if file is not None:
        return StartThing(lesson, LessonHome(instructions_name(file, project), str(file)))
    return StartThing(lesson, LessonHome(NEW_HOME, str(project / NEW_HOME), is_new=True))


def _with_excerpts(
    things: Sequence[StartThing],
    records: Sequence[EpisodeRecord],
    erased: AbstractSet[str],
    clean: Callable[[str], str],
) -> list[StartThing]:
    """Read an excerpt for each thing, each log once."""
    by_id = {record.id: record for record in records}
    places = [_place(thing.lesson) for thing in things]
    wanted = [by_id[session] for session, _ in places]
    read = []
    for thing, record, (_, at), transcript in zip(
        things, wanted, places, read_transcripts(wanted, erased), strict=True
    ):
        if transcript is None:
            read.append(thing)
            continue
        kept = [step for step in at if 0 <= step < len(record.steps)]
        texts = ((step, _parts(record.steps[step], transcript.steps[step])) for step in kept)
        steps = tuple(
            (step + 1, tuple(part._replace(text=clean(part.text)) for part in parts)) for step, parts in texts
        )
        read.append(replace(thing, excerpt=Excerpt(record.id, steps)))
    return read


def _parts(kept: StepRecord, step: Step) -> list[SessionPart]:
    """Give the texts of a step in short: of a shell its command alone, and no answer of what worked."""
    parts = [part for part in step_parts(kept, step) if part.label != "result"]
    command = command_of(step.tool, step.text)
    return [part._replace(text=command) if command and part.label == "call" else part for part in parts]


def _place(lesson: Lesson) -> tuple[str, list[int]]:
    """Choose the steps that show a lesson best: those around a person's words, else failure, fix and attempt."""
    if lesson.wish is not None:
        clause = lesson.wish.clauses[0]
        return clause.record.id, list(range(clause.step - BEFORE, clause.step + AFTER + 1))
    if lesson.fix is None:
        return lesson.sessions[0], []
    record, attempt = lesson.fix.sessions[0]
    between = [
        at
        for at in range(attempt.failed + 1, attempt.at)
        if lesson.fix.fix.kind == "first" and record.steps[at].action == lesson.fix.fix.name
    ]
    return record.id, [attempt.failed, *between[-1:], attempt.at]
