"""What a server's no means: each as an error of its own, with what to do next."""

from __future__ import annotations

from math import ceil
from typing import Final

from events.errors import CredentialsError, UpstreamError
from events.model_errors import (
    ModelError,
    OverloadedError,
    RateLimitedError,
    RequestRefusedError,
    ServerFaultError,
)
from registry.redaction import without_secrets

KEY: Final = "ANTHROPIC_API_KEY"
"""The variable that holds the key, the only place it is taken from."""
SET_KEY: Final = f"export {KEY}=…    germline doctor"
"""What sets a key, and what tells whether it is set."""
LOOK: Final = "germline log --type ModelAsked"
"""What shows what was asked, and what it cost."""
AGAIN: Final = "the same command, in a while; what was paid for is kept"
"""What to do where it was nobody's fault."""
_MOST_CHARS: Final = 300
_MOST_READ_CHARS: Final = 10_000
"""How much of what a server says is passed on, and looked at (guesses)."""

_OVERLOADED: Final = 529
_FAULT: Final = 500
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


def told(text: str) -> str:
    """Write what a server says as one line that shows as it is, without secrets."""
    line = "".join(char if char.isprintable() else " " for char in text[:_MOST_READ_CHARS])
    return without_secrets(" ".join(line.split()))[:_MOST_CHARS]  # cut last: half a secret looks like none


def status_of(error_type: str) -> int:
    """Give the status that goes with a type of error; one that nobody knows is the server's fault."""
    return _STATUS.get(error_type, _FAULT)


def no_key(model: str, *, said: bool) -> CredentialsError:
    """Say that there is no key, or that what is `said` to be one is none, and so nothing was sent."""
    what = "holds what no key is made of" if said else "is not set"
    return CredentialsError(f"{KEY} {what}, and {model} is asked only with a key", hint=SET_KEY)


def failure(
    status: int, said: str, *, model: str, request_id: str = "", retry_after_s: float | None = None
) -> UpstreamError:
    """Make an error of a status and of what the server says.

    `retry_after_s` is when it says that it would answer, None where it does not.
    """
    why = f"{told(said) or 'no reason given'} ({_numbered(status, request_id)})"
    match status:
        case 401:
            return CredentialsError(f"the key in {KEY} was refused: {why}", hint=SET_KEY)
        case 403:
            return CredentialsError(f"the key in {KEY} may not ask {model}: {why}", hint=SET_KEY)
        case 429:
            return _rate_limited(why, model, request_id, retry_after_s)
    kind, text, hint = _named(status, model)
    return kind(f"{text}: {why}", model=model, request_id=request_id, hint=hint)


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
