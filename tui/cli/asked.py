"""Prompts that went out to a model, as JSON for scripts and in words for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tui.figures import count

if TYPE_CHECKING:
    from registry.asked import Asked

_HASH_CHARS: Final = 12


def asked_json(asked: Asked) -> dict[str, Any]:
    """Give a prompt with its reply and what it cost."""
    event = asked.event
    return {
        "name": event.model,
        "role": event.role,
        "prompt": event.prompt_hash,
        "reply": event.reply,
        "usage": event.usage.model_dump(mode="json") if event.usage else None,
        "tokens": event.usage.total if event.usage else event.most_tokens,
        "cost_usd": event.cost_usd,
        "replayed": event.replayed,
        "at": asked.at,
        "event": asked.position,
    }


def asked_words(asked: Asked) -> str:
    """Name the model and the prompt, and say what it cost."""
    event = asked.event
    tokens = event.usage.total if event.usage else event.most_tokens
    cost = "price unknown" if event.cost_usd is None else f"{event.cost_usd:.4f} USD"
    replayed = ", replayed" if event.replayed else ""
    return (
        f"{event.model}, prompt {event.prompt_hash[:_HASH_CHARS]}, {count(tokens, 'token')}, {cost}{replayed}, "
        f"event {asked.position}"
    )
