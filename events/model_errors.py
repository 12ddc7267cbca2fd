"""The errors of asking a model: what it cost and where what came back is kept go with each.

ModelError                    a model was asked and gave nothing of use
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

from typing import ClassVar, Final

from events.errors import UpstreamError


class ModelError(UpstreamError):
    """A model was asked and gave nothing of use.

    `kind` is how, in a word that events keep. `unsettled` counts the times that its server may have worked on it,
    and billed it, although no reply came. `cost_usd` is what it cost, None where that is not known; `reply` names
    the blob that keeps what came back, "" where nothing did. Of an `unknown_model` no question is answered.
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
        self.unknown_model = False


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


UNFIT: Final = (DeclinedError, CutOffError, MalformedReplyError)
"""Failures that lie in what was asked: another prompt may still be answered."""
