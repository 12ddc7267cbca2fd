"""Pi sessions: JSONL, a tree of entries of which the branch that ends last counts.

Source: packages/coding-agent/docs/session.md of badlogic/pi-mono, 2026-03.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode_records import plain, plain_time
from strategies.episodes.step_marks import CONTEXT_OVERFLOW, USER_INTERRUPT
from strategies.episodes.usage import NOTHING_SPENT, Amount, Usage, usage_of
from strategies.files.json_records import lines_of
from strategies.files.log_records import NotObject, count_unknown
from strategies.logs.formats.coding_agents.session import (
    Session,
    TextPart,
    first_objects,
    raw_text,
    text_in,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Json, ReadTally, Span

_SILENT: Final = frozenset(
    [
        *("model_change", "thinking_level_change", "branch_summary", "custom", "custom_message", "label"),
        *("session_info", "context_transform", "ephemeral"),
    ]
)


class _Block(TextPart):
    type: str = ""
    id: str = ""
    name: str = ""
    arguments: msgspec.Raw = msgspec.Raw(b"{}")


class _Cost(msgspec.Struct):
    total: Amount = None


class _Usage(msgspec.Struct, rename="camel"):
    """Tokens of a message: those read from a cache and written to it are not among the input."""

    input: Amount = None
    output: Amount = None
    cache_read: Amount = None
    cache_write: Amount = None
    cost: _Cost | NotObject = None


class _Said(msgspec.Struct, rename="camel"):
    role: str = ""
    content: str | list[_Block] | None = None
    model: str | None = None
    stop_reason: str | None = None
    error_message: str | None = None
    tool_call_id: str = ""
    is_error: bool = False
    command: str = ""
    usage: _Usage | NotObject = None


class _Entry(msgspec.Struct, rename="camel"):
    type: str
    id: str = ""
    parent_id: str | None = None
    timestamp: str | None = None
    message: _Said | None = None
    model_id: str | None = None


_ENTRY: Final = msgspec.json.Decoder(_Entry)


class PiReader:
    """Reads the sessions of Pi."""

    name = "pi"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the file opens with the header of a session that says where it ran."""
        del source
        if b'"session"' not in head or b'"cwd"' not in head:
            return False
        first = next(first_objects(head), {})
        return {"type", "id", "cwd", "timestamp"} <= first.keys() and bytes(first["type"]) == b'"session"'

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the one session, once the file is read: its last entry says which branch counts."""
        session = _PiSession(log, tally)
        session.learn_each(lines_of(log, tally), session.learn)
        session.settle()
        yield from session.episodes(self.name)


class _PiSession(Session):
    def __init__(self, log: LogFile, tally: ReadTally) -> None:
        super().__init__(log, tally)
        self._entries: list[tuple[_Entry, Span]] = []

    def learn(self, raw: Json, span: Span) -> None:
        entry = _ENTRY.decode(raw)
        if entry.type == "session":
            self.name = self.name or plain(entry.id)
            self.started_at = self.started_at or plain_time(entry.timestamp)
            self.model = self.model or plain(entry.model_id or "")
        else:
            self._entries.append((entry, span))

    def settle(self) -> None:
        """Take the entries from the root to the last one for what happened; all where they form no tree.

        What branches cost that were left was spent as well.
        """
        self.spent = [_usage_of(entry.message) for entry, _ in self._entries if entry.message]
        for entry, span in self._branch():
            if entry.type == "message" and entry.message:
                self._learn_message(entry, entry.message, span)
            elif entry.type == "compaction":
                self.conversation.mark(CONTEXT_OVERFLOW, "environment", span, at=plain_time(entry.timestamp))
            elif entry.type not in _SILENT:
                count_unknown(self.tally, entry.type)

    def _branch(self) -> list[tuple[_Entry, Span]]:
        by_id = {entry.id: place for place, (entry, _) in enumerate(self._entries) if entry.id}
        if len(by_id) < len(self._entries):
            return self._entries  # versions before 3 write a plain list
        branch, place = list[int](), len(self._entries) - 1
        while place >= 0 and (not branch or place < branch[-1]):  # a parent stands before its child
            branch.append(place)
            place = by_id.get(self._entries[place][0].parent_id or "", -1)
        return [self._entries[place] for place in reversed(branch)]

    def _learn_message(self, entry: _Entry, message: _Said, span: Span) -> None:
        at, group = plain_time(entry.timestamp), entry.id or f"line {span.line}"
        blocks = message.content if isinstance(message.content, list) else []
        if message.role == "user":
            self.ask(text_in(message.content), span, at=at)
        elif message.role == "assistant":
            self.model = self.model or plain(message.model or "")
            self.say(text_in(message.content), span, group=group, at=at)
            for number, block in enumerate(blocks):
                if block.type == "toolCall":
                    call_id = block.id or f"{group} {number}"
                    self.call(call_id, block.name, raw_text(block.arguments), span, group=group, at=at)
            self._learn_stop(message, span, at)
        elif message.role == "toolResult":
            if not self.answer(
                message.tool_call_id, text_in(message.content), span, failed=message.is_error, at=at
            ):
                count_unknown(self.tally, "result without a call")
        elif message.role != "bashExecution":  # a command of the person's own
            count_unknown(self.tally, f"role {message.role}")

    def _learn_stop(self, message: _Said, span: Span, at: str | None) -> None:
        if message.stop_reason == "aborted":
            self.conversation.mark(USER_INTERRUPT, "user", span, at=at)
            self.ended_by = "environment"
        elif message.stop_reason == "error":
            text = message.error_message or ""
            self.conversation.mark("error", "environment", span, at=at, failed=True, error_text=text)
            self.ended_by = "environment"
        elif message.stop_reason == "length":
            self.ended_by = "limit"


def _usage_of(message: _Said) -> Usage:
    if message.role != "assistant":
        return NOTHING_SPENT
    used = message.usage if isinstance(message.usage, _Usage) else _Usage()
    cost = used.cost.total if isinstance(used.cost, _Cost) else None
    beside = (used.cache_read, used.cache_write)
    model = plain(message.model or "")
    return usage_of(used.input, used.output, used.cache_read, beside=beside, cost=cost, model=model)
