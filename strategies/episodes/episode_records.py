"""From episodes with text to records without it, and records to bytes and back.

The id of a record is the hash of what the episode was: its name, task, run and labels, how it ended, the hash of
its text, and of each step all but its template and its place. So a copy of a file, or the episode in another
file, counts once; and a scan of more files, which may sharpen a template, does not make an episode a new one.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from operator import attrgetter
from typing import TYPE_CHECKING, Final, Literal

import msgspec

from events.errors import CorruptLogError
from registry.evidence.redaction import named_secret, without_secrets
from strategies.episodes.action_class import LONG_FORM, in_short
from strategies.episodes.episode import Episode, EpisodeOutcome, EpisodeRecord
from strategies.episodes.text_hash import KEY_BYTES
from strategies.files.compression import compress, decompress

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from strategies.episodes.episode import Trust
    from strategies.episodes.step_records import StepDraft
    from strategies.files.log_records import Span

_NAME_LIMIT_CHARS: Final = 120
_LOOKED_AT_CHARS: Final = 16 * _NAME_LIMIT_CHARS
"""A secret that the cut divides must still be known as one."""

_WORDS_AT_ONCE: Final = 1024 * 1024

_TIME: Final = re.compile(r"\d[\dTtZz:.,+ -]{3,39}")
"""What a time looks like in any form that logs give it in; no word and no secret does."""
_ONLY_TIMES: Final = re.compile(r"(?:(?:\d[\dTtZz:.+ -]{3,39})?,)*")

_IDENTITY: Final = msgspec.json.Encoder(order="deterministic")
_OF_STEP: Final = attrgetter(
    *("turn", "kind", "actor", "action", "error", "writes", "same_call", "same_result"),
    *("started_at", "duration_ms", "marks", "same_target"),
)
_LONG_FORM: Final = f":{LONG_FORM}".encode()
_ENCODER: Final = msgspec.msgpack.Encoder(order="deterministic")
_DECODER: Final = msgspec.msgpack.Decoder(EpisodeRecord)
_EPISODE: Final = msgspec.msgpack.Decoder(Episode)
_SEVERAL: Final = msgspec.msgpack.Decoder(tuple[EpisodeRecord, ...])


class EpisodeHeader(msgspec.Struct, gc=False):
    """What tells a stored episode apart, and its task from others: a tenth of the time of reading all of it."""

    name: str
    format: str
    task: str
    prompt_key: str
    answer_key: str
    text_key: str = ""


_UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError)
_HEADER: Final = msgspec.msgpack.Decoder(EpisodeHeader)


def header_in(stored: bytes) -> EpisodeHeader:
    """Read what tells a stored episode apart; raises CorruptLogError on bytes that `encode` did not make."""
    try:
        return _HEADER.decode(stored)
    except _UNREADABLE as error:
        raise _damaged(error) from error


def _damaged(error: Exception) -> CorruptLogError:
    return CorruptLogError(f"a session that is kept is damaged: {error}", hint="germline verify")


class _StepTemplate(msgspec.Struct, array_like=True, gc=False):
    turn: int
    kind: str
    actor: str
    action: str
    template: str


class _StepTemplates(msgspec.Struct, gc=False):
    steps: list[_StepTemplate]


_TEMPLATES: Final = msgspec.msgpack.Decoder(_StepTemplates)


def templates_in(stored: bytes) -> list[str]:
    """Read the templates of a stored episode's steps; raises CorruptLogError as `header_in`."""
    try:
        return [step.template for step in _TEMPLATES.decode(stored).steps]
    except _UNREADABLE as error:
        raise _damaged(error) from error


def record_of(episode: Episode) -> EpisodeRecord:
    """Give the record of an episode; its templates are still the masked error texts (see `settled`)."""
    from strategies.episodes.step_marks import Marker  # noqa: PLC0415 - what is kept is read without it
    from strategies.episodes.step_records import draft_of  # noqa: PLC0415 - the same

    marker = Marker()
    drafts = [draft_of(step, marker) for step in episode.steps]
    for draft in drafts:
        draft.started_at = plain_time(draft.started_at)
    return completed(header_of(episode), drafts)


def header_of(episode: Episode) -> EpisodeRecord:
    """Give what a record says beside its steps; it has no id yet."""
    from strategies.episodes.answer_forms import final_answer, forms_of  # noqa: PLC0415 - see `record_of`

    won = episode.outcome is not None and episode.outcome.value == 1
    return EpisodeRecord(
        id="",
        name=plain(episode.id),
        source=episode.source,
        format=episode.format,
        task=task_key(episode),
        run=plain(episode.run),
        difficulty=plain(episode.difficulty),
        labels=plain_labels(episode.labels),
        prompt_key=prompt_key(episode.prompt),
        answer_key=_key("answer", _folded(episode.answer)) if won else "",
        started_at=plain_time(episode.started_at),
        outcome=episode.outcome,
        ended_by=episode.ended_by,
        skills=tuple((plain(name), plain(version)) for name, version in episode.skills),
        steps=(),
        answer_forms=forms_of(final_answer(episode)),
        usage=episode.usage,
    )


def completed(header: EpisodeRecord, drafts: Sequence[StepDraft]) -> EpisodeRecord:
    """Put the steps to what is known beside them, and give the whole its id."""
    from strategies.episodes.step_records import step_records, text_key  # noqa: PLC0415 - see `record_of`

    record = msgspec.structs.replace(
        header, steps=step_records(drafts), text_key=text_key(header.prompt_key, drafts)
    )
    return msgspec.structs.replace(record, id=content_hash(record))


def with_outcome(record: EpisodeRecord, outcome: EpisodeOutcome) -> EpisodeRecord:
    """Give the record with another outcome; its id stays, for the episode is the same."""
    return msgspec.structs.replace(record, outcome=outcome)


def with_skills(record: EpisodeRecord, skills: tuple[tuple[str, str], ...]) -> EpisodeRecord:
    """Give the record with versions that were worked out later; its id stays, for the episode is the same."""
    return msgspec.structs.replace(record, skills=skills)


def moved_to(record: EpisodeRecord, source: str) -> EpisodeRecord:
    """Give the record with the place where its log lies by now; its id stays, for the episode is the same."""
    return record if source == record.source else msgspec.structs.replace(record, source=source)


def read_from(record: EpisodeRecord, trust: Trust, owner: str) -> EpisodeRecord:
    """Give the record with whose word its log is; its id stays, for the episode is the same."""
    return msgspec.structs.replace(record, trust=trust, owner=owner)


def judged(record: EpisodeRecord, outcome: EpisodeOutcome) -> EpisodeRecord:
    """Give the record with an outcome that was read from its log as well: another id, for more is known."""
    record = msgspec.structs.replace(record, outcome=outcome)
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
        list(map(_OF_STEP, record.steps)),
    )
    return blake2b(_IDENTITY.encode(identity), digest_size=KEY_BYTES).hexdigest()


def encode(record: EpisodeRecord) -> bytes:
    """Give a record as bytes; equal records give equal bytes."""
    return _ENCODER.encode(record)


def decode(stored: bytes) -> EpisodeRecord:
    """Read a record back; raises CorruptLogError on bytes that `encode` did not make.

    Numbers beyond what a record may hold were stored once: they become the largest that it may. Classes that had
    two spellings then get the one they have now; the id stays.
    """
    try:
        record = _DECODER.decode(stored)
    except _UNREADABLE:
        try:
            record = msgspec.convert(_bounded(msgspec.msgpack.decode(stored)), EpisodeRecord)
        except _UNREADABLE as error:
            raise _damaged(error) from error
    if _LONG_FORM not in stored:
        return record
    steps = (msgspec.structs.replace(step, action=in_short(step.action)) for step in record.steps)
    return msgspec.structs.replace(record, steps=tuple(steps))


def _bounded(value: object) -> object:
    if isinstance(value, dict):
        return {name: _bounded(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [_bounded(inner) for inner in value]
    if isinstance(value, float):
        return min(max(value, -1e15), 1e15) if value == value else None  # noqa: PLR0124 - NaN alone is not itself
    return min(max(value, -1), 2**53 - 1) if isinstance(value, int) else value


def within_bounds(given: object) -> Episode | EpisodeRecord:
    """Give an episode as foreign code made it, once it is known that its types, numbers and references fit.

    Raises: ValueError, TypeError or OverflowError for any other value.
    """
    if isinstance(given, Episode):
        episode = _EPISODE.decode(_ENCODER.encode(given))
        if any(step.index != place for place, step in enumerate(episode.steps)):
            raise ValueError("the `index` of a step is not its place")
        return episode
    record = _DECODER.decode(_ENCODER.encode(given)) if isinstance(given, EpisodeRecord) else None
    if record is None:
        raise TypeError(f"no episode: {type(given).__name__}")
    if any(max(step.same_call, step.same_result, step.same_target) >= len(record.steps) for step in record.steps):
        raise ValueError("a step refers to one that is not there")
    return msgspec.structs.replace(record, id=content_hash(record))


def packed(records: Sequence[EpisodeRecord]) -> bytes:
    """Give many records as bytes to send to another process: a fifth of what each by itself would come to."""
    return compress(_ENCODER.encode(records))


def unpacked(sent: bytes) -> tuple[EpisodeRecord, ...]:
    """Read back what `packed` made."""
    return _SEVERAL.decode(decompress(sent))


def task_key(episode: Episode) -> str:
    """Give the key of an episode's task: its data set and task, else its first prompt, never its file."""
    if episode.task:
        return named_task(episode.dataset, episode.task)
    return unnamed_task(prompt_key(episode.prompt), episode.run, episode.id)


def named_task(dataset: str, task: str) -> str:
    """Give the key of a task that a data set names."""
    return _key("task", f"{dataset}\x1f{task}")


def unnamed_task(prompt: str, run: str, name: str) -> str:
    """Give the key of a task that the log does not name: that of its prompt, else the episode's own."""
    return prompt or _key("name", f"{run}\x1f{name}")


def prompt_key(prompt: str) -> str:
    """Give the key of a prompt, the same for the same words; "" for none."""
    return _key("prompt", _folded(prompt))


def _key(kind: str, text: str) -> str:
    if not text:
        return ""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=KEY_BYTES, person=kind.encode()).hexdigest()


def _folded(prompt: str) -> str:
    """Give the words of a prompt in one case; some at a time, for as objects they take twenty times the room."""
    parts, rest = list[str](), prompt.casefold()
    while rest:
        words = rest.split(maxsplit=_WORDS_AT_ONCE)
        rest = words.pop() if len(words) > _WORDS_AT_ONCE else ""
        parts.append(" ".join(words))
    return " ".join(parts)


def place_key(record: EpisodeRecord, span: Span) -> str:
    """Name a record of a log by a hash, the same in a longer reading of its episode and in a file that rotated."""
    place = f"{record.format}\x1f{record.name}\x1f{span.byte_start}\x1f{span.byte_end}\x1f{span.line}"
    return _key("place", place)


def plain(text: str) -> str:
    """Give a name from a log as one short printable line without secrets: names reach screens and claims."""
    shown = without_secrets(text[:_LOOKED_AT_CHARS])
    if not shown.isprintable():
        shown = "".join(char if char.isprintable() else " " for char in shown)
    return shown[:_NAME_LIMIT_CHARS].strip()


def plain_time(text: str | None) -> str | None:
    """Give a time as a log writes it, None for a text that is none: times are kept as written."""
    return text if text and _TIME.fullmatch(text) else None


def keep_times(drafts: Sequence[StepDraft]) -> None:
    """Drop texts in the place of a time that are none; one search over all of them, since few ever are."""
    if not _ONLY_TIMES.fullmatch("".join([f"{draft.started_at or ''}," for draft in drafts])):
        for draft in drafts:
            draft.started_at = plain_time(draft.started_at)


def plain_labels(labels: Mapping[str, str]) -> dict[str, str]:
    """Give labels as plain names and values, sorted; the value of one that is called a secret is none of ours."""
    return {
        plain(name): "[assigned-secret]" if value and named_secret(name) else plain(value)
        for name, value in sorted(labels.items())
    }


def ended(record: EpisodeRecord, value: float) -> EpisodeRecord:
    """Give the record with this outcome; it keeps its id, and is never stored."""
    return msgspec.structs.replace(record, outcome=EpisodeOutcome(value, "tests"))


def ended_like(record: EpisodeRecord, other: EpisodeRecord) -> EpisodeRecord:
    """Give the record with the outcome of another; it keeps its id, and is never stored."""
    return msgspec.structs.replace(record, outcome=other.outcome)


def relabelled(
    record: EpisodeRecord, field: Literal["action", "template"], labels: Sequence[str | None]
) -> EpisodeRecord:
    """Give the record with a label for each step, None for its own; it keeps its id, and is never stored."""
    steps = (
        step if label is None else msgspec.structs.replace(step, **{field: label})
        for step, label in zip(record.steps, labels, strict=True)
    )
    return msgspec.structs.replace(record, steps=tuple(steps))
