"""Logged responses of OpenAI's Responses API: one conversation a file, a response or an item a line.

Source: types/responses of openai/openai-python, 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode_records import plain
from strategies.episodes.error_fingerprint import looks_failed
from strategies.episodes.usage import Amount, Usage, usage_of
from strategies.files.json_records import records_of
from strategies.files.log_records import NotObject, count_unknown
from strategies.logs.formats.coding_agents.session import Session, TextPart, raw_text, text_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Json, ReadTally, Span

_SILENT: Final = frozenset(["reasoning", "compaction", "item_reference", "mcp_list_tools", "skill_reference"])


class _Outcome(msgspec.Struct):
    type: str = ""
    exit_code: int | None = None


class _Printed(msgspec.Struct):
    """What one command of a shell call gave, or a part of an output."""

    text: str | None = None
    stdout: str = ""
    stderr: str = ""
    outcome: _Outcome | None = None

    @property
    def failed(self) -> bool:
        return self.outcome is not None and (self.outcome.type == "timeout" or bool(self.outcome.exit_code))

    @property
    def shown(self) -> str:
        return self.text or "\n".join(part for part in (self.stdout, self.stderr) if part)


class _Item(msgspec.Struct):
    type: str = "message"
    id: str = ""
    role: str = ""
    call_id: str | None = None
    name: str | None = None
    content: str | list[TextPart] | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"null")
    input: msgspec.Raw = msgspec.Raw(b"null")
    action: msgspec.Raw = msgspec.Raw(b"null")
    operation: msgspec.Raw = msgspec.Raw(b"null")
    output: str | list[_Printed] | None = None
    error: str | None = None
    status: str | None = None


class _Error(msgspec.Struct):
    code: str | None = None
    message: str = ""


class _Incomplete(msgspec.Struct):
    reason: str = ""


class _Kind(msgspec.Struct):
    object: str = ""


class _InputDetails(msgspec.Struct):
    cached_tokens: Amount = None


class ResponseUsage(msgspec.Struct):
    """Tokens of a response; those from a cache are among the input."""

    input_tokens: Amount = None
    output_tokens: Amount = None
    input_tokens_details: _InputDetails | NotObject = None


class _Response(msgspec.Struct):
    id: str = ""
    model: str | None = None
    error: _Error | None = None
    incomplete_details: _Incomplete | None = None
    input: str | list[_Item] | None = None
    output: list[_Item] | None = None
    usage: ResponseUsage | NotObject = None


_KIND: Final = msgspec.json.Decoder(_Kind)
_RESPONSE: Final = msgspec.json.Decoder(_Response)
_ITEM: Final = msgspec.json.Decoder(_Item)


class ResponsesReader:
    """Reads responses of OpenAI's Responses API, with the items that were sent between them."""

    name = "openai-responses"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether a record is a response with its output."""
        del source
        compact = head.replace(b" ", b"")
        return (
            compact.lstrip()[:1] in {b"{", b"["} and b'"object":"response"' in compact and b'"output":[' in compact
        )

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the one conversation of the file."""
        session = _Conversation(log, tally)
        session.learn_each(records_of(log, tally, "responses"), session.learn)
        session.spent = list(session.responses.values())
        yield from session.episodes(self.name)


class _Conversation(Session):
    """Responses in the order in which they were written; an item that is sent again counts once."""

    def __init__(self, log: LogFile, tally: ReadTally) -> None:
        super().__init__(log, tally)
        self._seen: set[tuple[str, str]] = set()
        self.responses: dict[str, Usage] = {}
        """The usage of each response by its id: one may be logged again as it goes on."""

    def learn(self, raw: Json, span: Span) -> None:
        if _KIND.decode(raw).object != "response":
            self._learn_item(_ITEM.decode(raw), span, group=f"at {span.byte_start}")
            return
        response = _RESPONSE.decode(raw)
        self.name = self.name or plain(response.id)
        self.model = self.model or plain(response.model or "")
        self.responses[response.id or f"at {span.byte_start}"] = usage_of_response(response.usage, response.model)
        given = response.input
        for item in [_Item(role="user", content=given)] if isinstance(given, str) else given or ():
            self._learn_item(item, span, group=f"before {response.id}")
        for item in response.output or ():
            self._learn_item(item, span, group=response.id)
        if response.incomplete_details:
            self.ended_by = "limit"
        if response.error:
            name = response.error.code or "error"
            text = response.error.message
            self.conversation.mark(name, "environment", span, failed=True, error_text=text)
            self.ended_by = "environment"

    def _learn_item(self, item: _Item, span: Span, *, group: str) -> None:
        text = text_in(item.content)
        key = (item.type, item.call_id or item.id or f"{item.role}: {text}")
        if key in self._seen:
            return
        self._seen.add(key)
        if item.type == "message":
            if item.role == "assistant":
                self.say(text, span, group=group, at=None)
            elif item.role == "user":
                self.ask(text, span, at=None)
        elif item.type.endswith("_output"):
            self._learn_output(item, span)
        elif item.type.endswith("_call"):
            self._learn_call(item, span, group)
        elif item.type not in _SILENT:
            count_unknown(self.tally, item.type)

    def _learn_call(self, item: _Item, span: Span, group: str) -> None:
        call_id = item.call_id or item.id
        name = item.name or item.type.removesuffix("_call").removeprefix("local_")
        given = (raw_text(raw) for raw in (item.arguments, item.input, item.action, item.operation))
        self.call(call_id, name, next((text for text in given if text), ""), span, group=group, at=None)
        if item.call_id is None:  # a tool of the server: its result is in the item, or goes to the model alone
            text = item.error or _shown(item.output)
            self.answer(call_id, text, span, failed=bool(item.error) or item.status == "failed", at=None)

    def _learn_output(self, item: _Item, span: Span) -> None:
        text = _shown(item.output)
        printed = item.output if isinstance(item.output, list) else []
        failed = any(part.failed for part in printed) or (not printed and looks_failed(text))
        if not self.answer(item.call_id or "", text, span, failed=failed, at=None):
            count_unknown(self.tally, "result without a call")


def usage_of_response(used: ResponseUsage | NotObject, model: str | None) -> Usage:
    """Give the usage that a response tells of, if it does."""
    used = used if isinstance(used, ResponseUsage) else ResponseUsage()
    details = used.input_tokens_details
    cached = details.cached_tokens if isinstance(details, _InputDetails) else None
    return usage_of(used.input_tokens, used.output_tokens, cached, model=plain(model or ""))


def _shown(output: str | list[_Printed] | None) -> str:
    if output is None or isinstance(output, str):
        return output or ""
    return "\n".join(part.shown for part in output)
