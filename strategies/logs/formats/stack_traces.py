"""A failure as a log tells it: a line that reports it, and the lines of the stack trace that follow."""

from __future__ import annotations

from typing import Final

import re2

from strategies.files.line_prefix import OPTIONS, STAMP, stamped, without_colours
from strategies.files.line_search import LineBlock, line_in
from strategies.files.log_records import Span

_LIMIT_LINES: Final = 200
_LIMIT_BYTES: Final = 64 * 1024
"""A trace longer than this is a recursion or a dump: what it says is in its first lines."""

_GOES_ON: Final = re2.compile(
    (
        f"(?:{STAMP}[ \\t])?"
        r"(?:[ \t]+\S|Caused by: |\.\.\. \d+ more|Traceback \(most recent call last\)"
        r"|[a-z]\w*(?:\.\w+)+(?:Exception|Error)(?:: |$)|note: run with `RUST_BACKTRACE)"
    ).encode(),
    OPTIONS,
)
"""A line that belongs to the one before it. Loggers date a message once, CI systems each of its lines."""

_TRACEBACK: Final = b"Traceback (most recent call last)"
_RUST_PANIC: Final = b" panicked at "


class FailureReport:
    """One failure while its lines come."""

    def __init__(self, message: bytes, at: str | None, span: Span) -> None:
        self.at = at
        self.closed = False
        self._lines = [message]
        self._span = span
        self._awaits = False
        self._await_raised(message)

    @classmethod
    def again(cls, raw: bytes, span: Span) -> FailureReport:
        """Give a report that goes on, from the bytes of its span, taken as they were when they came."""
        raw += b"\r\n"  # A span leaves out the end of its last line; with one, a `\r` before it is no line end.
        end = raw.find(b"\n")
        first = line_in(raw, 0, end)
        at, message = stamped(without_colours(first))
        report = cls(message, at, Span(span.byte_start, span.byte_start + len(first), span.line))
        report.go_on(LineBlock(raw, span.byte_start), end + 1)
        return report

    @property
    def text(self) -> str:
        """All its lines, without colours and time stamps."""
        return b"\n".join(self._lines).decode(errors="replace")

    @property
    def span(self) -> Span:
        """The place of its lines."""
        return self._span

    def go_on(self, block: LineBlock, cursor: int) -> int:
        """Take the lines of a block from the cursor on that belong to it; give where the first other line starts.

        It is `closed` unless it took all of the block.
        """
        raw = block.raw
        while cursor < len(raw):
            end = raw.find(b"\n", cursor)
            end = end if end >= 0 else len(raw)
            line = line_in(raw, cursor, end)
            if not self._takes(line):
                self.closed = True
                return cursor
            self._learn(line, block.byte_start + cursor + len(line))
            cursor = end + 1
        return cursor

    def _takes(self, line: bytes) -> bool:
        if len(self._lines) >= _LIMIT_LINES or self._span.byte_end - self._span.byte_start >= _LIMIT_BYTES:
            return False
        if _GOES_ON.match(line):
            return True
        raised, self._awaits = self._awaits, False
        return raised and line[:1] not in b"\r"

    def _learn(self, line: bytes, byte_end: int) -> None:
        _, message = stamped(without_colours(line))
        self._lines.append(message)
        self._span = Span(self._span.byte_start, byte_end, self._span.line)
        self._await_raised(message)

    def _await_raised(self, line: bytes) -> None:
        """A Python traceback ends in the first line that is not indented, and a panic of Rust opens with two."""
        if _TRACEBACK in line or (_RUST_PANIC in line and line.endswith(b":")):
            self._awaits = True
