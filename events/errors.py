"""Every error that germline raises, by who must act.

GermlineError                 has `hint`: the next command to type, or ""
├── UsageError                the person who typed: exit 2
│   ├── NotFoundError         no such skill, version, line, preset …; `nearest` names what was perhaps meant
│   ├── UnreadableLogError    a file that is no log of a known format, or a broken one
│   │   └── FailedLogError    one that could not be read for no fault of its text
│   │   └── DamagedLogError       an archive that is damaged: what could be unpacked of it was read
│   ├── SkillFormatError      a skill that breaks a rule of its format; `rule` names it
│   ├── TaskFileError         a task set that cannot be used; names the file, and the line or the task
│   ├── IsolationError        a machine that cannot isolate commands, which nobody allowed; `missing` says what
│   ├── PresetError           a preset that loosens the written rule, or is none; `field` and `bound` say where
│   ├── EditError             an edit that does not fit its base; `rule`: no match, protected, sections …
│   ├── RefusedError          a command that the current state does not allow
│   │   ├── UntrustedError        `settings` of a project, or files of another owner, that wait for trust
│   │   ├── SpendingCapError      a request to a model that could pass a cap; `cap` names it
│   │   └── UnknownPriceError     a model without a price, under a cap in dollars
│   └── NotRecordedError      a prompt whose reply is not in the file to replay
├── ConflictError             somebody else was faster: load again and decide again; exit 1
│   ├── BusyError             the registry stayed locked past the time allowed
│   └── OvertakenError        a file was changed between looking at it and writing it
├── CheckFailedError          a gate, a verification or a check says no: exit 3
├── CorruptLogError           the log does not hold what it promises: exit 3, `position` says where
├── StorageError              the disk or the database: exit 1
└── UpstreamError             a model or a server: exit 1
    ├── EngineError           a cluster that work was handed to
    │   └── OutOfSightError, EngineMismatchError: a worker does not see a file as it lies here; it runs other code
    ├── CredentialsError      a key is missing or refused: exit 4
    └── ModelError            a model was asked and gave nothing of use (events/model_errors.py)
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import ValidationError


class GermlineError(Exception):
    """The base of every error that germline raises on purpose."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:  # from another process, with the fields that only names can set
        return type(self).__new__, (type(self), *self.args), self.__dict__


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


class FailedLogError(UnreadableLogError):
    """A log could not be read for no fault of its text: it cannot be opened, went away, or its reader broke."""


class DamagedLogError(UnreadableLogError):
    """A compressed log ends early, makes no sense from some place on, or is followed by other bytes.

    `source` is the path as it was read; `whole` tells that only other bytes follow, and nothing of it is missing.
    """

    def __init__(self, message: str, *, source: str = "", whole: bool = False, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.source = source
        self.whole = whole


class SkillFormatError(UsageError):
    """A skill breaks a rule of its format."""

    def __init__(self, message: str, *, rule: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.rule = rule


class TaskFileError(UsageError):
    """A task set cannot be used as it is."""


class IsolationError(UsageError):
    """The machine cannot isolate commands, and the person did not allow to run them all the same."""

    def __init__(self, message: str, *, missing: tuple[str, ...], hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.missing = missing


class PresetError(UsageError):
    """A preset loosens the written rule, or is no preset; `bound` is "" where no number is at stake."""

    def __init__(self, message: str, *, field: str, bound: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field
        self.bound = bound


class EditError(UsageError):
    """An edit does not fit the version it names as its base; `rule` names what it breaks, "" for its shape."""

    def __init__(self, message: str, *, rule: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.rule = rule


class RefusedError(UsageError):
    """The current state does not allow the command."""


class UntrustedError(RefusedError):
    """A project may not decide this before the person trusts it; `settings` are the keys that wait for that."""

    def __init__(self, message: str, *, settings: tuple[str, ...] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.settings = settings


class SpendingCapError(RefusedError):
    """A request to a model could pass a cap: it was not sent.

    Units: `limit`, `spent` and `most`, what the request may cost, in that of the cap: US dollars or tokens.
    """

    def __init__(self, message: str, *, cap: str, limit: float, spent: float, most: float, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.cap = cap
        self.limit = limit
        self.spent = spent
        self.most = most


class UnknownPriceError(RefusedError):
    """No price is known for a model, and a cap in dollars is set."""

    def __init__(self, message: str, *, model: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.model = model


class NotRecordedError(UsageError):
    """A replayed file holds no reply to a prompt; `prompt_hash` names it."""

    def __init__(self, message: str, *, prompt_hash: str, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.prompt_hash = prompt_hash


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


class OvertakenError(ConflictError):
    """A file was changed by somebody else between looking at it and writing it; theirs is left."""


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


class ContainerError(UpstreamError):
    """A container that a task asks for cannot be made or started: nothing is known of the work."""


class EngineError(UpstreamError):
    """A cluster that work was handed to cannot be reached, or cannot do it."""


class OutOfSightError(EngineError):
    """A worker does not see a file as it lies here."""


class EngineMismatchError(EngineError):
    """The workers of a cluster run other code, or other packages."""


class CredentialsError(UpstreamError):
    """A key is missing or refused."""

    exit_code = 4


def did_you_mean(name: str, known: Iterable[str], *, otherwise: str = "it may hold") -> str:
    """Write the hint for a name that is not known: the nearest one that is, else all of them."""
    names = list(known)
    near = get_close_matches(name, names, n=1)
    return f"did you mean {near[0]}?" if near else f"{otherwise} {', '.join(names)}"


def unfit_setting(error: ValidationError, table: str, known: Iterable[str]) -> UsageError:
    """Say which key of a table of germline.toml is not known, or has a value that cannot be: the first of them."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    if name not in (names := list(known)):
        return UsageError(f"[{table}] sets {name}, which germline does not know", hint=did_you_mean(name, names))
    text = f"{first['msg'][:1].lower()}{first['msg'][1:]}"
    at = ".".join(map(str, first["loc"]))
    return UsageError(f"[{table}] sets {at} to {first['input']!r}: {text}", hint="docs/configuration.md")
