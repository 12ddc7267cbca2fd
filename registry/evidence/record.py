"""Evidence: the log records behind a signal; redacted text, the place, and a keyed hash of the raw bytes."""

from __future__ import annotations

import hashlib
import hmac
import json
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.evidence.log_paths import paths_of
from registry.evidence.redaction import Redaction, redact

if TYPE_CHECKING:
    from collections.abc import Iterable
    from gzip import GzipFile
    from io import BufferedReader

    from registry.evidence.redaction import Leak

MAX_TEXT_CHARS: Final = 2_000
"""Longer texts are cut: evidence is there to be read (guess)."""

MAX_STEP_CHARS: Final = 500
"""Texts around a person's words are cut sooner: they say what it was about (guess)."""

_READ_CHARS: Final = 8 * MAX_TEXT_CHARS
"""Redaction looks further than what is kept: a secret that the cut divides must still be known as one (guess)."""


class StepText(NamedTuple):
    """A step around a person's words: how many steps from them, before below zero, who or what it is, its text.

    Its place is that of a record of the log, as in `EvidenceRecord`.
    """

    offset: int
    about: str
    text: str
    line: int
    byte_start: int
    byte_end: int


class EvidenceRecord(NamedTuple):
    """One log record, as the registry keeps it.

    `file` is its kept path (log_paths.py). `byte_start` and `byte_end` bound the raw record in the decompressed
    stream; `hmac` is HMAC-SHA256 of those bytes under `salt`, so that a short secret cannot be guessed from it.
    `text` is decoded and redacted. `line` counts from 1; in an archive of samples, where no line can be counted,
    the messages of the sample. `around` are the steps around a person's words, redacted as well.
    """

    file: str
    line: int
    byte_start: int
    byte_end: int
    salt: str
    hmac: str
    text: str
    redactions: tuple[Redaction, ...]
    episode: str
    around: tuple[StepText, ...] = ()

    def to_bytes(self) -> bytes:
        """Write it as the blob that the registry keeps."""
        fields = {**self._asdict(), "redactions": [redaction._asdict() for redaction in self.redactions]}
        if self.around:
            fields["around"] = [step._asdict() for step in self.around]
        else:
            del fields["around"]
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, body: bytes) -> EvidenceRecord:
        """Read it back from its blob."""
        fields = json.loads(body)
        redactions = tuple(Redaction(**row) for row in fields["redactions"])
        around = tuple(StepText(**row) for row in fields.get("around", ()))
        return cls(**{**fields, "redactions": redactions, "around": around})


Reread = Callable[[Path, Sequence[tuple[int, int]]], list[bytes | None]]
"""Reads byte ranges of a log, decompressed; None for those that are not there."""


class LogRecord(NamedTuple):
    """A raw record as a scan found it: its place, its bytes, its decoded text, and what is around it."""

    file: str
    line: int
    byte_start: int
    byte_end: int
    raw: bytes
    text: str
    episode: str
    around: tuple[StepText, ...] = ()


def keep(record: LogRecord, *, salt: str, leaks: Iterable[Leak] = ()) -> EvidenceRecord:
    """Turn a raw record into evidence: redact, cap, and bind to its bytes under a salt (hex).

    `leaks` are secrets that another scanner found in any record.
    """
    text, redactions = redact(record.text[:_READ_CHARS], leaks)
    return EvidenceRecord(
        file=record.file,
        line=record.line,
        byte_start=record.byte_start,
        byte_end=record.byte_end,
        salt=salt,
        hmac=_keyed(record.raw, salt),
        text=text[:MAX_TEXT_CHARS],
        redactions=tuple(
            mark._replace(end=min(mark.end, MAX_TEXT_CHARS)) for mark in redactions if mark.start < MAX_TEXT_CHARS
        ),
        episode=record.episode,
        around=tuple(
            step._replace(text=redact(step.text[:_READ_CHARS], leaks)[0][:MAX_STEP_CHARS])
            for step in record.around
        ),
    )


def _keyed(raw: bytes, salt: str) -> str:
    return hmac.new(bytes.fromhex(salt), raw, hashlib.sha256).hexdigest()


def still_there(evidence: Sequence[EvidenceRecord], reread: Reread | None = None) -> tuple[bool, ...]:
    """Read the files again and tell, for each record, whether its bytes are what they were.

    Each file is read once, front to back; one that is gone answers no for all of its records, one that was cut
    short for those behind the cut. `reread` reads what is packed otherwise than by gzip.
    """
    read = reread or _reread
    wanted: dict[str, list[int]] = {}
    for i, item in enumerate(evidence):
        wanted.setdefault(item.file, []).append(i)
    there = [False] * len(evidence)
    for file, indices in wanted.items():
        for path in paths_of(file):
            raws = read(path, [(evidence[i].byte_start, evidence[i].byte_end) for i in indices])
            for i, raw in zip(indices, raws, strict=True):
                there[i] = there[i] or (raw is not None and _is_of(evidence[i], raw))
    return tuple(there)


def _is_of(evidence: EvidenceRecord, raw: bytes) -> bool:
    return hmac.compare_digest(_keyed(raw, evidence.salt), evidence.hmac)


def _reread(path: Path, ranges: Sequence[tuple[int, int]]) -> list[bytes | None]:
    """Read byte ranges of a log, decompressed; None for those behind the place where it ends or breaks."""
    raws: list[bytes | None] = [None] * len(ranges)
    try:
        if not path.is_file():  # a pipe, a device: the registry of somebody else may name any
            return raws
        with _opened(path) as stream:
            for i in sorted(range(len(ranges)), key=lambda i: ranges[i]):
                start, end = ranges[i]
                stream.seek(start)
                raws[i] = stream.read(end - start)
    except (OSError, EOFError, ValueError, zlib.error):
        pass  # a log that rotated away is an answer, not an error: its records are no longer there
    return raws


def _opened(path: Path) -> BufferedReader | GzipFile:
    if path.suffix != ".gz":
        return path.open("rb")
    import gzip  # noqa: PLC0415 - for packed logs

    return gzip.open(path)
