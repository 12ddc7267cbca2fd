"""Every error that germline raises, by who must act.

GermlineError                 has `hint`: the next command to type, or ""
├── UsageError                the person who typed: exit 2
│   ├── NotFoundError         no such skill, version, line, preset …; `nearest` names what was perhaps meant
│   ├── UnreadableLogError    a file that is no log of a known format, or a broken one
│   ├── SkillFormatError      a skill that breaks a rule of skill_files.md; `rule` names it
│   ├── EditError             an edit that does not fit its base: no match, two matches, protected
│   └── RefusedError          a command that the current state does not allow
├── ConflictError             somebody else was faster: load again and decide again; exit 1
│   └── BusyError             the registry stayed locked past the time allowed
├── CheckFailedError          a gate, a verification or a check says no: exit 3
├── CorruptLogError           the log does not hold what it promises: exit 3, `position` says where
├── StorageError              the disk or the database: exit 1
└── UpstreamError             a model or a server: exit 1
└── CredentialsError      a key is missing or refused: exit 4
"""

from __future__ import annotations

from typing import ClassVar


class GermlineError(Exception):
    """The base of every error that germline raises on purpose."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(GermlineError):
    """What was asked for cannot be done as asked."""

    exit_code = 2


class NotFoundError(UsageError):
    """What was named does not exist."""

    def __init__(self, message: str, *, hint: str = "", nearest: tuple[str, ...] = ()) -> None:
        super().__init__(message, hint=hint)
        self.nearest = nearest


class UnreadableLogError(UsageError):
    """A file is no log of a known format, or is broken."""


class SkillFormatError(UsageError):
    """A skill breaks a rule of its format."""

    def __init__(self, message: str, *, rule: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.rule = rule


class EditError(UsageError):
    """An edit does not fit the version it names as its base."""


class RefusedError(UsageError):
    """The current state does not allow the command."""


class ConflictError(GermlineError):
    """A stream is not at the version that was expected.

    Units: expected and actual are stream versions; -1 where the number is not known.
    """

    def __init__(
        self, message: str, *, stream: str = "", expected: int = -1, actual: int = -1, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.stream = stream
        self.expected = expected
        self.actual = actual


class BusyError(ConflictError):
    """The registry stayed locked by another process past the time allowed."""


class CheckFailedError(GermlineError):
    """A gate, a verification or a check says no."""

    exit_code = 3


class CorruptLogError(GermlineError):
    """The log does not hold what it promises; `position` is the first event that shows it, or 0."""

    exit_code = 3

    def __init__(self, message: str, *, position: int = 0, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.position = position


class StorageError(GermlineError):
    """The disk or the database cannot do what it must."""


class UpstreamError(GermlineError):
    """A model or a server fails."""


class CredentialsError(UpstreamError):
    """A key is missing or refused."""

    exit_code = 4
