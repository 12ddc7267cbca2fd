"""Cursor agent transcripts: JSONL of messages without ids, times or results; the order of the lines is all.

Source: the shape as third-party readers of `agent-transcripts/*.jsonl` have it, 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.files.json_records import lines_of
from strategies.files.log_records import count_unknown
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

_QUERY: Final = ("<user_query>", "</user_query>")
_FOLDER: Final = "agent-transcripts"


class _Block(TextPart):
    type: str = ""
    name: str = ""
    input: msgspec.Raw = msgspec.Raw(b"{}")


class _Body(msgspec.Struct):
    content: str | list[_Block] | None = None


class _Line(msgspec.Struct):
    role: str = ""
    message: _Body | None = None
    type: str = ""
    status: str | None = None


_LINE: Final = msgspec.json.Decoder(_Line)


class CursorReader:
    """Reads the transcripts of Cursor's agent."""

    name = "cursor"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the records are roles with a message, in the folder of transcripts or with its tags."""
        if _FOLDER not in source and _QUERY[0].encode() not in head:
            return False
        first = next(first_objects(head), {})
        return {"role", "message"} <= first.keys() and "type" not in first

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the one session of the file."""
        session = _CursorSession(log, tally)
        session.learn_each(lines_of(log, tally), session.learn)
        yield from session.episodes(self.name)


class _CursorSession(Session):
    def learn(self, raw: Json, span: Span) -> None:
        line = _LINE.decode(raw)
        content = line.message.content if line.message else None
        blocks = content if isinstance(content, list) else []
        text = text_in(content)
        if line.type == "turn_ended":
            if line.status == "error":
                self.conversation.mark("error", "environment", span, failed=True)
                self.ended_by = "environment"
        elif line.role == "user":
            self.ask(_query_in(text), span, at=None)
        elif line.role == "assistant":
            group = f"line {span.line}"
            self.say(text, span, group=group, at=None)
            for number, block in enumerate(blocks):
                if block.type == "tool_use":
                    call_id = f"{group} {number}"
                    self.call(call_id, block.name, raw_text(block.input), span, group=group, at=None)
                    self.answer(call_id, "", span, failed=False, at=None)  # no transcript tells a result
        else:
            count_unknown(self.tally, line.type or f"role {line.role}")


def _query_in(text: str) -> str:
    before, opening, rest = text.partition(_QUERY[0])
    return rest.partition(_QUERY[1])[0].strip() if opening else before
