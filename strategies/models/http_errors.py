"""What a server's no means, each as an error with what to do next, and how long to wait for a server."""

from __future__ import annotations

from concurrent.futures import Future, wait
from datetime import datetime
from email.utils import mktime_tz, parsedate_tz
from math import ceil, isnan
from threading import Thread
from typing import TYPE_CHECKING, Final, TypeVar

from events.clock import SystemClock
from events.errors import CredentialsError, UpstreamError
from events.model_errors import (
    ModelError,
    OverloadedError,
    RateLimitedError,
    RequestRefusedError,
    ServerFaultError,
)
from registry.evidence.redaction import without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


KEY: Final = "ANTHROPIC_API_KEY"
"""The variable that holds the key, the only place it is taken from."""
SET_KEY: Final = f"export {KEY}=…    germline doctor"
"""What sets a key, and what tells whether it is set."""
LOOK: Final = "germline log --type ModelAsked"
"""What shows what was asked, and what it cost."""
AGAIN: Final = "the same command, in a while; what was paid for is kept"
"""What to do where it was nobody's fault."""
LEAST_KEY_CHARS: Final = 8
"""A shorter key is none, and removing it everywhere would tear words apart (a guess)."""
_MOST_CHARS: Final = 300
_MOST_READ_CHARS: Final = 10_000
"""How much of what a server says is passed on, and looked at (guesses)."""

_OVERLOADED: Final = 529
_FAULT: Final = 500
_NOT_FOUND: Final = 404
_STATUS: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": _FAULT,
    "timeout_error": 504,
    "overloaded_error": _OVERLOADED,
}
"""The status that goes with each type of error (Claude API errors): a batch tells the type alone."""


def safe_line(text: str) -> str:
    """Write what a server says as one line that shows as it is, without secrets."""
    line = "".join(char if char.isprintable() else " " for char in text[:_MOST_READ_CHARS])
    return without_secrets(" ".join(line.split()))[:_MOST_CHARS]  # cut last: half a secret looks like none


def without_key(text: str, key: str) -> str:
    """Take the key out of what a server says: not every key looks like one."""
    return text.replace(key, "[api-key]") if len(key) >= LEAST_KEY_CHARS else text


def status_of(error_type: str) -> int:
    """Give the status that goes with a type of error; one that nobody knows is the server's fault."""
    return _STATUS.get(error_type, _FAULT)


def no_key(model: str, *, given: bool) -> CredentialsError:
    """Say that there is no key, or that what is `given` as one is none, and so nothing was sent."""
    what = "holds what no key is made of" if given else "is not set"
    return CredentialsError(f"{KEY} {what}, and {model} is asked only with a key", hint=SET_KEY)


def failure(
    status: int,
    message: str,
    *,
    model: str,
    request_id: str = "",
    retry_after_s: float | None = None,
    key: str = KEY,
) -> UpstreamError:
    """Make an error of a status and of what the server says.

    `retry_after_s` is when it says that it would answer, None where it does not; `key` names the variable that
    holds the key.
    """
    mend = f"export {key}=…    germline doctor"
    why = f"{safe_line(message) or 'no reason given'} ({_numbered(status, request_id)})"
    match status:
        case 401:
            return CredentialsError(f"the key in {key} was refused: {why}", hint=mend)
        case 403:
            return CredentialsError(f"the key in {key} may not ask {model}: {why}", hint=mend)
        case 429:
            return _rate_limited(why, model, request_id, retry_after_s)
    kind, text, hint = _named(status, model)
    error = kind(f"{text}: {why}", model=model, request_id=request_id, hint=hint)
    error.unknown_model = status == _NOT_FOUND
    return error


def _named(status: int, model: str) -> tuple[type[ModelError], str, str]:
    """Name the kind of error that a status is, what to say of it, and what to do."""
    if status == _OVERLOADED:
        return OverloadedError, f"the server of {model} is overloaded", AGAIN
    if status >= _FAULT:
        return ServerFaultError, f"the server of {model} failed", AGAIN
    return RequestRefusedError, f"the server of {model} refused the request", LOOK


def _rate_limited(why: str, model: str, request_id: str, retry_after_s: float | None) -> RateLimitedError:
    error = RateLimitedError(f"{model} was asked too much at once: {why}", model=model, request_id=request_id)
    error.retry_after_s = retry_after_s
    wait = "in a while" if retry_after_s is None else f"in {ceil(retry_after_s):,} s"
    error.hint = f"the same command, {wait}; what was paid for is kept"
    return error


def _numbered(status: int, request_id: str) -> str:
    return f"{status}, request {request_id}" if request_id else f"{status}"


T = TypeVar("T")

_FOR_EVER_S: Final = 1e9


def asked_to_wait_s(headers: Mapping[str, str]) -> float | None:
    """Read how long a server asks to wait, in seconds or until a date; None where it does not.

    A date that no calendar holds is for ever: the SDK would fail over it.
    Source: `_parse_retry_after_header` of anthropic 2.12, which waits for 50 days where the header asks for it.
    """
    for name, per_s in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            wait_s = float(headers.get(name, "")) / per_s
        except ValueError:
            continue
        return None if isnan(wait_s) else min(wait_s, _FOR_EVER_S)
    try:
        date = parsedate_tz(headers.get("retry-after", ""))
        return None if date is None else min(mktime_tz(date) - _now_s(), _FOR_EVER_S)
    except (ValueError, OverflowError):
        return _FOR_EVER_S


def within(seconds: float, work: Callable[[], T]) -> T:
    """Work in a thread of its own, and wait for it no longer than this; raises TimeoutError, and what work raises.

    A server that sends a byte now and then meets every time-out of a socket, and never ends.
    """
    done: Future[T] = Future()
    Thread(target=_work, args=(work, done), daemon=True).start()  # a daemon: Ctrl-C waits for no server
    if not wait((done,), timeout=seconds).done:
        raise TimeoutError
    return done.result()


def _work(work: Callable[[], T], done: Future[T]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:  # noqa: BLE001 - the waiting thread raises it
        done.set_exception(error)


def _now_s() -> float:
    return datetime.fromisoformat(SystemClock().now()).timestamp()
