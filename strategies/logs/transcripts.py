"""Transcripts: what was asked, called and answered in an episode, read again by the reader of its format."""

from __future__ import annotations

import os
from collections import defaultdict
from contextlib import suppress
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, runtime_checkable

from msgspec.structs import replace

from events.errors import NotFoundError, UnreadableLogError
from registry.evidence.log_paths import paths_of
from strategies.episodes.episode import Episode
from strategies.episodes.episode_records import place_key, plain
from strategies.episodes.step_records import text_key
from strategies.episodes.whole_episode import WholeEpisode, whole_episode
from strategies.files.log_file import LogFile, LogPosition
from strategies.files.log_records import ReadTally
from strategies.logs.resume import EachLine

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from collections.abc import Set as AbstractSet

    from strategies.episodes.episode import EpisodeRecord, Step
    from strategies.episodes.step_records import StepDraft
    from strategies.logs.formats_table import LogReader

_CHUNK_BYTES: Final = 64 * 1024
_MOST_WAITING: Final = 16
"""How many calls may have had no result yet when an episode was recorded (a guess)."""


class Transcript(NamedTuple):
    """An episode with its texts, free of secrets, long ones without their middle.

    `task` is what the person asked for first, "" where nobody asked. Shapes: a step for each of the record.
    """

    task: str
    steps: tuple[Step, ...]


@runtime_checkable
class WholeReader(Protocol):
    """A reader that drops texts as it reads, and can keep them instead."""

    def read_whole(self, log: LogFile, records: Collection[EpisodeRecord]) -> Iterator[WholeEpisode]:
        """Yield the episodes that records were made of, with their texts; others may come between them."""
        ...


def read_transcripts(records: Sequence[EpisodeRecord], erased: AbstractSet[str]) -> list[Transcript | None]:
    """Read episodes again, each file once, in the order asked for; of those that went on, the recorded steps.

    None for an episode whose file is gone or no longer holds it as it was recorded, and for one that holds a text
    that a person had erased: `erased` names the records of logs, as `registry.query.signals.erased_records` does.
    """
    by_file: dict[tuple[str, str], list[int]] = defaultdict(list)
    for number, record in enumerate(records):
        by_file[record.source, record.format].append(number)
    transcripts: list[Transcript | None] = [None] * len(records)
    for (source, log_format), numbers in by_file.items():
        for number, transcript in _read_file(source, log_format, {number: records[number] for number in numbers}):
            transcripts[number] = None if _holds_erased(records[number], transcript, erased) else transcript
    return transcripts


def _read_file(
    source: str, log_format: str, wanted: Mapping[int, EpisodeRecord]
) -> Iterator[tuple[int, Transcript]]:
    """Give the transcripts of records of one file, until all are there; each with the number of its record."""
    by_name: dict[str, list[int]] = defaultdict(list)
    for number, record in wanted.items():
        by_name[record.name].append(number)
    left = len(wanted)
    with suppress(UnreadableLogError, NotFoundError, OSError):  # what came before counts
        for whole in _episodes(source, log_format, list(wanted.values())):
            for number in tuple(by_name.get(whole.name, ())):
                transcript = _as_recorded(wanted[number], whole)
                if transcript is not None:
                    yield number, transcript
                    by_name[whole.name].remove(number)
                    left -= 1
            if not left:
                return


def _episodes(source: str, log_format: str, records: Sequence[EpisodeRecord]) -> Iterator[WholeEpisode]:
    """Give the episodes of a file that have the names of records."""
    paths = paths_of(source)
    if len(paths) != 1 or not paths[0].is_file():  # a pipe or a device is no log
        return  # masked names that several files have: which one was read is not known
    from strategies.logs.formats_table import reader_named  # noqa: PLC0415 - all readers: 80 ms, and few answers read

    reader, log = reader_named(log_format), LogFile(paths[0])
    if isinstance(reader, WholeReader):
        yield from reader.read_whole(log, records)
        return
    names = {record.name for record in records}
    for episode in _read_again(reader, log, records):
        if isinstance(episode, Episode) and plain(episode.id) in names:
            yield whole_episode(episode)


def _read_again(
    reader: LogReader, log: LogFile, records: Collection[EpisodeRecord]
) -> Iterator[Episode | EpisodeRecord]:
    """Read a log, or where each line holds whole episodes the lines of the records alone."""
    by_lines = not log.packed and isinstance(reader, EachLine) and reader.each_line(log)
    if not by_lines or not all(record.steps for record in records):
        yield from reader.read(log, ReadTally())
        return
    first_steps = {(step.span.line, step.span.byte_start) for record in records for step in record.steps[:1]}
    for line, start in sorted(first_steps):
        place = LogPosition(_line_start(log, start), line - 1)
        for episode in reader.read(log.again(place), ReadTally()):
            if any(step.span.line != line for step in episode.steps[:1]):
                break
            yield episode


def _line_start(log: LogFile, offset: int) -> int:
    """Give where the line begins that holds an offset."""
    with log.opened() as file:
        while offset > 0:
            before = max(0, offset - _CHUNK_BYTES)
            newline = os.pread(file.fileno(), offset - before, before).rfind(b"\n")
            if newline >= 0:
                return before + newline + 1
            offset = before
    return 0


def _as_recorded(record: EpisodeRecord, whole: WholeEpisode) -> Transcript | None:
    """Give an episode as it was when it was recorded; None where it is another, or another text."""
    count = len(record.steps)
    if len(whole.drafts) < count:
        return None
    drafts = list(whole.drafts[:count])
    # A message turns out to be beside a call only once that comes.
    steps = [replace(step, kind=known.kind) for step, known in zip(whole.steps, record.steps, strict=False)]
    if not record.text_key:  # kept before texts had keys, or there is no text
        same = all(
            (draft.action, draft.span) == (step.action, step.span)
            for draft, step in zip(drafts, record.steps, strict=True)
        )
        return Transcript(whole.task, tuple(steps)) if same else None
    for index in (-1, *_last_calls(drafts)):
        if index >= 0:
            drafts[index] = _unanswered(drafts[index])
            steps[index] = replace(steps[index], result="", error=False, error_text="", error_type="")
        if text_key(whole.prompt_key, drafts) == record.text_key:
            return Transcript(whole.task, tuple(steps))
    return None


def _holds_erased(record: EpisodeRecord, transcript: Transcript, erased: AbstractSet[str]) -> bool:
    """Tell whether a person had a text of an episode erased: that of a call, of its answer or of a message."""
    if not erased:
        return False
    recorded = (step.span for step in record.steps)
    read = (span for step in transcript.steps for span in (step.span, step.error_span) if span)
    return any(place_key(record, span) in erased for span in (*recorded, *read))


def _last_calls(drafts: Sequence[StepDraft]) -> Iterator[int]:
    """Give the calls that may have had no result when the episode was recorded, the last one first."""
    calls = (index for index in range(len(drafts) - 1, -1, -1) if drafts[index].kind == "call")
    return islice(calls, _MOST_WAITING)


def _unanswered(draft: StepDraft) -> StepDraft:
    return replace(draft, result_key=b"")
