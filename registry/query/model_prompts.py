"""What models were asked: found by its prompt, and by the evidence that a prompt, or what followed it, quotes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from events.errors import CorruptLogError
from events.store.contents import UNKNOWN
from events.types.model_events import ModelAsked

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from events.store.envelope import Envelope
    from registry.query.library import Library

_QUOTING: Final = frozenset({"prompt", "reply", "transcript", "run", "audit", UNKNOWN})
"""Kinds of blobs that may quote a log, beside evidence itself."""
_LEAST_CHARS: Final = 24
"""A shorter text is no quote: it may stand in any prompt by chance (a guess)."""

_WINDOW_CHARS: Final = 160
"""How much of either end of a long text is looked for: a quotation may leave out its middle (a guess)."""

_BETWEEN: Final = re.compile(rb'(?:\\+(?:["/bfnrt]|u[0-9a-fA-F]{4})?|["\x00-\x20\x7f-\xff])+')
"""What JSON writes otherwise than a text has it, once or several times over: all of it counts as one space."""


@dataclass(frozen=True, slots=True)
class ModelPrompt:
    """A prompt that went out, with where and when; `cycle` is the correlation id of the turn it belongs to."""

    position: int
    at: str
    cycle: str
    event: ModelAsked


def asked_with(library: Library, prompt_hash: str) -> list[ModelPrompt]:
    """List what became of a prompt, oldest first: the same one may have been asked more than once."""
    documents = library.log.documents("asked", prompt_hash)
    return [_asked(envelope) for envelope in library.log.at([document.seq for document in documents])]


def every_asked(library: Library) -> Iterator[ModelPrompt]:
    """Yield every prompt that went out, oldest first."""
    return (_asked(envelope) for envelope in library.log.read(types=("ModelAsked",)))


def may_quote(library: Library) -> list[str]:
    """Name the blobs that may quote a log, evidence itself left out."""
    evidence = {name for raised in library.signals() for name in raised.event.evidence}
    kinds = library.log.blob_kinds().items()
    return [name for name, kind in kinds if kind in _QUOTING and name not in evidence]


def blobs_quoting(library: Library, evidence: Collection[str], texts: Iterable[str]) -> list[str]:
    """Name what quotes evidence, by its id or in its words: prompts, replies, transcripts, finished runs.

    A prompt takes its replies with it, and a reply its prompt.
    """
    quotes, pairs = Quotes(texts), list[tuple[str, str]]()
    named, quoting = set(evidence), dict[str, None]()
    for asked in every_asked(library):
        pair = asked.event.prompt_hash, asked.event.reply
        pairs.append(pair)
        if not named.isdisjoint(asked.event.evidence):
            quoting |= dict.fromkeys(pair)
    for name in may_quote(library) if quotes else ():
        if quotes.stand_in(library.log.get_blob(name) or b""):
            quoting[name] = None
    for pair in pairs:
        if not quoting.keys().isdisjoint(filter(None, pair)):
            quoting |= dict.fromkeys(pair)
    return [name for name in quoting if name]


def _asked(envelope: Envelope) -> ModelPrompt:
    event = envelope.event
    if not isinstance(event, ModelAsked):
        raise CorruptLogError(f"event {envelope.position} asks no model", position=envelope.position)
    return ModelPrompt(envelope.position, envelope.at, envelope.correlation, event)


class Quotes:
    """The texts that are looked for; a text of a few characters is never found."""

    def __init__(self, texts: Iterable[str]) -> None:
        folded = (_folded(text.encode(errors="replace")) for text in texts)
        self._windows = tuple(dict.fromkeys(window for text in folded for window in _windows(text)))

    def __bool__(self) -> bool:
        """Tell whether anything can be found."""
        return bool(self._windows)

    def stand_in(self, body: bytes) -> bool:
        """Tell whether a body holds one of the texts, whole or with its beginning or its end."""
        folded = _folded(body) if self._windows else b""
        return any(window in folded for window in self._windows)


def _windows(folded: bytes) -> Iterator[bytes]:
    if len(folded) >= _LEAST_CHARS:
        yield folded[:_WINDOW_CHARS].strip()
        yield folded[-_WINDOW_CHARS:].strip()


def _folded(raw: bytes) -> bytes:
    return _BETWEEN.sub(b" ", raw).strip()
