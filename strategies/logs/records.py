"""From episodes with text to records without it, and records to bytes and back.

The id of a record is the hash of what the episode was: its name, task, run and labels, how it ended, the hash of
its text, and of each step all but its template and its place. So a copy of a file, or the episode in another
file, counts once; and a scan of more files, which may sharpen a template, does not make an episode a new one.
"""

from __future__ import annotations

import sys
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

import msgspec

from strategies.logs.episode import EpisodeRecord, StepRecord
from strategies.signals.fingerprint import normalised

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from strategies.logs.episode import Episode, Step

_KEY_BYTES: Final = 16
"""128 bits: no two of 10^12 keys meet by chance."""

_NAME_LIMIT_CHARS: Final = 120

_IDENTITY: Final = msgspec.json.Encoder(order="deterministic")
_ENCODER: Final = msgspec.msgpack.Encoder(order="deterministic")
_DECODER: Final = msgspec.msgpack.Decoder(EpisodeRecord)


def record_of(episode: Episode) -> EpisodeRecord:
    """Give the record of an episode; its templates are still the masked error texts (see `settled`)."""
    won = episode.outcome is not None and episode.outcome.value == 1
    record = EpisodeRecord(
        id="",
        name=_plain(episode.id),
        source=episode.source,
        format=episode.format,
        task=task_key(episode),
        run=_plain(episode.run),
        difficulty=_plain(episode.difficulty),
        labels={_plain(name): _plain(value) for name, value in sorted(episode.labels.items())},
        prompt_key=_key("prompt", _folded(episode.prompt)),
        answer_key=_key("answer", _folded(episode.answer)) if won else "",
        started_at=episode.started_at,
        outcome=episode.outcome,
        ended_by=episode.ended_by,
        skills=episode.skills,
        steps=_step_records(episode.steps),
        text_key=_key("text", "\x1f".join(_texts(episode))),
    )
    return msgspec.structs.replace(record, id=content_hash(record))


def settled(record: EpisodeRecord, templates: Mapping[str, str]) -> EpisodeRecord:
    """Give the record with its masked error texts replaced by their templates."""
    if all(templates.get(step.template, "") == step.template for step in record.steps):
        return record
    steps = tuple(
        msgspec.structs.replace(step, template=templates[step.template]) if step.template else step
        for step in record.steps
    )
    return msgspec.structs.replace(record, steps=steps)


def content_hash(record: EpisodeRecord) -> str:
    """Give the id of a record: the hash of what the episode was, wherever it was read."""
    steps = [
        (
            step.turn,
            step.kind,
            step.actor,
            step.action,
            step.error,
            step.writes,
            step.same_call,
            step.same_result,
            step.started_at,
            step.duration_ms,
        )
        for step in record.steps
    ]
    identity = (
        record.name,
        record.task,
        record.run,
        record.difficulty,
        record.labels,
        record.prompt_key,
        record.answer_key,
        record.started_at,
        record.outcome,
        record.ended_by,
        record.skills,
        record.text_key,
        steps,
    )
    return blake2b(_IDENTITY.encode(identity), digest_size=_KEY_BYTES).hexdigest()


def encode(record: EpisodeRecord) -> bytes:
    """Give a record as bytes; equal records give equal bytes."""
    return _ENCODER.encode(record)


def decode(stored: bytes) -> EpisodeRecord:
    """Read a record back; raises msgspec.DecodeError on bytes that `encode` did not make."""
    return _DECODER.decode(stored)


def task_key(episode: Episode) -> str:
    """Give the key of an episode's task: its data set and task, else its first prompt, never its file."""
    if episode.task:
        return _key("task", f"{episode.dataset}\x1f{episode.task}")
    return _key("prompt", _folded(episode.prompt)) or _key("name", f"{episode.run}\x1f{episode.id}")


def _step_records(steps: tuple[Step, ...]) -> tuple[StepRecord, ...]:
    first: dict[tuple[str, ...], int] = {}
    return tuple(_step_record(step, first) for step in steps)


def _step_record(step: Step, first: dict[tuple[str, ...], int]) -> StepRecord:
    same_call = same_result = step.index
    if step.kind == "call":
        call = (step.tool, step.text)
        same_call = first.setdefault(call, step.index)
        same_result = first.setdefault((*call, step.result or step.error_text), step.index)
    return StepRecord(
        turn=step.turn,
        kind=step.kind,
        actor=step.actor,
        action=sys.intern(step.action),
        template=normalised(step.error_text, step.error_type) if step.error or step.error_type else "",
        error=step.error,
        writes=step.writes,
        same_call=same_call,
        same_result=same_result,
        started_at=step.started_at,
        duration_ms=step.duration_ms,
        span=step.error_span or step.span,
    )


def _texts(episode: Episode) -> Iterator[str]:
    yield episode.prompt
    for step in episode.steps:
        yield step.text
        yield step.result or step.error_text


def _key(kind: str, text: str) -> str:
    if not text:
        return ""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES, person=kind.encode()).hexdigest()


def _folded(prompt: str) -> str:
    return " ".join(prompt.casefold().split())


def _plain(text: str) -> str:
    """Give a name from a log as one short printable line: names reach screens and claims."""
    return "".join(char if char.isprintable() else " " for char in text)[:_NAME_LIMIT_CHARS].strip()
