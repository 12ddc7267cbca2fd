"""What models were asked: found by its prompt, and by the evidence that a prompt, or what followed it, quotes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.contents import UNKNOWN
from events.errors import CorruptLogError
from events.model_events import ModelAsked
from registry.quoting import Quotes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from events.envelope import Envelope
    from registry.library import Library

_QUOTING: Final = frozenset({"prompt", "reply", "transcript", "run", UNKNOWN})
"""Kinds of blobs that may hold what stands in a log, beside evidence itself."""


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


def may_quote(library: Library) -> list[str]:
    """Name the blobs that may hold what stands in a log, evidence itself left out."""
    evidence = {name for raised in library.signals() for name in raised.event.evidence}
    kinds = library.log.blob_kinds().items()
    return [name for name, kind in kinds if kind in _QUOTING and name not in evidence]


def blobs_quoting(library: Library, evidence: Collection[str], texts: Iterable[str]) -> list[str]:
    """Name what quotes evidence, by its id or in its words: prompts, replies, transcripts, finished runs.

    A prompt takes its replies with it, and a reply its prompt.
    """
    quotes, pairs = Quotes(texts), list[tuple[str, str]]()
    named, found = set(evidence), dict[str, None]()
    for asked in every_asked(library):
        pair = asked.event.prompt_hash, asked.event.reply
        pairs.append(pair)
        if not named.isdisjoint(asked.event.evidence):
            found |= dict.fromkeys(pair)
    for name in may_quote(library) if quotes else ():
        if quotes.stand_in(library.log.get_blob(name) or b""):
            found[name] = None
    for pair in pairs:
        if not found.keys().isdisjoint(filter(None, pair)):
            found |= dict.fromkeys(pair)
    return [name for name in found if name]


def _asked(envelope: Envelope) -> Asked:
    event = envelope.event
    if not isinstance(event, ModelAsked):
        raise CorruptLogError(f"event {envelope.position} asks no model", position=envelope.position)
    return Asked(envelope.position, envelope.at, envelope.correlation, event)
