"""What a tool of Codex gave back: its text, and whether it failed, in the shapes of several versions."""

from __future__ import annotations

from typing import Final, NamedTuple

import msgspec
import re2

from strategies.logs.failures import looks_failed
from strategies.logs.json_places import UNREADABLE

_EXIT: Final = re2.compile(r"(?m)^(?:Process exited with code|Exit code:) (-?\d+)$")
_OUTPUT: Final = "Output:\n"
_HEAD_CHARS: Final = 400
"""The lines that Codex puts before the output itself (wall time, exit code, size) stand within these."""

_REFUSED: Final = (
    *("apply_patch verification failed", "failed to parse function arguments", "unsupported call: "),
    *("execution error: ", "unsupported custom tool call: ", "exec command rejected", "patch rejected"),
)
"""How an answer opens when the call never reached its tool."""


class Output(NamedTuple):
    """The text of an answer, and whether the call failed."""

    text: str
    failed: bool


class _Metadata(msgspec.Struct):
    exit_code: int | None = None


class _Text(msgspec.Struct):
    text: str | None = None


class _Body(msgspec.Struct):
    output: str | None = None
    content: str | list[_Text] | None = None
    metadata: _Metadata | None = None
    success: bool | None = None


_ANY: Final = msgspec.json.Decoder(str | list[_Text] | _Body)
_BODY: Final = msgspec.json.Decoder(_Body)


def told(raw: msgspec.Raw | bytes) -> Output:
    """Give what an answer tells; raises one of UNREADABLE for a shape that no version writes."""
    output = _ANY.decode(raw)
    if isinstance(output, str):
        return _of_text(output)
    if isinstance(output, list):
        return _of_text("\n".join(part.text for part in output if part.text))
    return _of_body(output)


def _of_text(text: str) -> Output:
    if text.startswith("{"):
        try:
            body = _BODY.decode(text)
        except UNREADABLE:
            body = _Body()
        if body.metadata:
            return _of_body(body)
    head = text[:_HEAD_CHARS]
    code = _EXIT.search(head)
    if code:
        _, found, rest = text.partition(_OUTPUT)
        return Output(rest if found else text, code[1] != "0")
    return Output(text, text.startswith(_REFUSED) or looks_failed(text))


def _of_body(body: _Body) -> Output:
    content = body.content or ""
    text = content if isinstance(content, str) else "\n".join(part.text for part in content if part.text)
    text = body.output or text
    if body.metadata and body.metadata.exit_code is not None:
        return Output(text, body.metadata.exit_code != 0)
    return Output(text, looks_failed(text) if body.success is None else not body.success)
