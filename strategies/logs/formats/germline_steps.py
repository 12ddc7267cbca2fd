"""Germline steps JSONL: the project's own format, documented in docs/steps.md."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from registry.evidence.redaction import without_secrets
from strategies.episodes.action_class import head_of, plain_head, plain_tool, writes
from strategies.episodes.answer_forms import forms_of
from strategies.episodes.episode import (
    SUBMIT,
    EndedBy,
    Episode,
    EpisodeOutcome,
    Kind,
    Milliseconds,
    OutcomeSource,
    Step,
)
from strategies.episodes.episode_records import (
    completed,
    header_of,
    plain,
    plain_labels,
    plain_time,
    prompt_key,
    unnamed_task,
)
from strategies.episodes.outcome_fields import OUTCOME_FIELDS, outcome_in
from strategies.episodes.step_marks import Marker
from strategies.episodes.step_records import StepDraft, draft_of
from strategies.episodes.usage import Amount, Usage, total, usage_of
from strategies.episodes.whole_episode import WholeEpisode, first_request, shown_step, shown_text
from strategies.files.log_file import START
from strategies.files.log_records import UNREADABLE, NotObject, ReadTally, count_unknown, typed_lines

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from strategies.episodes.episode import EpisodeRecord
    from strategies.files.log_file import LogFile, LogPosition
    from strategies.files.log_records import Span


MOST_TURNS: Final = 2**31 - 1
"""A line that names a later turn is malformed: what is kept of it is a number of 64 bits."""


class _LineUsage(msgspec.Struct):
    """What an episode took, up to its line."""

    input_tokens: Amount = None
    output_tokens: Amount = None
    cached_tokens: Amount = None
    cost_usd: Amount = None


class _Line(msgspec.Struct):
    """One line of any type: only `type` and `episode` are needed."""

    type: str
    episode: str
    dataset: str = ""
    task: str | int = ""
    run: str = ""
    difficulty: str = ""
    prompt: str = ""
    labels: dict[str, str] = {}
    skills: tuple[tuple[str, str], ...] = ()
    started_at: str | None = None
    turn: Annotated[int, msgspec.Meta(ge=-MOST_TURNS, le=MOST_TURNS)] | None = None
    kind: Kind = "call"
    actor: Literal["agent", "user", "environment"] = "agent"
    tool: str = ""
    head: str | None = None
    text: str = ""
    result: str = ""
    error: bool = False
    error_text: str = ""
    error_type: str = ""
    writes: bool | None = None
    duration_ms: Milliseconds | None = None
    value: Annotated[float, msgspec.Meta(ge=0, le=1)] | None = None
    source: OutcomeSource = "tests"
    ended_by: EndedBy = "unknown"
    usage: _LineUsage | NotObject = None


class _AnyLine(_Line):
    """A line with the fields under which others write an outcome."""

    reward: object = None
    score: object = None
    success: object = None
    is_correct: object = None
    correct: object = None
    passed: object = None
    resolved: object = None
    is_resolved: object = None
    solved: object = None

    @property
    def outcome(self) -> float | None:
        """How the episode ended, where the line says it."""
        if self.value is not None:
            return self.value
        return outcome_in({name: getattr(self, name) for name in OUTCOME_FIELDS})


_LINE: Final = msgspec.json.Decoder(_AnyLine)
_TYPES: Final = frozenset({"episode", "step", "outcome"})


class StepsRecordTexts:
    """Reads texts out of lines: a call is on one line with its answer."""

    def message_in(self, raw: bytes) -> str:
        """Give the message on a line."""
        line = _decoded(raw)
        return line.text if line else ""

    def calls_in(self, raw: bytes) -> tuple[()]:
        """Give no call: there is no answer to look for elsewhere."""
        del raw
        return ()

    def answers_in(self, raw: bytes) -> list[tuple[str, str]]:
        """Give what the call on a line gave back."""
        line = _decoded(raw)
        return [("", line.result or line.error_text)] if line else []


def _decoded(raw: bytes) -> _AnyLine | None:
    try:
        return _LINE.decode(raw)
    except UNREADABLE:
        return None


class StepsReader:
    """Reads germline steps: lines of one episode may come between those of others."""

    name = "steps"
    record_texts: Final = StepsRecordTexts()

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether a line names a type of this format and an episode."""
        del source
        if b'"episode"' not in head:
            return False
        compact = head.replace(b" ", b"")
        named = any(f'"type":"{kind}"'.encode() in compact for kind in _TYPES)
        return named and b'"episode":' in compact and b"\n{" in b"\n" + head

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[EpisodeRecord]:
        """Yield the episodes in the order of their first line, once the file is read."""
        episodes = self.follow(log.source)
        episodes.learn(log, tally)
        yield from episodes.records()

    def read_whole(self, log: LogFile, records: Collection[EpisodeRecord]) -> Iterator[WholeEpisode]:
        """Yield the episodes that records were made of, with their texts."""
        episodes = StepsEpisodes(log.source, {}, START, frozenset(record.name for record in records))
        episodes.learn(log, ReadTally())
        yield from episodes.whole_episodes()

    def follow(self, source: str, state: bytes = b"", place: LogPosition = START) -> StepsEpisodes:
        """Begin a file, or go on with it."""
        return StepsEpisodes(source, _STATE.decode(state) if state else {}, place)


class _Running(msgspec.Struct, dict=True):
    """An episode whose lines are still coming; the last line that names a field of it wins."""

    about: _Line
    usage: Usage | None = None
    prompt_key: str = ""
    last_turn: int = -1
    said_turn: int | None = None
    drafts: list[StepDraft] = []
    marker: Marker = msgspec.field(default_factory=Marker)
    forms: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._answer = ""

    def learn(self, line: _Line) -> None:
        """Take over what the line says of the episode as a whole."""
        about = self.about
        about.dataset = without_secrets(line.dataset) or about.dataset
        about.task = about.task if line.task == "" else without_secrets(str(line.task))
        about.run = plain(line.run) or about.run
        about.difficulty = plain(line.difficulty) or about.difficulty
        about.labels |= plain_labels(line.labels)
        about.skills = tuple((plain(name), plain(version)) for name, version in line.skills) or about.skills
        about.started_at = about.started_at or plain_time(line.started_at)
        self.prompt_key = prompt_key(line.prompt) or self.prompt_key
        if isinstance(line.usage, _LineUsage):
            used = line.usage
            counted = usage_of(used.input_tokens, used.output_tokens, used.cached_tokens, cost=used.cost_usd)
            self.usage = total([counted])

    def add(self, line: _Line, span: Span) -> None:
        """Add a step."""
        self.last_turn, self.said_turn = self._turn(line.turn), line.turn
        self.keep(_step(line, span, len(self.drafts), self.last_turn))

    def keep(self, step: Step) -> None:
        """Keep a step without its text; of what may be the final answer the text is held until it is settled."""
        draft = draft_of(step, self.marker)
        self.drafts.append(draft)
        if draft.actor == "agent" and draft.kind != "note":
            self.forms = ()
            self._answer = step.text if draft.kind == "message" or draft.action == SUBMIT else ""

    def settle(self) -> None:
        """Put the forms of what may be the final answer in the place of its text."""
        self.forms = self.forms or forms_of(self._answer)

    def _turn(self, logged: int | None) -> int:
        """Give the turn of a step: what comes later is never of an earlier turn, whatever its log counts by."""
        if logged is None:
            return self.last_turn + 1
        return self.last_turn if logged == self.said_turn else max(logged, self.last_turn + 1)

    def record(self, source: str, end: _AnyLine | None) -> EpisodeRecord:
        """Give the record of the episode, with the outcome that its last line tells, if it came."""
        self.settle()
        about, value = self.about, end.outcome if end else None
        header = header_of(
            Episode(
                id=about.episode,
                source=source,
                format=StepsReader.name,
                dataset=about.dataset,
                task=str(about.task),
                run=about.run,
                difficulty=about.difficulty,
                labels=about.labels,
                started_at=about.started_at,
                outcome=EpisodeOutcome(value, end.source) if end and value is not None else None,
                ended_by=end.ended_by if end else "unknown",
                skills=about.skills,
                usage=self.usage,
            )
        )
        named = header.task if str(about.task) else unnamed_task(self.prompt_key, about.run, about.episode)
        known = msgspec.structs.replace(header, task=named, prompt_key=self.prompt_key, answer_forms=self.forms)
        return completed(known, self.drafts)


class _WholeRunning(_Running):
    """Keeps the texts of its steps as well, for a transcript."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.task, self.whole = "", list[Step]()

    def learn(self, line: _Line) -> None:
        """Take over what was asked for as well."""
        super().learn(line)
        self.task = shown_text(line.prompt) or self.task

    def keep(self, step: Step) -> None:
        """Keep a step with its text."""
        super().keep(step)
        self.whole.append(shown_step(step))

    def episode(self) -> WholeEpisode:
        """Give the episode with its texts."""
        name, task = plain(self.about.episode), self.task or first_request(self.whole)
        return WholeEpisode(name, task, self.prompt_key, self.drafts, self.whole)


_STATE: Final = msgspec.msgpack.Decoder(dict[str, _Running])


class StepsEpisodes:
    """The episodes of one file while it is read: those that ended, and those that may go on.

    Where some are named in `whole`, these alone are read, and keep their texts.
    """

    def __init__(
        self,
        source: str,
        running: dict[str, _Running],
        place: LogPosition,
        whole: frozenset[str] = frozenset(),
    ) -> None:
        self.source = source
        self._whole = whole
        self._ended_whole = list[WholeEpisode]()
        self.place = place
        self._running = running
        self._ended: list[EpisodeRecord] = []
        self._touched = set[str]()

    def learn(self, log: LogFile, tally: ReadTally) -> None:
        """Read a log from its start to its end."""
        self.place = log.start
        for line, span in typed_lines(log, _LINE, tally):
            if line.type not in _TYPES:
                count_unknown(tally, line.type)
                continue
            name = without_secrets(line.episode)
            if self._whole and plain(name) not in self._whole:
                continue
            episode = self._running.get(name)
            if episode is None:
                kind = _WholeRunning if self._whole else _Running
                episode = self._running[name] = kind(_Line(type="episode", episode=name))
            episode.learn(line)
            self._touched.add(name)
            if line.type == "step":
                episode.add(line, span)
                if line.head and not plain_head(line.head):
                    count_unknown(tally, "head that is no one or two words")
            elif line.type == "outcome":
                self._ended.append(self._running.pop(name).record(self.source, line))
                self._ended_whole += _whole_of([episode])
        self.place = log.reached

    def records(self) -> Iterator[EpisodeRecord]:
        """Give the episodes that ended in this reading, and those that it met and that are still running."""
        yield from self._ended
        for name, episode in self._running.items():
            if name in self._touched:
                yield episode.record(self.source, None)

    def whole_episodes(self) -> Iterator[WholeEpisode]:
        """Give the episodes that keep their texts."""
        yield from self._ended_whole
        yield from _whole_of(self._running.values())

    def state(self) -> bytes:
        """Give what is to be known when reading goes on: an episode that ended is no part of it."""
        for episode in self._running.values():
            episode.settle()
        return msgspec.msgpack.encode(self._running)


def _whole_of(episodes: Iterable[_Running]) -> list[WholeEpisode]:
    return [episode.episode() for episode in episodes if isinstance(episode, _WholeRunning)]


def _step(line: _Line, span: Span, index: int, turn: int) -> Step:
    tool = plain_tool(line.tool) if line.kind == "call" else ""
    head = head_of(tool, line.text) if line.head is None else plain_head(line.head)
    return Step(
        index=index,
        turn=turn,
        kind=line.kind,
        actor=line.actor,
        tool=tool,
        head=head,
        text=line.text,
        result=line.result,
        error=line.error,
        error_text=(line.error_text or line.result) if line.error else "",
        error_type=line.error_type,
        writes=line.kind == "call" and (writes(tool, head) if line.writes is None else line.writes),
        started_at=plain_time(line.started_at),
        duration_ms=line.duration_ms,
        span=span,
    )
