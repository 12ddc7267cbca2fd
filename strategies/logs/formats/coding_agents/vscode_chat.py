"""Chat sessions of VS Code (GitHub Copilot): a log of changes to one document, or that document in older versions.

Source: src/vs/workbench/contrib/chat/common/model/{objectMutationLog,chatModel}.ts of microsoft/vscode, 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

import msgspec

from events.errors import UnreadableLogError
from strategies.episodes.episode_records import plain
from strategies.episodes.error_fingerprint import looks_failed
from strategies.files.json_offsets import document_of
from strategies.files.json_records import lines_of, object_in
from strategies.files.log_records import UNREADABLE, Span, count_unknown
from strategies.logs.formats.coding_agents.session import Session, first_objects, time_of_ms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Json, ReadTally

_DOCUMENT: Final = (
    b'"requests"',
    b'"sessionId"',
    b'"responderUsername"',
    b'"requesterUsername"',
    b'"creationDate"',
)
_CALL: Final = "toolInvocationSerialized"
_SHELL: Final = "shell"
_TEXTS: Final = (None, "markdownContent")
_DENIED, _SKIPPED = 0, 5
"""How a call was confirmed that the person denied, or passed over: ToolConfirmKind."""

_INITIAL, _SET, _DELETE = 0, 1, 3
"""Kinds of changes; 2 adds to a list."""

_PART_DEPTH: Final = 4
"""How long the path to a part of an answer is."""

T = TypeVar("T")


class _Change(msgspec.Struct):
    """A line: 0 sets the whole, 1 sets what is at `k`, 2 cuts a list at `i` and adds to it, 3 deletes."""

    kind: int
    k: list[str | int] = []
    v: object = None
    i: int | None = None


class _Message(msgspec.Struct):
    text: str = ""


class _Command(msgspec.Struct):
    original: str = ""


class _Output(msgspec.Struct):
    text: str = ""


class _TerminalState(msgspec.Struct, rename="camel"):
    exit_code: int | None = None


class _ToolData(msgspec.Struct, rename="camel"):
    kind: str = ""
    command_line: _Command | None = None
    command: str = ""
    raw_input: object = None
    terminal_command_output: _Output | None = None
    terminal_command_state: _TerminalState | None = None
    description: str = ""
    prompt: str = ""
    result: str | None = None


class _Details(msgspec.Struct, rename="camel"):
    input: object = None
    output: object = None
    is_error: bool | None = None


class _Reason(msgspec.Struct):
    type: int | None = None


class _Part(msgspec.Struct, rename="camel"):
    """A part of an answer: text, a call with what came back, or anything else, which is passed over."""

    kind: str | None = None
    value: object = None
    content: object = None
    tool_id: str = ""
    tool_call_id: str = ""
    is_complete: bool | None = None
    is_confirmed: bool | _Reason | None = None
    invocation_message: object = None
    result_details: _Details | list[object] | None = None
    tool_specific_data: _ToolData | None = None


class _Failure(msgspec.Struct, rename="camel"):
    message: str = ""
    code: str | None = None
    response_is_incomplete: bool | None = None


class _Result(msgspec.Struct, rename="camel"):
    error_details: _Failure | None = None


class _Request(msgspec.Struct, rename="camel"):
    message: _Message | str = ""
    timestamp: int | float | None = None
    model_id: str | None = None
    response: list[object] | None = None
    result: _Result | None = None
    is_canceled: bool | None = None
    is_system_initiated: bool | None = None


class _About(msgspec.Struct, rename="camel"):
    session_id: str = ""
    creation_date: int | float | None = None


_FIRST_LINES: Final = 10
"""How many lines are looked at for the first record: blank ones may come before it."""
_CHANGE: Final = msgspec.json.Decoder(_Change)


class VsCodeChatReader:
    """Reads the chat sessions of VS Code."""

    name = "vscode-chat"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the first record sets a whole session, or the document is one."""
        del source
        first = next(first_objects(head), None)
        if first is not None and _is_change(first):
            inner = object_in(bytes(first["v"])) or {}
            return bytes(first["kind"]) == b"0" and {"requests", "sessionId"} <= inner.keys()
        opening = head.lstrip()
        if opening.startswith(b'{"kind":0,"v":{'):  # the first line may be longer than what is looked at
            return all(name in head for name in _DOCUMENT[:2])
        return opening[:1] == b"{" and b'"kind":0' not in opening[:20] and _is_document(head)

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the one session, once the file is read: a later line may take back earlier ones."""
        session = _ChatSession(log, tally)
        if any(first is not None and _is_change(first) for first in map(object_in, log.first(_FIRST_LINES))):
            session.learn_each(lines_of(log, tally), session.change)
        else:
            session.learn_document()
        session.settle()
        yield from session.episodes(self.name)


def _is_change(record: Mapping[str, msgspec.Raw]) -> bool:
    return {"kind", "v"} <= record.keys()


def _is_document(head: bytes) -> bool:
    return all(name in head for name in _DOCUMENT[:1]) and sum(name in head for name in _DOCUMENT[1:]) > 1


class _ChatSession(Session):
    """A session while its changes come.

    `places` says which line wrote a request or a part of an answer, by its path, `later` which changed it last.
    """

    def __init__(self, log: LogFile, tally: ReadTally) -> None:
        super().__init__(log, tally)
        self._state: object = {}
        self._places: dict[tuple[str | int, ...], Span] = {}
        self._later: dict[tuple[str | int, ...], Span] = {}

    def learn_document(self) -> None:
        """Learn a session that is one document."""
        document = document_of(self.log)
        try:
            self._state = msgspec.json.decode(document.root.raw)
            for number, request in enumerate(document.elements(document.members(document.root)["requests"])):
                self._places["requests", number] = document.span(request)
                parts = document.members(request).get("response")
                for place, part in enumerate(document.elements(parts) if parts else ()):
                    self._places["requests", number, "response", place] = document.span(part)
                self.tally.records += 1
        except (*UNREADABLE, KeyError) as error:
            raise UnreadableLogError(
                f"{self.log.source}: no chat session ({error})", hint="an object with `requests` is expected"
            ) from error

    def change(self, raw: Json, span: Span) -> None:
        """Learn a change; one of what is not there is counted."""
        change = _CHANGE.decode(raw)
        try:
            first = self._apply(change)
        except (LookupError, TypeError, AttributeError):
            count_unknown(self.tally, "change of what is not there")
            return
        path = tuple(change.k)
        if len(path) > _PART_DEPTH:
            self._later[path[:_PART_DEPTH]] = span
        elif first is None:
            self._forget(path, 0)
            self._places[path] = span
        else:
            self._forget(path, first)
            for number in range(first, first + _length(change.v)):
                self._places[*path, number] = span

    def _apply(self, change: _Change) -> int | None:
        """Make a change; of one that adds to a list give where it begins."""
        if change.kind == _INITIAL or not change.k:
            self._state = change.v
            return None
        *path, name = change.k
        holder = _at(self._state, path)
        if change.kind == _DELETE:
            holder.pop(name, None)
        elif change.kind == _SET:
            holder[name] = change.v
        else:
            held = holder.get(name) if isinstance(holder, dict) else holder[name]
            kept = list(held)[: change.i] if isinstance(held, list) else []
            holder[name] = kept + (change.v if isinstance(change.v, list) else [])
            return len(kept)
        return None

    def _forget(self, path: tuple[str | int, ...], first: int) -> None:
        """Forget the places of what was replaced, or lay behind the place where a list was cut."""
        end = len(path)
        for places in (self._places, self._later):
            for written in [place for place in places if len(place) > end and place[:end] == path]:
                number = written[end]
                if not isinstance(number, int) or number >= first:
                    del places[written]

    def settle(self) -> None:
        """Learn the requests of the whole session as it is at the end."""
        about = _converted(self._state, _About) or _About()
        self.name = plain(about.session_id)
        self.started_at = time_of_ms(about.creation_date)
        requests = self._state.get("requests") if isinstance(self._state, dict) else None
        for number, held in enumerate(requests if isinstance(requests, list) else ()):
            request = _converted(held, _Request)
            if request is None:
                count_unknown(self.tally, "request of another shape")
            else:
                self._learn_request(request, number)

    def _learn_request(self, request: _Request, number: int) -> None:
        place, at = self._place("requests", number), time_of_ms(request.timestamp)
        self.model = self.model or plain((request.model_id or "").rpartition("/")[2])
        text = request.message if isinstance(request.message, str) else request.message.text
        if not request.is_system_initiated:
            self.ask(text, place, at=at)
        group, pieces = 0, list[str]()
        for index, held in enumerate(request.response or ()):
            part, span = _converted(held, _Part), self._place("requests", number, "response", index)
            if part is None:
                count_unknown(self.tally, "part of another shape")
            elif part.kind == _CALL:
                answered = self._later.get(("requests", number, "response", index), span)
                self._learn_call(part, span, answered, f"{number} {group}", at)
                pieces.clear()
            elif part.kind in _TEXTS and (spoken := _text(part.value) or _text(part.content)):
                if not pieces:
                    group += 1
                pieces.append(spoken)
                if not self._goes_on(request.response or [], index):
                    self.say("".join(pieces), span, group=f"{number} {group}", at=at)
        self._learn_end(request, place, at)

    def _goes_on(self, response: list[object], index: int) -> bool:
        """Tell whether the next part is text as well: what the model says comes in pieces."""
        following = _converted(response[index + 1], _Part) if index + 1 < len(response) else None
        return following is not None and following.kind in _TEXTS

    def _learn_call(self, part: _Part, span: Span, answered: Span, group: str, at: str | None) -> None:
        data, details = part.tool_specific_data or _ToolData(), part.result_details
        about = details if isinstance(details, _Details) else _Details()
        command = (data.command_line.original if data.command_line else "") or data.command
        given = (
            {"command": command} if command else data.raw_input or about.input or _text(part.invocation_message)
        )
        if data.kind == "subagent":
            given = {"description": data.description, "prompt": data.prompt}
        argument = given if isinstance(given, str) else msgspec.json.encode(given).decode()
        call_id = part.tool_call_id or f"at {span.byte_start}"
        self.call(call_id, _SHELL if command else part.tool_id, argument, span, group=group, at=at)
        confirmed = part.is_confirmed.type if isinstance(part.is_confirmed, _Reason) else part.is_confirmed
        denied = confirmed in (False, _DENIED, _SKIPPED) and confirmed is not None
        if not (part.is_complete or denied or details is not None):
            return
        shown = data.terminal_command_output.text if data.terminal_command_output else data.result or ""
        text = _text(about.output) or shown
        code = data.terminal_command_state.exit_code if data.terminal_command_state else None
        failed = bool(about.is_error) or bool(code)
        if about.is_error is None and code is None:
            failed = looks_failed(text)
        self.answer(call_id, text, answered, failed=failed, denied=denied, at=None)

    def _learn_end(self, request: _Request, place: Span, at: str | None) -> None:
        failure = request.result.error_details if request.result else None
        if request.is_canceled or (failure and failure.code == "canceled"):
            self.conversation.mark("user_interrupt", "user", place, at=at)
            self.ended_by = "environment"
        elif failure and not failure.response_is_incomplete:
            kind, text = failure.code or "error", failure.message
            self.conversation.mark(kind, "environment", place, at=at, failed=True, error_text=text)
            self.ended_by = "environment"

    def _place(self, *path: str | int) -> Span:
        """Give the place of a part, or of what holds it."""
        while path and path not in self._places:
            path = path[:-1]
        return self._places.get(path, Span(0, 0, 1))


def _at(state: Any, path: Sequence[str | int]) -> Any:  # noqa: ANN401 - whatever JSON holds
    for name in path:
        state = state[name]
    return state


def _length(value: object) -> int:
    return len(value) if isinstance(value, list) else 0


def _text(value: object) -> str:
    """Give the text of a value: itself, that of a markdown string, or of the parts of an output."""
    if isinstance(value, dict):
        return _text(value.get("value") or value.get("text") or "")
    if isinstance(value, list):
        return "\n".join(filter(None, map(_text, value)))
    return value if isinstance(value, str) else ""


def _converted(value: object, shape: type[T]) -> T | None:
    try:
        return msgspec.convert(value, shape)
    except (msgspec.ValidationError, RecursionError):
        return None
