"""Batches as the Messages API writes them: how far one is, and what became of each prompt in it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field, JsonValue, ValidationError

from events.model_errors import MalformedReplyError, ModelError, RequestRefusedError, ServerFaultError
from registry.evidence.scrub_text import compact
from strategies.models.http_errors import AGAIN, failure, safe_line, status_of
from strategies.models.prompts import Arrived
from strategies.models.replies import plain_name


class Batch(BaseModel):
    """A batch, and how far it is."""

    id: str
    processing_status: Literal["in_progress", "canceling", "ended"]


class _Succeeded(BaseModel):
    type: Literal["succeeded"]
    message: dict[str, JsonValue]


class _Problem(BaseModel):
    type: str = ""
    message: str = ""


class _Refused(BaseModel):
    error: _Problem = _Problem()
    request_id: str | None = None


class _Errored(BaseModel):
    type: Literal["errored"]
    error: _Refused


class _Unmade(BaseModel):
    type: Literal["canceled", "expired"]


class _Result(BaseModel):
    custom_id: str
    result: Annotated[_Succeeded | _Errored | _Unmade, Field(discriminator="type")]


def batch_of(body: bytes) -> Batch:
    """Read a batch; raises MalformedReplyError for what is none."""
    try:
        batch = Batch.model_validate_json(body)
    except ValidationError as error:
        raise MalformedReplyError("what came back is no batch of the Messages API", hint=AGAIN) from error
    if not plain_name(batch.id):
        raise MalformedReplyError(f"a batch is called {safe_line(batch.id)!r}, which is no name")
    return batch


def result_of(line: bytes, batch: str) -> tuple[str, Arrived | ModelError]:
    """Read one line of a batch's results, with the id of its prompt; "" where the line cannot be read."""
    try:
        read = _Result.model_validate_json(line)
    except ValidationError:
        return "", MalformedReplyError(f"a result of batch {batch} cannot be read")
    match read.result:
        case _Succeeded(message=message):
            return read.custom_id, Arrived(compact(message).encode(), batch=batch)
        case _Errored(error=refused):
            return read.custom_id, _error(refused, batch)
        case _Unmade(type=how):
            text = f"the prompt was {how} in batch {batch} before the model saw it; it cost nothing"
            return read.custom_id, ServerFaultError(text, hint=AGAIN)


def reason_of(body: bytes) -> str:
    """Read what the body of an error says."""
    try:
        return _Refused.model_validate_json(body).error.message
    except ValidationError:
        return body.decode(errors="replace")


def _error(refused: _Refused, batch: str) -> ModelError:
    number = plain_name(refused.request_id or "")
    error = failure(status_of(refused.error.type), refused.error.message, model=batch, request_id=number)
    return error if isinstance(error, ModelError) else RequestRefusedError(error.message, hint=error.hint)
