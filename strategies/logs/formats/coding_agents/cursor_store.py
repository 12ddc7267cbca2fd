"""`state.vscdb` of Cursor: its chats (composers) and their bubbles, and nothing else of what is in it.

Source: third-party readers of the store, which agree; Cursor does not describe it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode_records import plain, plain_time
from strategies.episodes.usage import Amount, usage_of
from strategies.files.log_records import NotObject, count_unknown, typed_lines
from strategies.logs.formats.coding_agents.session import Session, raw_text, time_of_ms

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally, Span

_HEAD: Final = b'{"store":"cursor-store"'
_COMPOSER: Final = "composerData:"
_USER, _AGENT = 1, 2
_DONE: Final = ("completed", "error", "cancelled", "rejected")


class _Header(msgspec.Struct):
    bubble_id: str = msgspec.field(default="", name="bubbleId")


class _Model(msgspec.Struct):
    model_name: str | None = msgspec.field(default=None, name="modelName")


class _ToolData(msgspec.Struct, rename="camel"):
    name: str = ""
    status: str = ""
    raw_args: msgspec.Raw = msgspec.Raw(b'""')
    result: msgspec.Raw = msgspec.Raw(b'""')
    error: msgspec.Raw = msgspec.Raw(b'""')


class _Tokens(msgspec.Struct, rename="camel"):
    input_tokens: Amount = None
    output_tokens: Amount = None


class _Value(msgspec.Struct, rename="camel"):
    """The fields of composers and of bubbles that are read."""

    full_conversation_headers_only: list[_Header] | None = None
    model_config: _Model | None = None
    created_at: int | float | str | None = None
    type: int = 0
    text: str | None = None
    tool_former_data: _ToolData | None = None
    token_count: _Tokens | NotObject = None


class _Row(msgspec.Struct):
    """One row of the store, or the head of a file of rows."""

    store: str = ""
    key: str = ""
    value: _Value | None = None


_ROW: Final = msgspec.json.Decoder(_Row)


class CursorStoreReader:
    """Reads the chats of Cursor."""

    name = "cursor-store"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the file is such a store (strategies/files/stores.py)."""
        del source
        return head.startswith(_HEAD)

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the chats in the order of the store."""
        chat: _Chat | None = None
        for row, span in typed_lines(log, _ROW, tally):
            if row.key.startswith(_COMPOSER):
                yield from chat.settled(self.name) if chat else ()
                chat = _Chat(log, tally, row)
            elif chat and row.value:
                chat.bubbles[row.key.rpartition(":")[2]] = row.value, span
        yield from chat.settled(self.name) if chat else ()


class _Chat(Session):
    """A chat; the composer names its bubbles in order, which are not stored in that order."""

    def __init__(self, log: LogFile, tally: ReadTally, row: _Row) -> None:
        super().__init__(log, tally)
        composer = row.value or _Value()
        self.name = plain(row.key.removeprefix(_COMPOSER))
        self.model = plain((composer.model_config.model_name if composer.model_config else None) or "")
        self.started_at = _time(composer.created_at)
        self.bubbles: dict[str, tuple[_Value, Span]] = {}
        self._order = [header.bubble_id for header in composer.full_conversation_headers_only or ()]

    def settled(self, log_format: str) -> Iterator[Episode]:
        """Give the episode of the bubbles that the composer still names."""
        for name in self._order:
            if name in self.bubbles:
                self._learn(name, *self.bubbles[name])
        yield from self.episodes(log_format)

    def _learn(self, name: str, bubble: _Value, span: Span) -> None:
        at = _time(bubble.created_at)
        if bubble.type == _USER:
            self.ask(bubble.text or "", span, at=at)
            return
        if bubble.type != _AGENT:
            count_unknown(self.tally, f"bubble {bubble.type}")
            return
        if isinstance(bubble.token_count, _Tokens):
            used = bubble.token_count
            self.spent.append(usage_of(used.input_tokens, used.output_tokens, model=self.model))
        self.say(bubble.text or "", span, group=name, at=at)
        tool = bubble.tool_former_data
        if tool and tool.name:
            self.call(name, tool.name, raw_text(tool.raw_args), span, group=name, at=at)
            if tool.status in _DONE:
                failed = tool.status == "error"
                text = (raw_text(tool.error) if failed else "") or raw_text(tool.result)
                denied = tool.status in {"cancelled", "rejected"}
                self.answer(name, text, span, failed=failed, denied=denied, at=None)


def _time(written: float | str | None) -> str | None:
    return plain_time(written) if isinstance(written, str) else time_of_ms(written)
