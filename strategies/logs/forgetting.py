"""Forgetting: what readers remember of a log, without the texts that a person had erased."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.logs.checkpoint import Checkpoint
from strategies.logs.following import LINES
from strategies.logs.keys import bytes_key
from strategies.logs.reduction import StepDraft

if TYPE_CHECKING:
    from collections.abc import Mapping

    from strategies.logs.episode import Span

_DECODER: Final = msgspec.msgpack.Decoder(Checkpoint)


def without_texts(checkpoint: bytes, templates: Mapping[Span, str]) -> bytes:
    """Give a checkpoint in whose state nothing is left of the texts that stand at these places.

    A step there keeps the template that is given instead of its masked text, and keys of its place instead of
    those of its texts: a reading that goes on from there finds the same steps.
    """
    one = _DECODER.decode(checkpoint)
    if one.state in {b"", LINES}:
        return checkpoint
    state = _without_texts(msgspec.msgpack.decode(one.state), templates)
    return msgspec.msgpack.encode(msgspec.structs.replace(one, state=msgspec.msgpack.encode(state)))


def _without_texts(state: object, templates: Mapping[Span, str]) -> object:
    """Walk the state of whichever reader: all of them keep their steps as drafts."""
    if isinstance(state, dict):
        return {key: _without_texts(value, templates) for key, value in state.items()}
    if not isinstance(state, list):
        return state
    try:
        draft = msgspec.convert(state, StepDraft)
    except msgspec.ValidationError:
        return [_without_texts(value, templates) for value in state]
    if draft.span in templates:
        draft.template = templates[draft.span]
        draft.text_key, draft.result_key = (bytes_key(f"{of} at {draft.span}") for of in ("text", "result"))
    return draft
