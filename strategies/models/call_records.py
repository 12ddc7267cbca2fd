"""Records: each prompt and each reply kept under its hash, with an event that tells what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from events.errors import CredentialsError
from events.model_errors import ModelError
from events.types.model_events import ModelAsked, ModelBatchSent
from registry.decide.commands import RecordFact
from registry.query.model_prompts import asked_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from events.errors import UpstreamError
    from events.types.model_events import ModelOutcome
    from registry.query.model_prompts import ModelPrompt
    from registry.registry import Registry
    from strategies.models.budget import CallEstimate
    from strategies.models.prices import PriceList
    from strategies.models.prompts import Arrived, Prompt
    from strategies.models.protocol import Request
    from strategies.models.replies import ReadReply

_OUTCOMES: Final[dict[str, ModelOutcome]] = {
    "refusal": "refusal",
    "max_tokens": "max_tokens",
    "malformed": "malformed",
}
"""Errors that are a reply all the same, and how they are reported."""


def keep(registry: Registry, prompt: Prompt, event: ModelAsked, reply: bytes | None, *, cycle: str) -> str:
    """Keep a prompt, what came back, and the event that tells of both; all of it or nothing.

    Returns the name of the reply's blob, "" where nothing came back.
    """
    with registry.log.transaction():
        registry.log.put_blob(prompt.kept, kind="prompt")
        name = "" if reply is None else registry.log.put_blob(reply, kind="reply")
        registry.execute(RecordFact((event.model_copy(update={"reply": name}),)), correlation=cycle)
    return name


def keep_batch(
    registry: Registry, prompts: Sequence[Prompt], batch: str, most: CallEstimate, *, cycle: str
) -> None:
    """Keep the prompts of a batch and the event that tells of it, so that the next command goes on with it."""
    event = ModelBatchSent(
        role=prompts[0].role,
        model=prompts[0].model,
        batch=batch,
        prompts=tuple(prompt.hash for prompt in prompts),
        most_tokens=most.tokens,
        most_usd=most.usd,
    )
    with registry.log.transaction():
        for prompt in prompts:
            registry.log.put_blob(prompt.kept, kind="prompt")
        registry.execute(RecordFact((event,)), correlation=cycle)


def kept_reply(registry: Registry, prompt: Prompt) -> tuple[ModelPrompt, bytes] | None:
    """Find the last reply of use that is kept for this very prompt; None where none is, or it was erased."""
    for asked in reversed(asked_with(registry, prompt.hash)):
        body = registry.log.get_blob(asked.event.reply) if asked.event.outcome == "ok" else None
        if body is not None:
            return asked, body
    return None


def answered(
    request: Request[Any], prompt: Prompt, arrived: Arrived, read: ReadReply[Any], prices: PriceList
) -> ModelAsked:
    """Write down what came back, of use or not, and what it cost."""
    error, usage, batch = read.answer, read.usage, bool(arrived.batch)
    most = prices.most_usd(prompt, batch=batch)
    return ModelAsked(
        role=request.role,
        model=prompt.model,
        prompt_hash=prompt.hash,
        outcome=_OUTCOMES.get(error.kind, "error") if isinstance(error, ModelError) else "ok",
        error=error.kind if isinstance(error, ModelError) else "",
        usage=usage,
        cost_usd=prices.cost_usd(prompt.model, usage, batch=batch) if usage else most,
        most_tokens=0 if usage else prompt.most_tokens,
        request_id=arrived.request_id,
        served_by=read.served_by if read.served_by != prompt.model else "",
        batch=arrived.batch,
        replayed=arrived.replayed,
        evidence=request.evidence,
    )


def unanswered(
    request: Request[Any], prompt: Prompt, error: UpstreamError | None, prices: PriceList, *, batch: str = ""
) -> ModelAsked:
    """Write down that nothing came back; without an error, because somebody did not wait for it.

    What was refused cost nothing; what was lost cost what was sent, each time: a reply that never came is not
    counted as one of full length. A batch is worked on to its end, so there it may have come to that.
    """
    lost = error.unsettled if isinstance(error, ModelError) else int(error is None)
    sent_usd = prices.most_usd(prompt, batch=True) if batch else prices.sent_usd(prompt)
    return ModelAsked(
        role=request.role,
        model=prompt.model,
        prompt_hash=prompt.hash,
        outcome="lost" if lost else "error",
        error=_word(error),
        cost_usd=sent_usd and sent_usd * lost if lost else 0.0,
        most_tokens=(prompt.most_tokens if batch else prompt.likely_input) * lost,
        request_id=error.request_id if isinstance(error, ModelError) else "",
        batch=batch,
        evidence=request.evidence,
    )


def _word(error: UpstreamError | None) -> str:
    if error is None:
        return "interrupted"
    if isinstance(error, CredentialsError):
        return "credentials"
    return error.kind if isinstance(error, ModelError) else "failed"
