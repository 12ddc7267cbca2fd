"""One sample of an Inspect log as an episode: its messages as steps, its first score as the outcome."""

from __future__ import annotations

import io
import zipfile
from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.conversation import Conversation
from strategies.episodes.episode import SUBMIT, EndedBy, Episode, EpisodeOutcome
from strategies.episodes.episode_records import plain
from strategies.episodes.error_fingerprint import looks_failed
from strategies.episodes.skill_use import ran_under, skills_used
from strategies.episodes.usage import Amount, Usage, tokens, total, usage_of
from strategies.files.json_offsets import JsonDocument, JsonPart
from strategies.files.log_records import UNREADABLE, NotObject, Span, count_unknown
from strategies.files.zip_members import HEADER_BYTES, begins_after

if TYPE_CHECKING:
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally

INSPECT: Final = "inspect"

FIELDS: Final = {
    **dict.fromkeys(("id", "epoch", "messages", "scores", "error", "limit", "started_at"), True),
    **dict.fromkeys(("model_usage", "total_time"), True),
    "events": {"__all__": {"event", "id", "timestamp", "completed"}},
}
"""What of a sample is read, as pydantic takes it."""

_GRADES: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Inspect's grades: correct, partly correct, incorrect, no answer (its value_to_float)."""


class _Dataset(msgspec.Struct):
    name: str | None = None


class InspectHeader(msgspec.Struct):
    """What all samples of a log share."""

    task: str = ""
    model: str = ""
    dataset: _Dataset = msgspec.field(default_factory=_Dataset)


class _Content(msgspec.Struct):
    type: str = "text"
    text: str | None = None


class _ToolCall(msgspec.Struct):
    id: str
    function: str
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class _Error(msgspec.Struct):
    type: str = ""
    message: str = ""


class _Message(msgspec.Struct):
    role: str
    content: str | list[_Content] = ""
    tool_calls: list[_ToolCall] | None = None
    tool_call_id: str | None = None
    error: _Error | None = None

    @property
    def text(self) -> str:
        if isinstance(self.content, str):
            return self.content
        return "\n".join(part.text for part in self.content if part.type == "text" and part.text)


class _Score(msgspec.Struct):
    value: str | bool | float | list[msgspec.Raw] | dict[str, msgspec.Raw] | None = None


class _Limit(msgspec.Struct):
    type: str = ""


class _Event(msgspec.Struct):
    event: str = ""
    id: str | None = None
    timestamp: str | None = None
    completed: str | None = None


class _ModelUsage(msgspec.Struct):
    """Tokens of one model: whether those of a cache are among the input depends on who serves it."""

    input_tokens: Amount = None
    output_tokens: Amount = None
    total_tokens: Amount = None
    input_tokens_cache_read: Amount = None
    total_cost: Amount = None


class InspectSample(msgspec.Struct):
    """One task in one epoch."""

    id: str | int
    epoch: int = 1
    messages: list[_Message] = []
    scores: dict[str, _Score] | None = None
    error: _Error | None = None
    limit: _Limit | None = None
    started_at: str | None = None
    events: list[_Event] = []
    model_usage: dict[str, _ModelUsage | NotObject] | NotObject = None
    total_time: Amount = None


HEADER: Final = msgspec.json.Decoder(InspectHeader)
SAMPLE: Final = msgspec.json.Decoder(InspectSample)


def episode_of(
    sample: InspectSample, header: InspectHeader, places: InspectSamplePlaces, source: str, tally: ReadTally
) -> Episode:
    """Give the episode of a sample."""
    steps = _SampleSteps(sample, places)
    for number, message in enumerate(sample.messages):
        steps.learn(message, number, tally)
    steps.end(len(sample.messages))
    return Episode(
        id=f"{sample.id}/{sample.epoch}",
        source=source,
        format=INSPECT,
        dataset=header.dataset.name or header.task,
        task=str(sample.id),
        run=header.model,
        labels={"trial": str(sample.epoch)},
        prompt=steps.conversation.prompt,
        started_at=sample.started_at,
        outcome=_outcome(sample, tally),
        ended_by=steps.ended_by,
        skills=ran_under((), skills_used(steps.conversation.steps)),
        steps=tuple(steps.conversation.steps),
        usage=_usage_of(sample),
    )


def _usage_of(sample: InspectSample) -> Usage | None:
    by_model = sample.model_usage if isinstance(sample.model_usage, dict) else {}
    parts = []
    for model, used in by_model.items():
        if isinstance(used, _ModelUsage):
            read, wrote, every = (
                tokens(each) for each in (used.input_tokens, used.output_tokens, used.total_tokens)
            )
            read = max(read or 0, every - (wrote or 0)) if every else read
            parts.append(
                usage_of(read, wrote, used.input_tokens_cache_read, cost=used.total_cost, model=plain(model))
            )
    time_s = sample.total_time
    lasted = time_s * 1000 if isinstance(time_s, (int, float)) else None
    return total([*parts, usage_of(duration_ms=lasted)])


class _SampleSteps:
    """The steps of a sample while its messages come."""

    def __init__(self, sample: InspectSample, places: InspectSamplePlaces) -> None:
        self.conversation = Conversation()
        self.ended_by: EndedBy = "unknown"
        self._sample = sample
        self._places = places
        self._times = {
            event.id: (event.timestamp, event.completed)
            for event in sample.events
            if event.event == "tool" and event.id
        }

    def learn(self, message: _Message, number: int, tally: ReadTally) -> None:
        place = self._places.message(number)
        if message.role == "user":
            self.conversation.say("user", message.text, place)
            self.ended_by = "unknown"
        elif message.role == "assistant":
            if message.text.strip():
                self.conversation.say("agent", message.text, place, group=str(number))
            for call in message.tool_calls or ():
                started, _ = self._times.get(call.id, (None, None))
                argument = bytes(call.arguments).decode(errors="replace")
                self.conversation.call(call.id, call.function, argument, place, group=str(number), at=started)
            submits = any(call.function == SUBMIT for call in message.tool_calls or ())
            self.ended_by = "agent" if submits or not message.tool_calls else "unknown"
        elif message.role == "tool":
            self._learn_result(message, number, tally)
        elif message.role != "system":
            count_unknown(tally, f"role {message.role}")

    def _learn_result(self, message: _Message, number: int, tally: ReadTally) -> None:
        """Learn a result; Inspect tells typed errors apart from what the tool itself wrote."""
        error = message.error
        _, completed = self._times.get(message.tool_call_id or "", (None, None))
        call_id, place = message.tool_call_id or "", self._places.message(number)
        text = message.text or (error.message if error else "")
        failed = looks_failed(text) if error is None else True
        kind = error.type if error else ""
        text = f"{kind}: {text}" if kind not in {"", "unknown"} else text
        if not self.conversation.answer(call_id, text, place, failed=failed, at=completed):
            count_unknown(tally, "result without a call")

    def end(self, number: int) -> None:
        """Learn what ended the sample: a limit, or an error of the harness or the model."""
        if self._sample.limit:
            self.ended_by = "limit"
        elif self._sample.error:
            place, error_text = self._places.message(number), self._sample.error.message
            self.conversation.mark("sample_error", "environment", place, failed=True, error_text=error_text)
            self.ended_by = "environment"


def _outcome(sample: InspectSample, tally: ReadTally) -> EpisodeOutcome | None:
    """Give the first scorer's score as a number from 0 to 1."""
    score = next(iter((sample.scores or {}).values()), None)
    if score is None:
        return None
    value = _GRADES.get(score.value) if isinstance(score.value, str) else score.value
    if isinstance(value, (bool, int, float)) and 0 <= value <= 1:
        return EpisodeOutcome(float(value), "reward")
    count_unknown(tally, "outcome outside 0 to 1")
    return None


class _Key(msgspec.Struct):
    id: str | int
    epoch: int = 1


_KEY: Final = msgspec.json.Decoder(_Key)


class InspectSamplePlaces:
    """The place of one sample, and of each of its messages where they have one."""

    def __init__(self, whole: Span, messages: list[Span], *, packed: bool = False) -> None:
        self._whole = whole
        self._messages = messages
        self._packed = packed

    def message(self, number: int) -> Span:
        """Give the place of a message, counted from 0; that of the sample where it has none of its own.

        In a packed sample, where there is no line to tell, the message is counted in its stead, from 1.
        """
        if self._packed:
            return Span(self._whole.byte_start, self._whole.byte_end, number + 1)
        return self._messages[number] if number < len(self._messages) else self._whole


class InspectSampleOffsets:
    """The places of all samples of a log."""

    def __init__(self, log: LogFile) -> None:
        self._body = log.whole()
        self._archive = zipfile.is_zipfile(io.BytesIO(self._body))
        self._samples = _members(self._body) if self._archive else {}
        self._document = JsonDocument(b"{}" if self._archive else self._body)
        self._parts = {} if self._archive else _parts(self._document)

    def of(self, sample: str | int, epoch: int) -> InspectSamplePlaces:
        """Give the places of a sample; those of the whole file where the sample is not found in it."""
        everything = Span(0, len(self._body), 1)
        if self._archive:
            member = self._samples.get(f"samples/{sample}_epoch_{epoch}.json", everything)
            return InspectSamplePlaces(member, [], packed=True)
        part = self._parts.get((sample, epoch))
        if part is None:
            return InspectSamplePlaces(everything, [])
        try:
            messages = list(self._document.elements(self._document.child(part, "messages")))
        except UNREADABLE:
            messages = []
        return InspectSamplePlaces(
            self._document.span(part), [self._document.span(message) for message in messages]
        )


def _parts(document: JsonDocument) -> dict[tuple[str | int, int], JsonPart]:
    parts: dict[tuple[str | int, int], JsonPart] = {}
    try:
        for part in document.elements(document.child(document.root, "samples")):
            key = _KEY.decode(part.raw)
            parts[key.id, key.epoch] = part
    except UNREADABLE:
        return parts  # Inspect repairs what msgspec does not read, such as NaN
    return parts


def _members(body: bytes) -> dict[str, Span]:
    """Find the members of an archive: from its header to its last byte, packed as they are."""
    members: dict[str, Span] = {}
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        for member in archive.infolist():
            start = member.header_offset
            before = begins_after(body[start : start + HEADER_BYTES])
            members[member.filename] = Span(start, start + before + member.compress_size, 1)
    return members
