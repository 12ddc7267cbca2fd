"""Every error that germline raises, by who must act.

GermlineError                 has `hint`: the next command to type, or ""
├── UsageError                the person who typed: exit 2
│   ├── NotFoundError         no such skill, version, line, preset …; `nearest` names what was perhaps meant
│   ├── UnreadableLogError    a file that is no log of a known format, or a broken one
│   ├── SkillFormatError      a skill that breaks a rule of skill_files.md; `rule` names it
│   ├── TaskFileError         a task set that cannot be used; names the file, and the line or the task
│   ├── IsolationError        a machine that cannot isolate commands, which nobody allowed; `missing` says what
│   ├── PresetError           a preset that loosens the written rule, or is none; `field` and `bound` say where
│   ├── EditError             an edit that does not fit its base; `rule`: no match, two matches, protected …
│   ├── RefusedError          a command that the current state does not allow
│   │   ├── SpendingCapError      a request to a model that could pass a cap; `cap` names it
│   │   └── UnknownPriceError     a model without a price, under a cap in dollars
│   └── NotRecordedError      a prompt whose reply is not in the file to replay
├── ConflictError             somebody else was faster: load again and decide again; exit 1
│   └── BusyError             the registry stayed locked past the time allowed
├── CheckFailedError          a gate, a verification or a check says no: exit 3
├── CorruptLogError           the log does not hold what it promises: exit 3, `position` says where
├── StorageError              the disk or the database: exit 1
└── UpstreamError             a model or a server: exit 1
    ├── CredentialsError      a key is missing or refused: exit 4
    └── ModelError            a model was asked and gave nothing of use; what it cost and where it is kept
        ├── DeclinedError         it refuses to answer
        ├── CutOffError           its reply reached the limit of tokens before it ended
        ├── MalformedReplyError   its reply is not of the shape that was asked for
        ├── RequestRefusedError   its server refuses the request: invalid, too large, not paid for
        ├── RateLimitedError      too many requests; `retry_after_s` says when
        ├── OverloadedError       its server is overloaded
        ├── ServerFaultError      its server fails
        ├── TimedOutError         no reply came in time
        ├── DisconnectedError     the connection broke, or never was
        └── BatchPendingError     a batch is not done yet; `batch` names it
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


class ModelError(UpstreamError):
    """A model was asked and gave nothing of use.

    `kind` is how, in a word that events keep. `unsettled` counts the times that its server may have worked on it,
    and billed it, although no reply came. `cost_usd` is what it cost, None where that is not known; `reply` names
    the blob that keeps what came back, "" where nothing did.
    """

    kind: ClassVar[str] = "failed"

    def __init__(
        self, message: str, *, model: str = "", request_id: str = "", unsettled: int = 0, hint: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.model = model
        self.request_id = request_id
        self.unsettled = unsettled
        self.cost_usd: float | None = None
        self.reply = ""


class DeclinedError(ModelError):
    """A model refuses to answer."""

    kind = "refusal"


class CutOffError(ModelError):
    """A reply reached the limit of tokens before it ended."""

    kind = "max_tokens"


class MalformedReplyError(ModelError):
    """A reply is not of the shape that was asked for."""

    kind = "malformed"


class RequestRefusedError(ModelError):
    """A server refuses the request itself: sent again, it is refused again."""

    kind = "request_refused"


class RateLimitedError(ModelError):
    """Too many requests in too short a time; `retry_after_s` says when, None where the server does not."""

    kind = "rate_limited"
    retry_after_s: float | None = None


class OverloadedError(ModelError):
    """A server is overloaded, for everybody."""

    kind = "overloaded"


class ServerFaultError(ModelError):
    """A server fails."""

    kind = "server_fault"


class TimedOutError(ModelError):
    """No reply came in time."""

    kind = "timed_out"


class DisconnectedError(ModelError):
    """The connection broke, or never was."""

    kind = "disconnected"


class BatchPendingError(ModelError):
    """A batch is not done yet; `batch` names it, and asking the same again goes on with it."""

    kind = "pending"
    batch: str = ""
