"""What single lines of a Codex rollout say, for what is asked after they were read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.logs.codex_output import told
from strategies.logs.codex_records import ANSWER, CALL, KIND, LINE, MESSAGE
from strategies.logs.json_places import UNREADABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import msgspec


class CodexTelling:
    """Reads lines of a rollout."""

    def said_in(self, raw: bytes) -> str:
        """Give the message on a line."""
        try:
            kind, payload = _item(raw)
            return MESSAGE.decode(payload).text if kind == "message" else ""
        except UNREADABLE:
            return ""

    def calls_in(self, raw: bytes) -> Sequence[tuple[str, str]]:
        """Give the call on a line."""
        try:
            kind, payload = _item(raw)
            calls = [CALL.decode(payload)] if kind.endswith("_call") else []
            return [(call.call_id or "", call.argument) for call in calls]
        except UNREADABLE:
            return []

    def answers_in(self, raw: bytes) -> Sequence[tuple[str, str]]:
        """Give what the call that is answered on a line gave back."""
        try:
            kind, payload = _item(raw)
            answers = [ANSWER.decode(payload)] if kind.endswith("_output") else []
            return [(answer.call_id, told(answer.output).text) for answer in answers]
        except UNREADABLE:
            return []


def _item(raw: bytes) -> tuple[str, msgspec.Raw]:
    line = LINE.decode(raw)
    return (KIND.decode(line.payload).type if line.type == "response_item" else ""), line.payload
