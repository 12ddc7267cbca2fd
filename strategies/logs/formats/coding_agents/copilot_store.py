"""`session-store.db` of GitHub Copilot CLI: what was asked and answered in each turn, which files tools touched.

What tools gave back is not in it. A session whose events lie beside it is read from there (copilot_cli.py).
Source: third-party readers of the store, which agree; no page of GitHub's describes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from strategies.episodes.episode_records import plain, plain_time
from strategies.files.log_records import typed_lines
from strategies.logs.formats.coding_agents.session import Session

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.episodes.episode import Episode
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally, Span

_HEAD: Final = b'{"store":"copilot-store"'
_EVENTS: Final = ("session-state", "events.jsonl")


class _Row(msgspec.Struct):
    """One row of one of the three tables, or the head of a file of rows."""

    store: str = ""
    table: str = ""
    id: str = ""
    branch: str | None = None
    created_at: str | None = None
    turn_index: int | None = None
    user_message: str | None = None
    assistant_response: str | None = None
    timestamp: str | None = None
    file_path: str | None = None
    tool_name: str | None = None


_ROW: Final = msgspec.json.Decoder(_Row)


class CopilotStoreReader:
    """Reads the store of sessions of GitHub Copilot CLI."""

    name = "copilot-store"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether the file is such a store (strategies/files/stores.py)."""
        del source
        return head.startswith(_HEAD)

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the sessions in the order of the store, without those that are read from their events."""
        session: _StoredSession | None = None
        for row, span in typed_lines(log, _ROW, tally):
            if row.table == "sessions":
                yield from session.settled(self.name) if session else ()
                folder, events = _EVENTS
                elsewhere = (log.path.parent / folder / (row.id or "?") / events).is_file()
                session = None if elsewhere else _StoredSession(log, tally, row)
            elif session and not row.store:
                session.keep(row, span)
            tally.records -= session is None  # of a session that is read from its events
        yield from session.settled(self.name) if session else ()


class _StoredSession(Session):
    """A session; its rows are gathered, for the files of all turns come before the turns."""

    def __init__(self, log: LogFile, tally: ReadTally, row: _Row) -> None:
        super().__init__(log, tally)
        self.name = plain(row.id)
        self.started_at = _time(row.created_at)
        self.labels = {"branch": plain(row.branch or "")}
        self._turns: list[tuple[_Row, Span]] = []
        self._touched: dict[int | None, list[tuple[_Row, Span]]] = {}

    def keep(self, row: _Row, span: Span) -> None:
        if row.table == "turns":
            self._turns.append((row, span))
        else:
            self._touched.setdefault(row.turn_index, []).append((row, span))

    def settled(self, log_format: str) -> Iterator[Episode]:
        """Give the episode."""
        for turn, span in sorted(self._turns, key=lambda turn: turn[0].turn_index or 0):
            at, group = _time(turn.timestamp), f"turn {turn.turn_index}"
            self.ask(turn.user_message or "", span, at=at)
            for number, (file, place) in enumerate(self._touched.get(turn.turn_index, ())):
                argument = msgspec.json.encode({"path": file.file_path or ""}).decode()
                self.call(f"{group} {number}", file.tool_name or "", argument, place, group=group, at=at)
            answered = turn.assistant_response or ""
            self.say(answered, span, group="", at=at)
            self.ended_by = "agent" if answered.strip() else "unknown"
        yield from self.episodes(log_format)


def _time(text: str | None) -> str | None:
    """Give a time of the store, which may have a space in the place of the T."""
    return plain_time(text.replace(" ", "T", 1)) if text else None
