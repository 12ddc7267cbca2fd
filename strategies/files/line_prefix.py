"""The prefix of a log line, before its message: colours, a time stamp, a level.

Lines are bytes here, and patterns ask for no groups: of what a large log reports, only the text of a failure is
ever decoded.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import re2

_LEAD_BYTES: Final = 160
"""Where time stamp and level are looked for: what comes later belongs to the message."""

OPTIONS: Final = re2.Options()
"""For patterns on single lines of bytes, whatever their encoding."""
OPTIONS.encoding = re2.Options.Encoding.LATIN1
OPTIONS.never_capture = True

_MONTHS: Final = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_CLOCK: Final = r"(\d\d:\d\d:\d\d)(?:[.,](\d{1,9}))?"
_MONTH: Final = f"({'|'.join(_MONTHS)})"
_GH_FIELDS: Final = r"(?:[^\t\n]+\t[^\t\n]+\t)?(?:\xef\xbb\xbf)?"
"""What `gh run view --log` puts before each line of its log: the job and the step."""

STAMP: Final = (
    _GH_FIELDS + r"\[?(?:"
    rf"(\d{{4}})[-/](\d\d)[-/](\d\d)[T ]{_CLOCK}(?: ?(Z|[+-]\d\d:?\d\d))?"  # ISO 8601, and most loggers
    rf"|(?:[A-Z][a-z]{{2}} )?{_MONTH} +(\d{{1,2}}) {_CLOCK}(?: (\d{{4}}))?"  # Apache, syslog
    rf"|(\d{{1,2}})/{_MONTH}/(\d{{4}}):{_CLOCK}(?: ([+-]\d{{4}}))?"  # access logs
    r"|(\d\d)(\d\d)(\d\d) (\d\d)(\d\d)(\d\d)\b"  # HDFS: yyMMdd HHmmss
    r")\]?:?"
)
"""The form of a time stamp that opens a line."""

_PARTS: Final = re.compile(STAMP)
"""The same form in stdlib's engine, whose groups cost a tenth; it sees single stamps, and each only once."""
_STAMPED: Final = re2.compile(f"{STAMP}(?:[ \\t]|$)".encode(), OPTIONS)
_COLOUR: Final = re2.compile(rb"\x1b\[[0-9;?]*[A-Za-z]", OPTIONS)
_LOW: Final = "trace|debug|info|notice|verbose"
_HIGH: Final = "error|severe|fatal|critical|crit|alert|emerg|panic"
_FIELD: Final = r"\b(?:level|lvl|severity)\"?[=:] ?\"?"


def _level(names: str) -> re2._Regexp:
    """Compile the forms of a level: a word in capitals, one in brackets, a field."""
    form = rf"(?:\b|m)(?:{names.upper()})\b|[\[<](?:{names})[\]>]|{_FIELD}(?:{names})\b"
    return re2.compile(form.encode(), OPTIONS)


_REPORTS_NONE: Final = _level(_LOW)
_REPORTS_ONE: Final = _level(_HIGH)


def without_colours(line: bytes) -> bytes:
    """Give a line as it reads on a terminal."""
    return bytes(_COLOUR.sub(b"", line)) if b"\x1b" in line else line


def stamped(line: bytes) -> tuple[str | None, bytes]:
    """Give the time stamp that opens a line, as RFC 3339, and the rest of the line.

    A stamp without a zone is read as UTC. One without a year (syslog) is taken off, but tells no time: None.
    """
    stamp = _STAMPED.match(line)
    if not stamp:
        return None, line
    end = stamp.end()
    return _time_of(line[:end]), line[end:]


def opens_with_stamp(line: bytes) -> bool:
    """Tell whether a line opens with a time stamp."""
    return _STAMPED.match(line) is not None


def reports_no_failure(message: bytes) -> bool:
    """Tell whether a line is of a level at which nothing fails, whatever its words say; warnings may."""
    lead = message[:_LEAD_BYTES]
    return _REPORTS_NONE.search(lead) is not None and _REPORTS_ONE.search(lead) is None


@lru_cache(maxsize=1024)
def _time_of(stamp: bytes) -> str | None:
    match = _PARTS.match(stamp.decode("latin-1"))
    parts = match.groups("") if match else ("",) * _PARTS.groups
    if parts[0]:
        year, month, day, clock, fraction, zone = parts[0:6]
    elif parts[6]:
        (month, day, clock, fraction, year), zone = parts[6:11], ""
    elif parts[11]:
        day, month, year, clock, fraction, zone = parts[11:17]
    else:
        year, month, day, *time = parts[17:23]
        year, clock, fraction, zone = f"20{year}", ":".join(time), "", ""
    if not year:
        return None
    month = month if month.isdigit() else f"{_MONTHS.index(month) + 1:02}"
    zone = f"{zone[:3]}:{zone[-2:]}" if len(zone) > 1 else "Z"
    return f"{year}-{month}-{day:0>2}T{clock}{'.' + fraction if fraction else ''}{zone}"
