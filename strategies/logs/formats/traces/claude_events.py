"""Events of Claude Code in OTLP log records: one episode a session, whatever its prompts are called.

A prompt, an answer or an argument that is not recorded is no text; a call without one counts all the same. What
sub-agents do is logged under the session and belongs to it.
Source: Claude Code's documentation, "Monitoring", events, 2.1.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec

from strategies.episodes.action_class import SHELL_TOOLS
from strategies.episodes.conversation import Conversation
from strategies.episodes.episode import EndedBy, Episode
from strategies.episodes.episode_records import plain
from strategies.episodes.skill_use import ran_under, skills_used
from strategies.episodes.step_marks import CONTEXT_OVERFLOW, PERMISSION_DENIED, USER_INTERRUPT
from strategies.episodes.usage import Usage, total, usage_of
from strategies.files.log_records import UNREADABLE
from strategies.logs.formats.traces.otel_spans import (
    EXPORT,
    Attributes,
    all_attributes_of,
    log_record_places,
    nanoseconds,
    rfc3339,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.files.log_records import Span

_PREFIX: Final = "claude_code."
_MARKS: Final = (b"claude_code.", b"claude-code")
_NO_TEXT: Final = "<REDACTED>"
_NO_SKILLS: Final = frozenset(["", "custom_skill", "third-party"])
"""What stands for the name of a skill that is not recorded."""

_NANOS_IN_MS: Final = 1_000_000
_STOPPED: Final = "user_abort"


class _Event(NamedTuple):
    """One event. Units: nanoseconds since 1970."""

    at: int
    sequence: int
    name: str
    place: Span
    attributes: Attributes

    def text(self, name: str) -> str:
        """Give an attribute, "" where it is not recorded."""
        value = self.attributes.get(name, "")
        return "" if value.strip() == _NO_TEXT else value


class _Parameters(msgspec.Struct):
    full_command: str = ""
    mcp_server_name: str = ""
    mcp_tool_name: str = ""


_PARAMETERS: Final = msgspec.json.Decoder(_Parameters)


class ClaudeEvents:
    """The sessions of a file while its exports come, in no order."""

    def __init__(self) -> None:
        self._sessions: dict[str, list[_Event]] = {}

    def learn(self, raw: bytes, line: Span) -> None:
        """Learn the log records of an export that is known to decode, as far as Claude Code wrote them."""
        if not any(mark in raw for mark in _MARKS):
            return
        export = EXPORT.decode(raw)
        resources = [(held, scope.log_records) for held in export.resource_logs for scope in held.scope_logs]
        places = iter(log_record_places(raw, line, sum(len(records) for _, records in resources)))
        for held, records in resources:
            about = all_attributes_of(held.resource)
            for record in records:
                attributes, place = about | all_attributes_of(record), next(places)
                called = attributes.get("event.name") or record.event_name or record.body_text
                session = attributes.get("session.id", "")
                ours = called.startswith(_PREFIX) or about.get("service.name") == "claude-code"
                if session and (ours or record.body_text.startswith(_PREFIX)):
                    at = nanoseconds(record.time_unix_nano) or nanoseconds(record.observed_time_unix_nano)
                    sequence = nanoseconds(attributes.get("event.sequence", ""))
                    event = _Event(at, sequence, called.removeprefix(_PREFIX), place, attributes)
                    self._sessions.setdefault(session, []).append(event)

    def episodes(self, source: str, log_format: str) -> Iterator[Episode]:
        """Give the sessions in which something happened, in the order of their first record."""
        for name, events in self._sessions.items():
            steps = _SessionSteps()
            for event in sorted(events, key=lambda event: (event.at, event.sequence)):
                steps.learn(event)
            if not steps.conversation.steps:
                continue
            model = steps.models.most_common(1)
            yield Episode(
                id=plain(name),
                source=source,
                format=log_format,
                run=plain(model[0][0]) if model else "",
                labels={"version": plain(events[0].attributes.get("app.version", ""))},
                prompt=steps.conversation.prompt,
                started_at=rfc3339(min(event.at for event in events)),
                ended_by=steps.ended_by,
                skills=ran_under(((skill, "") for skill in steps.skills), skills_used(steps.conversation.steps)),
                steps=tuple(steps.conversation.steps),
                usage=total(steps.spent),
            )


class _SessionSteps:
    """The steps of a session while its events come, in the order of time."""

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.ended_by: EndedBy = "unknown"
        self.models = Counter[str]()
        self.skills: list[str] = []
        self.spent: list[Usage] = []
        self._turn = 0
        self._decided: set[str] = set()

    def learn(self, event: _Event) -> None:
        learn = getattr(self, f"_learn_{event.name}", None) if event.name in _EVENTS else None
        if learn:
            learn(event)

    def _learn_user_prompt(self, event: _Event) -> None:
        self._turn += 1
        text = event.text("prompt")
        if text.strip() and not event.text("command_name"):
            self.conversation.say("user", text, event.place, at=rfc3339(event.at))
        self.ended_by = "unknown"

    def _learn_assistant_response(self, event: _Event) -> None:
        text = event.text("response")
        if text.strip():
            self.conversation.say("agent", text, event.place, group=str(self._turn), at=rfc3339(event.at))
        self.ended_by = "agent"

    def _learn_api_request(self, event: _Event) -> None:
        self._turn += 1
        self.models[event.text("model")] += 1
        cached = event.text("cache_read_tokens")
        used = usage_of(
            event.text("input_tokens"),
            event.text("output_tokens"),
            cached,
            beside=(event.text("cache_creation_tokens"), cached),
            cost=event.text("cost_usd"),
            model=plain(event.text("model")),
        )
        self.spent.append(used)
        self._learn_skill_activated(event)
        self.ended_by = "agent"  # a call of a tool may follow, and say otherwise

    def _learn_api_error(self, event: _Event) -> None:
        message = event.text("error")
        kind = f"API Error {event.text('status_code')}".strip()
        self.conversation.mark(
            kind, "environment", event.place, at=rfc3339(event.at), failed=True, error_text=f"{kind}: {message}"
        )
        self.ended_by = "environment"

    def _learn_compaction(self, event: _Event) -> None:
        self.conversation.mark(CONTEXT_OVERFLOW, "environment", event.place, at=rfc3339(event.at))

    def _learn_skill_activated(self, event: _Event) -> None:
        name = event.text("skill.name").rpartition(":")[2]
        if name not in _NO_SKILLS:
            self.skills.append(plain(name))

    def _learn_tool_decision(self, event: _Event) -> None:
        if event.text("decision") == "reject":
            stopped = event.text("source") == _STOPPED
            self._decided.add(event.text("tool_use_id"))
            self._call(event, failed=True, error_type=USER_INTERRUPT if stopped else PERMISSION_DENIED)

    def _learn_tool_result(self, event: _Event) -> None:
        if event.text("tool_use_id") not in self._decided - {""}:
            failed = event.text("success").lower() == "false"
            self._call(event, failed=failed, error_type=event.text("error_type") if failed else "")

    def _call(self, event: _Event, *, failed: bool, error_type: str) -> None:
        tool, argument = _called(event)
        lasted = nanoseconds(event.text("duration_ms")) * _NANOS_IN_MS
        call_id = event.text("tool_use_id") or f"at {event.place.byte_start}"
        started, ended = rfc3339(max(0, event.at - lasted)), rfc3339(event.at)
        self.conversation.call(call_id, tool, argument, event.place, group=str(self._turn), at=started)
        message = event.text("error")
        self.conversation.answer(
            call_id, message, event.place, failed=failed, error_type=error_type, error_text=message, at=ended
        )
        self.ended_by = "unknown"


_EVENTS: Final = frozenset(
    name.removeprefix("_learn_") for name in vars(_SessionSteps) if name.startswith("_learn_")
)


def _called(event: _Event) -> tuple[str, str]:
    """Give the tool of a call and its argument, as far as they are recorded."""
    tool, written = event.text("tool_name"), event.text("tool_parameters")
    try:
        parameters = _PARAMETERS.decode(written or "{}")
    except UNREADABLE:
        parameters = _Parameters()
    if parameters.mcp_tool_name:
        tool = f"mcp__{parameters.mcp_server_name}__{parameters.mcp_tool_name}"
    if parameters.full_command and tool.lower() in SHELL_TOOLS:
        written = msgspec.json.encode({"command": parameters.full_command}).decode()
    return tool, event.text("tool_input") or written
