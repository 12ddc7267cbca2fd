"""What models were asked: found by its prompt, and by the evidence that a prompt quotes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.errors import CorruptLogError
from events.model_events import ModelAsked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from events.envelope import Envelope
    from registry.library import Library

_LEAST_CHARS: Final = 24
"""A shorter text is no quote: it may stand in any prompt by chance (a guess)."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A prompt that went out, with where and when; `cycle` is the correlation id of the turn it belongs to."""

    position: int
    at: str
    cycle: str
    event: ModelAsked


def asked_with(library: Library, prompt_hash: str) -> list[Asked]:
    """List what became of a prompt, oldest first: the same one may have been asked more than once."""
    found = library.log.documents("asked", prompt_hash)
    return [_asked(envelope) for envelope in library.log.at([document.seq for document in found])]


def every_asked(library: Library) -> Iterator[Asked]:
    """Yield every prompt that went out, oldest first."""
    return (_asked(envelope) for envelope in library.log.read(types=("ModelAsked",)))


def blobs_quoting(library: Library, evidence: Collection[str], texts: Iterable[str]) -> list[str]:
    """Name the prompts that quote evidence, by its id or word for word, and the replies to them."""
    quotes = [json.dumps(text, ensure_ascii=False)[1:-1].encode() for text in texts if len(text) >= _LEAST_CHARS]
    found: dict[str, None] = {}
    for asked in every_asked(library):
        blobs = [name for name in (asked.event.prompt_hash, asked.event.reply) if name]
        bodies = (library.log.get_blob(name) or b"" for name in blobs) if quotes else ()
        if not set(evidence).isdisjoint(asked.event.evidence) or any(
            quote in body for body in bodies for quote in quotes
        ):
            found |= dict.fromkeys(blobs)
    return list(found)


def _asked(envelope: Envelope) -> Asked:
    event = envelope.event
    if not isinstance(event, ModelAsked):
        raise CorruptLogError(f"event {envelope.position} asks no model", position=envelope.position)
    return Asked(envelope.position, envelope.at, envelope.correlation, event)
