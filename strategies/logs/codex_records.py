"""The shape of Codex's lines: only what is needed is decoded."""

from __future__ import annotations

from typing import Final

import msgspec


class Line(msgspec.Struct):
    """One line: a time, a type, and a payload of that type."""

    type: str
    payload: msgspec.Raw
    timestamp: str | None = None


class Kind(msgspec.Struct):
    """The type of a payload."""

    type: str = ""


class Git(msgspec.Struct):
    """Where a session was begun."""

    branch: str | None = None


class Meta(msgspec.Struct):
    """What opens a session."""

    id: str = ""
    cli_version: str | None = None
    git: Git | None = None


class Turn(msgspec.Struct):
    """What a turn runs with."""

    model: str | None = None


class Text(msgspec.Struct):
    """A piece of a message."""

    text: str | None = None


class Message(msgspec.Struct):
    """What somebody said."""

    role: str
    content: list[Text] = []

    @property
    def text(self) -> str:
        """All its pieces."""
        return "\n".join(part.text for part in self.content if part.text)


class Call(msgspec.Struct):
    """A call of a function, of a custom tool, or of one that the model's side offers (`web_search_call`)."""

    name: str = ""
    call_id: str | None = None
    arguments: msgspec.Raw = msgspec.Raw(b"")
    input: str = ""
    action: msgspec.Raw = msgspec.Raw(b"")

    @property
    def argument(self) -> str:
        """What it was called with; raises one of UNREADABLE where that is no text."""
        return _argument(self.arguments) or self.input or _argument(self.action)


class Answer(msgspec.Struct):
    """What a call gave back."""

    call_id: str = ""
    output: msgspec.Raw = msgspec.Raw(b'""')


class Event(msgspec.Struct):
    """What happened to the session."""

    reason: str | None = None
    message: str | None = None
    codex_error_info: str | dict[str, msgspec.Raw] | None = None

    @property
    def named(self) -> str:
        """The name of an error: it is one, or the first key of an object."""
        info = self.codex_error_info
        return info if isinstance(info, str) else next(iter(info), "") if info else ""


LINE: Final = msgspec.json.Decoder(Line)
KIND: Final = msgspec.json.Decoder(Kind)
META: Final = msgspec.json.Decoder(Meta)
TURN: Final = msgspec.json.Decoder(Turn)
MESSAGE: Final = msgspec.json.Decoder(Message)
CALL: Final = msgspec.json.Decoder(Call)
ANSWER: Final = msgspec.json.Decoder(Answer)
EVENT: Final = msgspec.json.Decoder(Event)
_STRING: Final = msgspec.json.Decoder(str)


def _argument(raw: msgspec.Raw) -> str:
    written = bytes(raw)
    return _STRING.decode(written) if written.startswith(b'"') else written.decode(errors="replace")
