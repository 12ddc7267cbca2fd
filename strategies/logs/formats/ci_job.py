"""One job of a plain text log while its lines come: failures as steps, endings as an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import msgspec

from strategies.episodes.ci_outcomes import Ending, ending_of, exit_status_of, outcome_of
from strategies.episodes.episode import Episode, Step
from strategies.episodes.episode_records import completed, header_of
from strategies.episodes.step_marks import Marker
from strategies.episodes.step_records import StepDraft, draft_of
from strategies.files.line_prefix import reports_no_failure, stamped, without_colours
from strategies.files.log_records import Span
from strategies.logs.formats.stack_traces import FailureReport

if TYPE_CHECKING:
    from strategies.episodes.episode import EpisodeRecord
    from strategies.files.line_search import LineBlock

FORMAT: Final = "plain-text"

PART_STEPS: Final = 10_000
"""A log of more failures is cut into episodes of so many, so that the log of months needs no more memory."""

OPENING_LINES: Final = 50
"""The time stamp of a log is looked for in so many of its first lines: some have a banner without one."""

Tells = Literal["failure", "ending", "both"]
"""What a line may tell, by the patterns that it matches."""


class CiJob(msgspec.Struct, dict=True):
    """One job of a log while its lines come.

    `unfinished` is the place of a failure at the end of what was read: more of its stack trace may come. Its
    text is held in memory, and is no part of what an offset keeps: `resume` takes it from the log again.
    """

    name: str
    number: int = 1
    part: int = 1
    started_at: str | None = None
    undated_lines: int = 0
    endings: list[Ending] = []
    status: str = ""
    status_end: int = 0
    text_end: int = 0
    drafts: list[StepDraft] = []
    unfinished: Span | None = None

    def __post_init__(self) -> None:
        self._closed = False
        self._open: FailureReport | None = None

    @property
    def over(self) -> bool:
        """Tell whether the log of the job says that it ends, or holds as many failures as an episode may."""
        return self._closed or len(self.drafts) >= PART_STEPS

    @property
    def holds_something(self) -> bool:
        """Tell whether there is anything to tell; a whole log without a failure is worth an episode too."""
        first = self.number == self.part == 1
        return bool(self.drafts or self.endings or self._open) or (first and self.text_end > 0)

    def resume(self, raw: bytes) -> None:
        """Take up the failure that was not finished, from the bytes of its place."""
        if self.unfinished:
            self._open, self.unfinished = FailureReport.again(raw, self.unfinished), None

    def settle(self) -> None:
        """Note the place of a failure that is not finished, so that its text need not be kept."""
        self.unfinished = self._open.span if self._open else None

    def go_on(self, block: LineBlock) -> int:
        """Give a failure at the end of the last block its further lines; give where the next line starts."""
        return self._extend(self._open, block, 0) if self._open else 0

    def learn(self, block: LineBlock, text: bytes, span: Span, tells: Tells) -> int:
        """Learn a line that may tell a failure or an ending; give where the next line to look at starts.

        `text` is the line without its line end, `span` its place in the log.
        """
        after = span.byte_end - block.byte_start
        after += 2 if block.raw.startswith(b"\r", after) else 1
        at, message = stamped(without_colours(text))
        if tells != "failure" and self._ends(message.decode(errors="replace").rstrip(), span):
            return after
        if tells == "ending" or reports_no_failure(message):
            return after
        return self._extend(FailureReport(message, at, span), block, after)

    def _ends(self, message: str, span: Span) -> bool:
        status = exit_status_of(message)
        if status:
            self.status, self.status_end = status, span.byte_end
        ending = ending_of(message)
        if ending:
            self.endings.append(ending)
            self._closed = ending.closes
        return ending is not None

    def reached(self, own: LineBlock) -> None:
        """Learn where the text of the job ends, from what a block holds of it.

        A bare exit code counts only if nothing follows it.
        """
        self._date(own.raw)
        text = own.raw.rstrip()
        self.text_end = own.byte_start + len(text) if text else self.text_end

    def _date(self, raw: bytes) -> None:
        """Look for the time at which the log begins, in what a block holds of this job."""
        if not self.undated_lines:
            return
        lines = raw.split(b"\n", self.undated_lines)[: self.undated_lines]
        self.undated_lines -= min(self.undated_lines, raw.count(b"\n"))
        stamps = (stamped(without_colours(line))[0] for line in lines)
        self.started_at = next((at for at in stamps if at), None)
        if self.started_at:
            self.undated_lines = 0

    def next(self) -> CiJob:
        """Give the job that follows: another one, or the rest of this one."""
        if self._closed:
            return CiJob(self.name, number=self.number + 1)
        return CiJob(self.name, number=self.number, part=self.part + 1, endings=self.endings)

    def record(self, source: str, *, cut: bool = False) -> EpisodeRecord:
        """Give the record of the job as far as it was read; a part that was cut off tells no outcome."""
        drafts = [*self.drafts, _draft(self._open, len(self.drafts))] if self._open else self.drafts
        status = self.status if not self._closed and self.status_end >= self.text_end else ""
        number = f"#{self.number}" if self.number > 1 else ""
        part = f"/{self.part}" if self.part > 1 else ""
        about = Episode(
            id=f"{self.name}{number}{part}",
            source=source,
            format=FORMAT,
            labels={"exit_status": self.status} if self.status else {},
            started_at=self.started_at or next((draft.started_at for draft in drafts if draft.started_at), None),
            outcome=None if cut else outcome_of(self.endings, status),
        )
        return completed(header_of(about), drafts)

    def _extend(self, report: FailureReport, block: LineBlock, cursor: int) -> int:
        self._open = report
        cursor = report.go_on(block, cursor)
        if report.closed:
            self._open = None
            self.drafts.append(_draft(report, len(self.drafts)))
        return cursor


def failure_step(report: FailureReport, number: int) -> Step:
    """Give a failure as a step of its job."""
    return Step(
        index=number,
        turn=number,
        kind="note",
        actor="environment",
        error=True,
        error_text=report.text,
        started_at=report.at,
        span=report.span,
    )


def _draft(report: FailureReport, number: int) -> StepDraft:
    return draft_of(failure_step(report, number), Marker())
