"""Sessions of OpenCode, as rows of its store: messages, and their parts, each call with what came back.

Source: packages/opencode/src/session/session.sql.ts and message-v2.ts of anomalyco/opencode, 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode_records import plain
from strategies.episodes.step_marks import USER_INTERRUPT
from strategies.episodes.usage import Amount, Usage, tokens, usage_of
from strategies.files.log_records import UNREADABLE, NotObject, count_unknown, typed_lines
from strategies.logs.formats.coding_agents.session import Session, raw_text, time_of_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally, Span

_HEAD: Final = b'{"store":"opencode"'
_REJECTED: Final = "The user rejected permission"
_ABORTED: Final = "MessageAbortedError"
_TOO_LONG: Final = ("MessageOutputLengthError", "ContextOverflowError")
_DONE: Final = ("completed", "error")
_SILENT: Final = frozenset(
    "reasoning file step-start step-finish snapshot patch agent subtask retry".split()  # noqa: SIM905 - shorter
)

Milliseconds = int | float | None


class _Times(msgspec.Struct):
    created: Milliseconds = None
    start: Milliseconds = None
    end: Milliseconds = None


class _ErrorData(msgspec.Struct):
    message: str = ""


class _Error(msgspec.Struct):
    name: str = ""
    data: _ErrorData = msgspec.field(default_factory=_ErrorData)


class _ToolMetadata(msgspec.Struct):
    interrupted: bool | None = None
    exit: Amount = None


class _ToolState(msgspec.Struct):
    status: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")
    output: str = ""
    error: str = ""
    metadata: _ToolMetadata | None = None
    time: _Times | None = None


class _Cache(msgspec.Struct):
    read: Amount = None
    write: Amount = None


class _Tokens(msgspec.Struct):
    input: Amount = None
    output: Amount = None
    reasoning: Amount = None
    cache: _Cache | NotObject = None


class _Data(msgspec.Struct):
    """The fields of messages and of parts that are read."""

    role: str = ""
    model_id: str | None = msgspec.field(default=None, name="modelID")
    time: _Times | None = None
    finish: str | None = None
    cost: Amount = None
    tokens: _Tokens | NotObject = None
    error: _Error | None = None
    type: str = ""
    text: str = ""
    synthetic: bool | None = None
    ignored: bool | None = None
    call_id: str = msgspec.field(default="", name="callID")
    tool: str = ""
    state: _ToolState | None = None


class _Revert(msgspec.Struct):
    message_id: str = msgspec.field(default="", name="messageID")
    part_id: str | None = msgspec.field(default=None, name="partID")


class _Row(msgspec.Struct):
    """One row of one of the three tables, or the head of a file of rows."""

    store: str = ""
    table: str = ""
    id: str = ""
    parent_id: str | None = None
    message_id: str = ""
    time_created: Milliseconds = None
    revert: _Revert | None = None
    data: _Data | None = None


_ROW: Final = msgspec.json.Decoder(_Row)


def _usage(message: _Data) -> Usage:
    used = message.tokens if isinstance(message.tokens, _Tokens) else _Tokens()
    cache = used.cache if isinstance(used.cache, _Cache) else _Cache()
    wrote = [number for number in map(tokens, (used.output, used.reasoning)) if number is not None]
    return usage_of(
        used.input,
        sum(wrote) if wrote else None,
        cache.read,
        beside=(cache.read, cache.write),
        cost=message.cost,
        model=plain(message.model_id or ""),
    )


def _compact(given: msgspec.Raw) -> str:
    """Give an argument without white space: the files of older versions have it, and the store does not."""
    try:
        return raw_text(msgspec.json.format(bytes(given), indent=-1))
    except UNREADABLE:
        return raw_text(given)


class OpenCodeReader:
    """Reads the store of OpenCode, and the folders of files that older versions kept."""

    name = "opencode"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the file is such a store (strategies/files/stores.py)."""
        del source
        return head.startswith(_HEAD)

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the sessions in the order in which they began; that of a sub-agent is one of its own."""
        session: _OpenCodeSession | None = None
        for row, span in typed_lines(log, _ROW, tally):
            if row.table == "session":
                yield from session.settled(self.name) if session else ()
                session = _OpenCodeSession(log, tally, row)
            elif session and not row.store:
                session.keep(row, span)
        yield from session.settled(self.name) if session else ()


class _OpenCodeSession(Session):
    """A session; its rows are gathered, for parts come by themselves."""

    def __init__(self, log: LogFile, tally: ReadTally, row: _Row) -> None:
        super().__init__(log, tally)
        self.name = plain(row.id)
        self.started_at = time_of_ms(row.time_created)
        self._delegated = bool(row.parent_id)
        self.labels = {"parent": plain(row.parent_id or "")}
        self._revert = row.revert or _Revert()
        self._messages: dict[str, tuple[_Data, Span]] = {}
        self._parts: dict[str, list[tuple[str, _Data, Span]]] = {}

    def keep(self, row: _Row, span: Span) -> None:
        if row.data is None:
            return
        if row.table == "message":
            self._messages[row.id] = row.data, span
        else:
            self._parts.setdefault(row.message_id, []).append((row.id, row.data, span))

    def settled(self, log_format: str) -> Iterator[Episode]:
        """Give the episode, without what the person took back."""
        self.spent = [_usage(message) for message, _ in self._messages.values()]  # what was taken back too
        for name, (message, span) in self._messages.items():
            if name == self._revert.message_id and not self._revert.part_id:
                break
            self.model = self.model or plain(message.model_id or "")
            at = time_of_ms(message.time.created if message.time else None)
            steps = 0
            for part_name, part, place in self._parts.get(name, ()):
                if part_name == self._revert.part_id:
                    break
                steps += part.type == "step-start"  # a message may hold several answers of the model
                self._learn_part(message.role, f"{name} {steps}", part, place, at)
            if name == self._revert.message_id:
                break
            self._learn_end(message, span, at)
        yield from self.episodes(log_format)

    def _learn_part(self, role: str, group: str, part: _Data, span: Span, at: str | None) -> None:
        if part.type == "text" and not (part.synthetic or part.ignored):
            if role == "assistant":
                self.say(part.text, span, group=group, at=at)
            else:
                (self.delegate if self._delegated else self.ask)(part.text, span, at=at)
        elif part.type == "tool":
            self._learn_call(part, part.state or _ToolState(), span, group, at)
        elif part.type == "compaction":
            self.overflow(span, at=at)
        elif part.type not in _SILENT and part.type != "text":
            count_unknown(self.tally, part.type)

    def _learn_call(self, part: _Data, state: _ToolState, span: Span, group: str, at: str | None) -> None:
        times, call_id = state.time or _Times(), part.call_id or f"at {span.byte_start}"
        started = time_of_ms(times.start) or at
        self.call(call_id, part.tool, _compact(state.input), span, group=group, at=started)
        if state.status not in _DONE:
            return
        failed, ended = state.status == "error", time_of_ms(times.end)
        if state.metadata and state.metadata.interrupted:
            self.conversation.answer(
                call_id, state.error or state.output, span, failed=True, error_type=USER_INTERRUPT, at=ended
            )
            return
        denied = failed and state.error.startswith(_REJECTED)
        text = state.error if failed else state.output
        code = state.metadata.exit if state.metadata else None  # of a command: the call itself is completed
        self.answer(
            call_id, text, span, failed=failed or bool(tokens(code) or code == -1), denied=denied, at=ended
        )

    def _learn_end(self, message: _Data, span: Span, at: str | None) -> None:
        """Learn how a message ended: the model's own reason, or an error of it."""
        if message.finish == "length" or (message.error and message.error.name in _TOO_LONG):
            self.ended_by = "limit"
        elif message.error and message.error.name == _ABORTED:
            self.conversation.mark(USER_INTERRUPT, "user", span, at=at)
            self.ended_by = "environment"
        elif message.error:
            error = message.error
            self.conversation.mark(
                error.name, "environment", span, at=at, failed=True, error_text=error.data.message
            )
            self.ended_by = "environment"
