"""Codex CLI rollouts: JSONL, one session a file; every line is a time, a type and a payload of that type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.logs.codex_output import Output, told
from strategies.logs.codex_records import ANSWER, CALL, EVENT, KIND, LINE, MESSAGE, META, TURN
from strategies.logs.codex_telling import CodexTelling
from strategies.logs.episode import EndedBy, Episode, Malformed
from strategies.logs.json_places import UNREADABLE
from strategies.logs.jsonl import count_unknown, typed_lines
from strategies.logs.marks import CONTEXT_OVERFLOW, PERMISSION_DENIED, USER_INTERRUPT
from strategies.logs.records import plain, plain_labels, plain_time
from strategies.logs.skill_use import skills_injected
from strategies.logs.stream import START
from strategies.logs.talk import Talk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.logs.codex_records import Answer, Call, Event, Line, Message, Meta
    from strategies.logs.episode import EpisodeRecord, Span, Tally
    from strategies.logs.stream import LogFile, Place

ROLLED_BACK: Final = "thread_rolled_back"
"""The user took back turns of the agent."""

_INJECTED: Final = (
    *("<environment_context>", "<user_instructions>", "<INSTRUCTIONS>", "# AGENTS.md instructions", "<skill>"),
    *("<turn_aborted>", "<user_shell_command>", "<permissions instructions>", "<subagent_notification>"),
)
"""How text opens that Codex puts into the user's mouth."""

_SILENT: Final = frozenset(
    [
        *("reasoning", "ghost_snapshot", "other", "compaction"),
        # Events that repeat what a response item says, or say nothing of an action.
        *("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content", "token_count"),
        *("agent_reasoning_section_break", "task_started", "turn_started", "turn_diff", "context_compacted"),
        *("item_started", "item_completed", "exec_command_begin", "exec_command_end", "patch_apply_begin"),
        *("patch_apply_end", "mcp_tool_call_begin", "mcp_tool_call_end", "web_search_begin", "web_search_end"),
        *("entered_review_mode", "exited_review_mode", "view_image_tool_call", "plan_update", "background_event"),
        *("stream_error", "warning", "thread_name_updated", "deprecation_notice", "session_configured"),
    ]
)
"""Payload types that are known and hold no step."""

_SHELLS: Final = frozenset(["exec_command", "shell_command", "local_shell", "container.exec"])
"""The shell under the names of other versions: one action class, so that a claim outlives an update."""

_ENDED: Final = frozenset(["task_complete", "turn_complete"])
_DENIED: Final = ("rejected by user", "user rejected")


_TYPES: Final = frozenset(["session_meta", "turn_context", "response_item", "event_msg", "compacted"])


class CodexReader:
    """Reads Codex rollouts."""

    name = "codex"
    telling: Final = CodexTelling()

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether a line has a payload of a type that Codex writes."""
        del source
        compact = head.replace(b" ", b"")
        return b'"payload":{' in compact and any(f'"type":"{kind}"'.encode() in compact for kind in _TYPES)

    def read(self, log: LogFile, tally: Tally) -> Iterator[EpisodeRecord]:
        """Yield the session, once the file is read."""
        session = self.follow(log.source)
        session.learn(log, tally)
        yield from session.records()

    def follow(self, source: str, state: bytes = b"", place: Place = START) -> Rollout:
        """Begin a file, or go on with it."""
        return Rollout(source, _STATE.decode(state) if state else _Session(), place)


class _Session(msgspec.Struct):
    """All that is known of a session."""

    talk: Talk = msgspec.field(default_factory=Talk)
    name: str = ""
    stem: str = ""
    labels: dict[str, str] = {}
    model: str = ""
    started_at: str | None = None
    ended_by: EndedBy = "unknown"
    group: int = 0

    def learn(self, line: Line, span: Span, tally: Tally) -> None:
        """Learn a line; raises one of UNREADABLE where its payload has a shape that no version writes."""
        self.started_at = self.started_at or plain_time(line.timestamp)
        if line.type == "session_meta":
            self._begun(META.decode(line.payload))
        elif line.type == "turn_context":
            self.model = self.model or plain(TURN.decode(line.payload).model or "")
        elif line.type == "compacted":
            self.talk.mark(CONTEXT_OVERFLOW, "environment", span, at=line.timestamp)
        else:
            kind = KIND.decode(line.payload).type
            if line.type == "response_item":
                known = self._item(kind, line, span, tally)
            else:
                known = self._event(kind, line, span)
            if not known and kind not in _SILENT:
                count_unknown(tally, f"{line.type} {kind}")

    def _begun(self, meta: Meta) -> None:
        """Learn what opens a session; one that goes on from another repeats the line of that after its own."""
        if not self.name:
            self.name = plain(meta.id)
            branch = (meta.git and meta.git.branch) or ""
            self.labels = plain_labels({"version": meta.cli_version or "", "branch": branch})

    def _item(self, kind: str, line: Line, span: Span, tally: Tally) -> bool:
        if kind == "message":
            self._said(MESSAGE.decode(line.payload), span, line.timestamp)
        elif kind.endswith("_output"):
            self._answered(ANSWER.decode(line.payload), line, span, tally)
        elif kind.endswith("_call"):
            self._called(kind, CALL.decode(line.payload), span, line.timestamp)
        else:
            return False
        return True

    def _said(self, message: Message, span: Span, at: str | None) -> None:
        text = message.text
        if message.role == "assistant" and text:
            self.talk.say("agent", text, span, group=str(self.group), at=at)
            self.ended_by = "unknown" if self.talk.waiting else "agent"
        elif text.startswith(_INJECTED):
            self.talk.learn_skills(skills_injected(text))
        elif message.role == "user" and text:
            self.talk.say("user", text, span, at=at)
            self.group += 1
            self.ended_by = "unknown"

    def _called(self, kind: str, call: Call, span: Span, at: str | None) -> None:
        name = call.name or kind.removesuffix("_call")
        name = "shell" if name in _SHELLS else name
        call_id = call.call_id or f"line {span.line}"
        self.talk.call(call_id, name, call.argument, span, group=str(self.group), at=at)
        self.ended_by = "unknown"
        if not call.call_id:  # its answer goes to the model alone
            self.talk.answer(call_id, "", span, failed=False)

    def _answered(self, answer: Answer, line: Line, span: Span, tally: Tally) -> None:
        output: Output = told(answer.output)
        denied = output.failed and any(words in output.text for words in _DENIED)
        known = self.talk.answer(
            answer.call_id,
            output.text,
            span,
            failed=output.failed,
            error_type=PERMISSION_DENIED if denied else "",
            at=line.timestamp,
        )
        if not known:
            count_unknown(tally, "result without a call")
        self.group += 1
        self.ended_by = "unknown"

    def _event(self, kind: str, line: Line, span: Span) -> bool:
        if kind in _ENDED:
            self.ended_by = "agent"
        elif kind == "turn_aborted":
            reason = EVENT.decode(line.payload).reason
            self.talk.mark(USER_INTERRUPT if reason == "interrupted" else kind, "user", span, at=line.timestamp)
            self.ended_by = "environment"
        elif kind == ROLLED_BACK:
            self.talk.mark(ROLLED_BACK, "user", span, at=line.timestamp)
        elif kind == "error":
            self._failed(EVENT.decode(line.payload), span, line.timestamp)
        else:
            return False
        return True

    def _failed(self, event: Event, span: Span, at: str | None) -> None:
        """Note an error of the session itself."""
        overflow = event.named == "context_window_exceeded"
        error_type = CONTEXT_OVERFLOW if overflow else event.named or "error"
        self.talk.mark(error_type, "environment", span, at=at, failed=True, error_text=event.message or "")
        self.ended_by = "limit" if overflow else "environment"

    def record(self, source: str) -> EpisodeRecord:
        """Give the record of the session as far as it was read."""
        return self.talk.record(
            Episode(
                id=self.name or self.stem,
                source=source,
                format=CodexReader.name,
                run=self.model,
                labels={name: value for name, value in self.labels.items() if value},
                started_at=self.started_at,
                ended_by=self.ended_by,
            )
        )


_STATE: Final = msgspec.msgpack.Decoder(_Session)


class Rollout:
    """The session of one file while it is read."""

    def __init__(self, source: str, session: _Session, place: Place) -> None:
        self.source = source
        self.place = place
        self._session = session
        self._touched = False

    def learn(self, log: LogFile, tally: Tally) -> None:
        """Read a log from its start place to its end."""
        session = self._session
        session.stem = session.stem or plain(log.stem)
        session.talk.go_on(log.again(), CodexReader.telling)
        for line, span in typed_lines(log, LINE, tally):
            self._touched = True
            if line.type not in _TYPES:
                count_unknown(tally, line.type)
                continue
            try:
                session.learn(line, span, tally)
            except UNREADABLE as error:
                tally.malformed.append(Malformed(log.source, span.line, span.byte_start, str(error)))
        self.place = log.reached

    def records(self) -> Iterator[EpisodeRecord]:
        """Give the session, if this reading met any of it."""
        if self._touched and self._session.talk.drafts:
            yield self._session.record(self.source)

    def state(self) -> bytes:
        """Give what is to be known when reading goes on."""
        self._session.talk.settle()
        return msgspec.msgpack.encode(self._session)
