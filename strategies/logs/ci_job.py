"""One job of a plain text log while its lines come: failures as steps, endings as an outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.logs.ci_endings import ENDINGS, Ending, ending_of, exit_status_of, outcome_of
from strategies.logs.episode import Episode, Span, Step
from strategies.logs.line_search import which_of
from strategies.logs.log_lines import reports_no_failure, stamped, without_colours
from strategies.logs.stack_traces import Report

if TYPE_CHECKING:
    from strategies.logs.line_search import Block
    from strategies.logs.stream import LogFile

FORMAT: Final = "plain-text"

PART_STEPS: Final = 10_000
"""A log of more failures is cut into episodes of so many, so that the log of months needs no more memory."""


class Job:
    """One job of a log while its lines come."""

    def __init__(
        self,
        log: LogFile,
        failures: tuple[str, ...],
        *,
        started_at: str | None = None,
        number: int = 1,
        part: int = 1,
    ) -> None:
        self.endings: list[Ending] = []
        self._log = log
        self._failures = failures
        self._which = which_of(failures + ENDINGS)
        self._started_at = started_at
        self._number = number
        self._part = part
        self._steps: list[Step] = []
        self._closed = False
        self._open: Report | None = None
        self._status, self._status_end = "", 0
        self._text_end = 0

    @property
    def over(self) -> bool:
        """Tell whether the job said that it ends, or holds as many failures as an episode may."""
        return self._closed or len(self._steps) >= PART_STEPS

    @property
    def holds_something(self) -> bool:
        """Tell whether there is anything to tell; a whole log without a failure is worth an episode too."""
        first = self._number == self._part == 1
        return bool(self._steps or self.endings or self._open) or (first and self._text_end > 0)

    def go_on(self, block: Block) -> int:
        """Give a failure at the end of the last block its further lines; give where the next line starts."""
        return self._extend(self._open, block, 0) if self._open else 0

    def learn(self, block: Block, start: int, end: int, line: int) -> int:
        """Learn a line that may tell a failure or an ending; give where the next line to look at starts."""
        found = block.raw[start:end].removesuffix(b"\r")
        span = Span(block.byte_start + start, block.byte_start + start + len(found), line)
        at, message = stamped(without_colours(found))
        told = self._which.of(found)
        ends = any(number >= len(self._failures) for number in told)
        if ends and self._ends(message.decode(errors="replace").rstrip(), span):
            return end + 1
        if min(told, default=0) >= len(self._failures) or reports_no_failure(message):
            return end + 1
        return self._extend(Report(message, at, span), block, end + 1)

    def _ends(self, message: str, span: Span) -> bool:
        status = exit_status_of(message)
        if status:
            self._status, self._status_end = status, span.byte_end
        ending = ending_of(message)
        if ending:
            self.endings.append(ending)
            self._closed = ending.closes
        return ending is not None

    def reached(self, byte_end: int, *, blank: bool) -> None:
        """Learn where the text of a block ends: a bare exit code counts only if nothing follows it."""
        self._text_end = self._text_end if blank else byte_end

    def next(self) -> Job:
        """Give the job that follows: another one, or the rest of this one."""
        if self._closed:
            return Job(self._log, self._failures, number=self._number + 1)
        rest = Job(self._log, self._failures, number=self._number, part=self._part + 1)
        rest.endings = self.endings
        return rest

    def finished(self) -> Episode:
        """Give the episode; its outcome is told by the part in which the job ends."""
        if self._open:
            self._add(self._open)
        status = self._status if not self._closed and self._status_end >= self._text_end else ""
        cut = self.over and not self._closed
        number = f"#{self._number}" if self._number > 1 else ""
        part = f"/{self._part}" if self._part > 1 else ""
        return Episode(
            id=f"{self._log.stem}{number}{part}",
            source=self._log.source,
            format=FORMAT,
            labels={"exit_status": self._status} if self._status else {},
            started_at=self._started_at
            or next((step.started_at for step in self._steps if step.started_at), None),
            outcome=None if cut else outcome_of(self.endings, status),
            steps=tuple(self._steps),
        )

    def _extend(self, report: Report, block: Block, cursor: int) -> int:
        self._open = report
        cursor = report.go_on(block, cursor)
        if report.closed:
            self._add(report)
        return cursor

    def _add(self, report: Report) -> None:
        self._open = None
        number = len(self._steps)
        self._steps.append(
            Step(
                index=number,
                turn=number,
                kind="note",
                actor="environment",
                error=True,
                error_text=report.text,
                started_at=report.at,
                span=report.span,
            )
        )
