"""Plain text and CI logs: lines that report a failure, each with the stack trace that follows it.

A file is one episode, or one for each CI job in it. Its steps are failures alone, as notes of the environment:
nothing in such a log says what an agent did. All other lines are passed over at the speed of the search.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import re2

from events.errors import UnreadableLogError
from strategies.logs.ci_endings import ENDINGS
from strategies.logs.ci_job import FORMAT, Job
from strategies.logs.line_search import blocks, finder_of
from strategies.logs.log_lines import opens_with_stamp, stamped, without_colours

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.logs.episode import Episode, Tally
    from strategies.logs.stream import LogFile

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

_LOG_NAME: Final = re2.compile(r"\.(?:log|out|err)(?:[.-][\d-]+)?(?:\.(?:gz|zst))?$")
_SNIFFED_LINES: Final = 50
_BINARY_SHARE: Final = 0.1
"""From this share of NUL bytes on a file is not taken for text: UTF-16 has half of them, a torn log a few."""


class PlainTextReader:
    """Reads lines of text; takes only what is called a log or looks like one, and only when nobody else does."""

    name = FORMAT

    def __init__(self, failures: tuple[str, ...] = FAILURES) -> None:
        self._failures = failures

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the file is text, and named as a log or made of lines with time stamps."""
        if not head or _binary(head):
            return False
        lines = [line for line in head.split(b"\n") if line.strip()][:_SNIFFED_LINES]
        dated = sum(opens_with_stamp(line) for line in lines)
        return bool(_LOG_NAME.search(Path(source).name.lower())) or 2 * dated > len(lines)

    def read(self, log: LogFile, tally: Tally) -> Iterator[Episode]:
        """Yield an episode at the end of every job, and every PART_STEPS failures of a longer one."""
        head = log.head()
        if _binary(head):
            raise UnreadableLogError(f"{log.source}: not UTF-8 text", hint="convert it: iconv -f UTF-16 -t UTF-8")
        finder, line, unfinished = finder_of(self._failures + ENDINGS), log.start.line + 1, False
        job = Job(log, self._failures, started_at=_first_stamp(head))
        for block in blocks(log):
            raw, passed, counted = block.raw, job.go_on(block), 0
            for start, end in finder.lines(raw):
                if start < passed:
                    continue
                line, counted = line + raw.count(b"\n", counted, start), start
                passed = job.learn(block, start, end, line)
                if job.over:
                    yield job.finished()
                    job = job.next()
            line += raw.count(b"\n", counted)
            unfinished = not raw.endswith(b"\n")
            job.reached(block.byte_start + len(raw.rstrip()), blank=raw.isspace())
        tally.records = line - 1 - log.start.line + unfinished
        if job.holds_something:
            yield job.finished()


def _binary(head: bytes) -> bool:
    return head.count(b"\0") > _BINARY_SHARE * len(head)


def _first_stamp(head: bytes) -> str | None:
    lines = head.split(b"\n")[:_SNIFFED_LINES]
    return next((at for at in (stamped(without_colours(line))[0] for line in lines) if at), None)
