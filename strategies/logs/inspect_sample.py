"""One sample of an Inspect log as an episode: its messages as steps, its first score as the outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.logs.conversation import Conversation
from strategies.logs.episode import SUBMIT, EndedBy, Episode, Outcome
from strategies.logs.failures import looks_failed
from strategies.logs.jsonl import count_unknown
from strategies.logs.skill_use import ran_under, skills_used

if TYPE_CHECKING:
    from strategies.logs.episode import Tally
    from strategies.logs.inspect_places import SamplePlaces

INSPECT: Final = "inspect"

FIELDS: Final = {
    **dict.fromkeys(("id", "epoch", "messages", "scores", "error", "limit", "started_at"), True),
    "events": {"__all__": {"event", "id", "timestamp", "completed"}},
}
"""What of a sample is read, as pydantic takes it."""

_GRADES: Final = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
"""Inspect's grades: correct, partly correct, incorrect, no answer (its value_to_float)."""


class _Dataset(msgspec.Struct):
    name: str | None = None


class Header(msgspec.Struct):
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


class Sample(msgspec.Struct):
    """One task in one epoch."""

    id: str | int
    epoch: int = 1
    messages: list[_Message] = []
    scores: dict[str, _Score] | None = None
    error: _Error | None = None
    limit: _Limit | None = None
    started_at: str | None = None
    events: list[_Event] = []


HEADER: Final = msgspec.json.Decoder(Header)
SAMPLE: Final = msgspec.json.Decoder(Sample)


def episode_of(sample: Sample, header: Header, places: SamplePlaces, source: str, tally: Tally) -> Episode:
    """Give the episode of a sample."""
    told = _Telling(sample, places)
    for number, message in enumerate(sample.messages):
        told.learn(message, number, tally)
    told.end(len(sample.messages))
    return Episode(
        id=f"{sample.id}/{sample.epoch}",
        source=source,
        format=INSPECT,
        dataset=header.dataset.name or header.task,
        task=str(sample.id),
        run=header.model,
        labels={"trial": str(sample.epoch)},
        prompt=told.talk.prompt,
        started_at=sample.started_at,
        outcome=_outcome(sample, tally),
        ended_by=told.ended_by,
        skills=ran_under((), skills_used(told.talk.steps)),
        steps=tuple(told.talk.steps),
    )


class _Telling:
    """The steps of a sample while its messages come."""

    def __init__(self, sample: Sample, places: SamplePlaces) -> None:
        self.talk = Conversation()
        self.ended_by: EndedBy = "unknown"
        self._sample = sample
        self._places = places
        self._times = {
            event.id: (event.timestamp, event.completed)
            for event in sample.events
            if event.event == "tool" and event.id
        }

    def learn(self, message: _Message, number: int, tally: Tally) -> None:
        place = self._places.message(number)
        if message.role == "user":
            self.talk.say("user", message.text, place)
            self.ended_by = "unknown"
        elif message.role == "assistant":
            if message.text.strip():
                self.talk.say("agent", message.text, place, group=str(number))
            for call in message.tool_calls or ():
                started, _ = self._times.get(call.id, (None, None))
                argument = bytes(call.arguments).decode(errors="replace")
                self.talk.call(call.id, call.function, argument, place, group=str(number), at=started)
            submits = any(call.function == SUBMIT for call in message.tool_calls or ())
            self.ended_by = "agent" if submits or not message.tool_calls else "unknown"
        elif message.role == "tool":
            self._answered(message, number, tally)
        elif message.role != "system":
            count_unknown(tally, f"role {message.role}")

    def _answered(self, message: _Message, number: int, tally: Tally) -> None:
        """Learn a result; Inspect tells typed errors apart from what the tool itself wrote."""
        error = message.error
        _, completed = self._times.get(message.tool_call_id or "", (None, None))
        call_id, place = message.tool_call_id or "", self._places.message(number)
        text = message.text or (error.message if error else "")
        failed = looks_failed(text) if error is None else True
        kind = error.type if error else ""
        text = f"{kind}: {text}" if kind not in {"", "unknown"} else text
        if not self.talk.answer(call_id, text, place, failed=failed, at=completed):
            count_unknown(tally, "result without a call")

    def end(self, number: int) -> None:
        """Learn what ended the sample: a limit, or an error of the harness or the model."""
        if self._sample.limit:
            self.ended_by = "limit"
        elif self._sample.error:
            self.talk.mark("sample_error", "environment", self._places.message(number), at=None)
            last = self.talk.steps[-1]
            self.talk.steps[-1] = msgspec.structs.replace(last, error=True, error_text=self._sample.error.message)
            self.ended_by = "environment"


def _outcome(sample: Sample, tally: Tally) -> Outcome | None:
    """Give the first scorer's score as a number from 0 to 1."""
    score = next(iter((sample.scores or {}).values()), None)
    if score is None:
        return None
    value = _GRADES.get(score.value) if isinstance(score.value, str) else score.value
    if isinstance(value, (bool, int, float)) and 0 <= value <= 1:
        return Outcome(float(value), "reward")
    count_unknown(tally, "outcome outside 0 to 1")
    return None
