"""Plain text and CI logs: lines that report a failure, each with the stack trace that follows it.

A file is one episode, or one for each CI job in it. Its steps are failures alone, as notes of the environment:
nothing in such a log says what an agent did. All other lines are passed over at the speed of the search.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec
import re2

from events.errors import UnreadableLogError
from strategies.episodes.ci_outcomes import ENDINGS
from strategies.episodes.episode import Episode
from strategies.episodes.episode_records import plain
from strategies.episodes.whole_episode import whole_episode
from strategies.files.line_prefix import opens_with_stamp
from strategies.files.line_search import LINE_LIMIT_BYTES, blocks, finder_of, line_in, which_of
from strategies.files.log_file import START, LogPosition
from strategies.files.log_records import Malformed, Span
from strategies.files.reread import spans_of
from strategies.logs.formats.ci_job import FORMAT, OPENING_LINES, CiJob, Tells, failure_step
from strategies.logs.formats.stack_traces import FailureReport

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from strategies.episodes.episode import EpisodeRecord
    from strategies.episodes.whole_episode import WholeEpisode
    from strategies.files.line_search import LineBlock
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally

FAILURES: Final = (
    r"(\b|m)(ERROR|FATAL|CRITICAL|SEVERE|PANIC|EMERG|ALERT)\b",
    r"\[(error|crit|alert|emerg|fatal)\]",
    r'\b(level|lvl|severity)"?[=:] ?"?(error|fatal|critical|panic)\b',
    r"\b[Ee]rror(\[[A-Z0-9]+\])?:",
    r"Traceback \(most recent call last\)",
    r"\b([A-Z][A-Za-z]*(Error|Exception)|[Ee]xception)\b",
    r"\bpanic(ked at|:)",
    r"\b[Ff]atal( error)?:",
    r"[Ss]egmentation fault|segfault|core dumped",
    r"[Oo]ut of memory|OOMKilled|oom-kill",
    r"command not found",
    r"No such file or directory|[Cc]annot find module",
    r"[Pp]ermission denied|[Aa]ccess denied",
    r"[Cc]onnection (refused|reset|timed out)",
    r"[Tt]imed out|[Tt]imeout (exceeded|expired)",
    r"\b[Ff]ail(ed|ure)\b",
    r"##\[error\]",
    r"npm ERR!|make(\[[0-9]+\])?: \*\*\*",
    r"\bFAIL(ED|URE)?\b",
    r"exit(ed with)? (code|status) [1-9]",
)
"""How failure shows in lines, in the dialect of line_search (and of grep -E and ripgrep)."""

_LOG_NAME: Final = re2.compile(r"\.(?:log|out|err)(?:[.-]\d[\d_-]*)?(?:\.(?:gz|zst))?$")
_SNIFFED_LINES: Final = OPENING_LINES
_BINARY_SHARE: Final = 0.1
"""From this share of NUL bytes on a file is not taken for text: UTF-16 has half of them, a torn log a few."""


class PlainTextRecordTexts:
    """Reads what a failure says: nobody speaks in such a log, and nobody is answered."""

    def message_in(self, raw: bytes) -> str:
        """Give no message."""
        del raw
        return ""

    def calls_in(self, raw: bytes) -> tuple[()]:
        """Give no call."""
        del raw
        return ()

    def answers_in(self, raw: bytes) -> list[tuple[str, str]]:
        """Give the lines of a failure without colours and time stamps."""
        return [("", FailureReport.again(raw, Span(0, len(raw), 1)).text)]


class PlainTextReader:
    """Reads lines of text; takes only what is called a log or looks like one, and only when nobody else does."""

    name = FORMAT

    record_texts: Final = PlainTextRecordTexts()

    def __init__(self, failures: tuple[str, ...] = FAILURES) -> None:
        self._failures = failures

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the file is text, and named as a log or made of lines with time stamps."""
        if not head or _binary(head):
            return False
        lines = [line for line in head.split(b"\n") if line.strip()][:_SNIFFED_LINES]
        dated = sum(opens_with_stamp(line) for line in lines)
        return bool(_LOG_NAME.search(Path(source).name.lower())) or 2 * dated > len(lines)

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[EpisodeRecord]:
        """Yield the jobs, and every PART_STEPS failures of a longer one, once the file is read."""
        jobs = self.follow(log.source)
        jobs.learn(log, tally)
        yield from jobs.records()

    def read_whole(self, log: LogFile, records: Collection[EpisodeRecord]) -> Iterator[WholeEpisode]:
        """Yield what records were made of: failures stand alone, so that only their places are read."""
        for record in records:
            raws = spans_of(log, [step.span for step in record.steps])
            reports = [
                FailureReport.again(raw, step.span) for raw, step in zip(raws, record.steps, strict=True) if raw
            ]
            steps = tuple(failure_step(report, number) for number, report in enumerate(reports))
            yield whole_episode(Episode(id=record.name, source=log.source, format=FORMAT, steps=steps))

    def follow(self, source: str, state: bytes = b"", place: LogPosition = START) -> CiJobs:
        """Begin a file, or go on with it."""
        return CiJobs(source, self._failures, _STATE.decode(state) if state else None, place)


_STATE: Final = msgspec.msgpack.Decoder(CiJob | None)


class CiJobs:
    """The jobs of one file while it is read: those that ended, and the one that may go on."""

    def __init__(self, source: str, failures: tuple[str, ...], job: CiJob | None, place: LogPosition) -> None:
        self.source = source
        self.place = place
        self._job = job
        self._failures = len(failures)
        self._finder = finder_of(failures + ENDINGS)
        self._which = which_of(failures + ENDINGS)
        self._ended: list[EpisodeRecord] = []
        self._touched = False

    def learn(self, log: LogFile, tally: ReadTally) -> None:
        """Read a log from its start place to its end; raises UnreadableLogError if it begins like no text."""
        if not log.start.offset and _binary(log.head()):
            raise UnreadableLogError(f"{log.source}: not UTF-8 text", hint="convert it: iconv -f UTF-16 -t UTF-8")
        job = self._begun(log)
        offset, line = log.start
        previous = offset
        for block in blocks(log):
            if block.byte_start > offset:
                reason = f"a line of more than {LINE_LIMIT_BYTES >> 20} MiB: the rest of it was passed over"
                tally.malformed.append(Malformed(log.source, line, previous, reason))
            job = self._learn(job, block, line + 1)
            previous, offset = block.byte_start, block.byte_start + len(block.raw)
            line += block.raw.count(b"\n") + bool(block.raw and not block.raw.endswith(b"\n"))
        self._job, self.place = job, LogPosition(offset, line)
        tally.records += line - log.start.line

    def _learn(self, job: CiJob, block: LineBlock, line: int) -> CiJob:
        """Learn a block that begins with a line of this number; give the job that goes on behind it.

        What may be half a line is read, but no job ends with it: another half might come that says otherwise.
        """
        raw, begun, passed, counted = block.raw, 0, job.go_on(block), 0
        for start, end in self._finder.lines(raw):
            if block.finished and job.over:
                job, begun = self._next(job, block.part(begun, passed)), passed
            if start < passed:
                continue
            line, counted = line + raw.count(b"\n", counted, start), start
            text = line_in(raw, start, end)
            at = block.byte_start + start
            passed = job.learn(block, text, Span(at, at + len(text), line), self._tells(text))
        if block.finished and job.over:
            job, begun = self._next(job, block.part(begun, passed)), passed
        job.reached(block.part(begun, len(raw)))
        self._touched = self._touched or bool(raw)
        return job

    def records(self) -> Iterator[EpisodeRecord]:
        """Give the jobs that ended in this reading, and the one that goes on, if any of it was met."""
        yield from self._ended
        if self._job and self._touched and self._job.holds_something:
            yield self._job.record(self.source)

    def state(self) -> bytes:
        """Give what is to be known when reading goes on."""
        if self._job:
            self._job.settle()
        return msgspec.msgpack.encode(self._job)

    def _begun(self, log: LogFile) -> CiJob:
        if self._job is None:
            return CiJob(plain(log.stem), undated_lines=OPENING_LINES)
        if self._job.unfinished:
            self._job.resume(spans_of(log, [self._job.unfinished])[0])
        return self._job

    def _next(self, job: CiJob, own: LineBlock) -> CiJob:
        """Keep a job that is over; `own` is what the last block holds of it."""
        job.reached(own)
        following = job.next()
        self._ended.append(job.record(self.source, cut=following.part > 1))
        return following

    def _tells(self, text: bytes) -> Tells:
        matches = self._which.of(text)
        ending = any(number >= self._failures for number in matches)
        failure = not matches or any(number < self._failures for number in matches)
        return "both" if ending and failure else "ending" if ending else "failure"


def _binary(head: bytes) -> bool:
    return head.count(b"\0") > _BINARY_SHARE * len(head)
