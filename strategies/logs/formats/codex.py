"""Codex CLI rollouts: JSONL, one session a file; every line is a time, a type and a payload of that type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode import EndedBy, Episode
from strategies.episodes.episode_records import plain, plain_labels, plain_time
from strategies.episodes.incremental_conversation import IncrementalConversation, WholeConversation
from strategies.episodes.skill_use import skills_injected
from strategies.episodes.step_marks import CONTEXT_OVERFLOW, PERMISSION_DENIED, USER_INTERRUPT
from strategies.episodes.usage import NOTHING_SPENT, Usage, total, usage_of
from strategies.files.json_records import object_in
from strategies.files.log_file import START
from strategies.files.log_records import UNREADABLE, Malformed, ReadTally, count_unknown, typed_lines
from strategies.logs.formats.codex_schema import (
    ANSWER,
    BARE_STATE,
    CALL,
    EVENT,
    KIND,
    LINE,
    MESSAGE,
    META,
    TOKENS,
    TURN,
    CodexRecordTexts,
    tool_output_of,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from strategies.episodes.episode import EpisodeRecord
    from strategies.episodes.whole_episode import WholeEpisode
    from strategies.files.log_file import LogFile, LogPosition
    from strategies.files.log_records import Span
    from strategies.logs.formats.codex_schema import (
        CodexAnswer,
        CodexCall,
        CodexEvent,
        CodexLine,
        CodexMessage,
        CodexSessionMeta,
    )

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
        *("user_message", "agent_message", "agent_reasoning", "agent_reasoning_raw_content"),
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


_NOTHING: Final = (NOTHING_SPENT, NOTHING_SPENT)
_BARE_META: Final = frozenset(["id", "timestamp", "instructions"])
_TYPES: Final = frozenset(["session_meta", "turn_context", "response_item", "event_msg", "compacted"])


class CodexReader:
    """Reads Codex rollouts."""

    name = "codex"
    record_texts: Final = CodexRecordTexts()

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether a line has a payload of a type that Codex writes, or the first opens a bare session."""
        del source
        compact = head.replace(b" ", b"")
        if b'"payload":{' in compact:
            return any(f'"type":"{kind}"'.encode() in compact for kind in _TYPES)
        first = object_in(compact.split(b"\n", 1)[0]) or {}
        return first.keys() >= _BARE_META and "type" not in first

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[EpisodeRecord]:
        """Yield the session, once the file is read."""
        session = self.follow(log.source)
        session.learn(log, tally)
        yield from session.records()

    def read_whole(self, log: LogFile, records: Collection[EpisodeRecord]) -> Iterator[WholeEpisode]:
        """Yield the session with its texts."""
        del records
        conversation = WholeConversation()
        rollout = CodexRollout(log.source, _Session(spent=_NOTHING, conversation=conversation), START)
        rollout.learn(log, ReadTally())
        yield conversation.episode(rollout.name)

    def follow(self, source: str, state: bytes = b"", place: LogPosition = START) -> CodexRollout:
        """Begin a file, or go on with it."""
        return CodexRollout(source, _STATE.decode(state) if state else _Session(spent=_NOTHING), place)


class _Session(msgspec.Struct, kw_only=True):
    """All that is known of a session.

    `spent` is its usage as last counted, after that of counts that ended: a count that is smaller than the one
    before begins at nothing. It has no default, so that what an older version knew is not gone on from.
    """

    spent: tuple[Usage, Usage]
    models: tuple[str, ...] = ()
    conversation: IncrementalConversation = msgspec.field(default_factory=IncrementalConversation, name="talk")
    name: str = ""
    stem: str = ""
    labels: dict[str, str] = {}
    model: str = ""
    started_at: str | None = None
    ended_by: EndedBy = "unknown"
    group: int = 0

    def learn(self, line: CodexLine, span: Span, tally: ReadTally) -> None:
        """Learn a line; raises one of UNREADABLE where its payload has a shape that no version writes."""
        self.started_at = self.started_at or plain_time(line.timestamp)
        if line.type == "session_meta":
            self._learn_meta(META.decode(line.payload))
        elif line.type == "turn_context":
            model = plain(TURN.decode(line.payload).model or "")
            self.model = self.model or model
            if model and model not in self.models:
                self.models = (*self.models, model)
        elif line.type == "compacted":
            self.conversation.mark(CONTEXT_OVERFLOW, "environment", span, at=line.timestamp)
        else:
            kind = KIND.decode(line.payload).type
            if line.type == "response_item":
                known = self._learn_item(kind, line, span, tally)
            else:
                known = self._learn_event(kind, line, span)
            if not known and kind not in _SILENT:
                count_unknown(tally, f"{line.type} {kind}")

    def _learn_meta(self, meta: CodexSessionMeta) -> None:
        """Learn what opens a session; one that goes on from another repeats the line of that after its own."""
        if not self.name:
            self.name = plain(meta.id)
            branch = (meta.git and meta.git.branch) or ""
            self.labels = plain_labels({"version": meta.cli_version or "", "branch": branch})

    def _learn_item(self, kind: str, line: CodexLine, span: Span, tally: ReadTally) -> bool:
        if kind == "message":
            self._learn_message(MESSAGE.decode(line.payload), span, line.timestamp)
        elif kind.endswith("_output"):
            self._learn_result(ANSWER.decode(line.payload), line, span, tally)
        elif kind.endswith("_call"):
            self._learn_call(kind, CALL.decode(line.payload), span, line.timestamp)
        else:
            return False
        return True

    def _learn_message(self, message: CodexMessage, span: Span, at: str | None) -> None:
        text = message.text
        if message.role == "assistant" and text:
            self.conversation.say("agent", text, span, group=str(self.group), at=at)
            self.ended_by = "unknown" if self.conversation.waiting else "agent"
        elif text.startswith(_INJECTED):
            self.conversation.learn_skills(skills_injected(text))
        elif message.role == "user" and text:
            self.conversation.say("user", text, span, at=at)
            self.group += 1
            self.ended_by = "unknown"

    def _learn_call(self, kind: str, call: CodexCall, span: Span, at: str | None) -> None:
        name = call.name or kind.removesuffix("_call")
        name = "shell" if name in _SHELLS else name
        call_id = call.call_id or f"line {span.line}"
        self.conversation.call(call_id, name, call.argument, span, group=str(self.group), at=at)
        self.ended_by = "unknown"
        if not call.call_id:  # its answer goes to the model alone
            self.conversation.answer(call_id, "", span, failed=False)

    def _learn_result(self, answer: CodexAnswer, line: CodexLine, span: Span, tally: ReadTally) -> None:
        output = tool_output_of(answer.output)
        denied = output.failed and any(words in output.text for words in _DENIED)
        known = self.conversation.answer(
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

    def _learn_event(self, kind: str, line: CodexLine, span: Span) -> bool:
        if kind in _ENDED:
            self.ended_by = "agent"
        elif kind == "turn_aborted":
            reason = EVENT.decode(line.payload).reason
            self.conversation.mark(
                USER_INTERRUPT if reason == "interrupted" else kind, "user", span, at=line.timestamp
            )
            self.ended_by = "environment"
        elif kind == ROLLED_BACK:
            self.conversation.mark(ROLLED_BACK, "user", span, at=line.timestamp)
        elif kind == "token_count":
            self._learn_tokens(line)
        elif kind == "error":
            self._learn_error(EVENT.decode(line.payload), span, line.timestamp)
        else:
            return False
        return True

    def _learn_error(self, event: CodexEvent, span: Span, at: str | None) -> None:
        """Note an error of the session itself."""
        overflow = event.named == "context_window_exceeded"
        error_type = CONTEXT_OVERFLOW if overflow else event.named or "error"
        self.conversation.mark(error_type, "environment", span, at=at, failed=True, error_text=event.message or "")
        self.ended_by = "limit" if overflow else "environment"

    def _learn_tokens(self, line: CodexLine) -> None:
        """Take over the tokens of the whole session so far: each count holds the ones before."""
        info = TOKENS.decode(line.payload).info
        if info is None or info.total_token_usage is None:
            return
        counted = info.total_token_usage
        now = usage_of(counted.input_tokens, counted.output_tokens, counted.cached_input_tokens)
        ended, last = self.spent
        if (now.input_tokens or 0) < (last.input_tokens or 0):
            ended = total((ended, last)) or NOTHING_SPENT
        self.spent = ended, now

    def record(self, source: str) -> EpisodeRecord:
        """Give the record of the session as far as it was read."""
        return self.conversation.record(
            Episode(
                id=self.name or self.stem,
                source=source,
                format=CodexReader.name,
                run=self.model,
                labels={name: value for name, value in self.labels.items() if value},
                started_at=self.started_at,
                ended_by=self.ended_by,
                usage=total((*self.spent, Usage(models=self.models))),
            )
        )


_STATE: Final = msgspec.msgpack.Decoder(_Session)


class CodexRollout:
    """The session of one file while it is read."""

    def __init__(self, source: str, session: _Session, place: LogPosition) -> None:
        self.source = source
        self.place = place
        self._session = session
        self._touched = False

    def learn(self, log: LogFile, tally: ReadTally) -> None:
        """Read a log from its start place to its end."""
        session = self._session
        session.stem = session.stem or plain(log.stem)
        session.conversation.go_on(log.again(), CodexReader.record_texts)
        for line, span in typed_lines(log, LINE, tally):
            self._touched = True
            if line.type == BARE_STATE:
                continue
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
        if self._touched and self._session.conversation.steps:
            yield self._session.record(self.source)

    @property
    def name(self) -> str:
        """The name of the session's record."""
        return plain(self._session.name or self._session.stem)

    def state(self) -> bytes:
        """Give what is to be known when reading goes on."""
        self._session.conversation.settle()
        return msgspec.msgpack.encode(self._session)
