"""Claude Code session files: JSONL, one or more sessions a file, sub-agents as episodes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from registry.redaction import may_hold_secret, without_secrets
from strategies.logs.claude_records import ORIGIN, RECORD, Origin, Record
from strategies.logs.claude_session import Session
from strategies.logs.claude_telling import ClaudeTelling
from strategies.logs.episode import Malformed, Span
from strategies.logs.json_places import UNREADABLE
from strategies.logs.jsonl import count_unknown
from strategies.logs.marks import CONTEXT_OVERFLOW
from strategies.logs.records import plain_labels, plain_time
from strategies.logs.stream import BOM, START, Place

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from strategies.logs.episode import EpisodeRecord, Tally
    from strategies.logs.stream import LogFile

_SILENT: Final = frozenset(
    ["summary", "file-history-snapshot", "queue-operation", "attachment", "progress", "custom-title"]
)
"""Record types that are known and hold no step."""


_SPOKEN: Final = ("assistant", "user", "system")
"""Record types that may hold steps, the most frequent first: so few are sooner compared than hashed."""

_NEWLINE: Final = ord("\n")
_RETURN: Final = ord("\r")


class ClaudeCodeReader:
    """Reads Claude Code sessions; a sidechain is an episode named after the session and its first record."""

    name = "claude-code"
    telling: Final = ClaudeTelling()

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether records name a session; inside a string the quotes would be escaped."""
        del source
        return b'"type"' in head and (b'"sessionId"' in head or b'"leafUuid"' in head)

    def read(self, log: LogFile, tally: Tally) -> Iterator[EpisodeRecord]:
        """Yield the sessions in the order of their first record, once the file is read."""
        sessions = self.follow(log.source)
        sessions.learn(log, tally)
        yield from sessions.records()

    def follow(self, source: str, state: bytes = b"", place: Place = START) -> Sessions:
        """Begin a file, or go on with it."""
        return Sessions(source, _STATE.decode(state) if state else _State(), place)


class _State(msgspec.Struct):
    """All that is known of a file: its sessions, and which sub-agent a record of a sidechain goes on with."""

    sessions: dict[str, Session] = {}
    chains: dict[str, str] = {}


_STATE: Final = msgspec.msgpack.Decoder(_State)


class Sessions:
    """The sessions of one file while it is read."""

    def __init__(self, source: str, state: _State, place: Place) -> None:
        self.source = source
        self.place = place
        self._state = state
        self._sessions = state.sessions
        self._chains = state.chains
        self._untouched = set(state.sessions)
        for session in self._sessions.values():
            session.resume(source)

    def learn(self, log: LogFile, tally: Tally) -> None:
        """Read a log from its start place to its end."""
        with log.raw_lines() as lines:
            self._learn(lines, log.start, tally)

    def _learn(self, lines: Iterable[bytes], place: Place, tally: Tally) -> None:
        """Read lines that begin at a place: one function, since each call costs what a tenth of a line does."""
        offset, number = place
        blank, decode, silent, spoken = 0, RECORD.decode, _SILENT, _SPOKEN
        session: Session | None = None
        for raw in lines:
            number += 1
            start, offset = offset, offset + len(raw)
            if number == 1 and raw.startswith(BOM):
                raw, start = raw[len(BOM) :], start + len(BOM)  # noqa: PLW2901 - the mark is no part of the line
            try:
                record = decode(raw)
            except UNREADABLE as error:
                blank += self._unreadable(raw, start, number, error, tally)
                continue
            kind = record.type
            if kind in spoken:
                name = self._chain(record, raw) if record.is_sidechain else record.session_id
                if session is None or session.name != name:
                    session = self._session(name, record, raw)
                end = offset if raw[-1] != _NEWLINE else offset - 1 if raw[-2] != _RETURN else offset - 2
                span, message = Span(start, end, number), record.message
                if message is None:
                    self._learn_event(session, record, span, tally)
                elif kind == "assistant":
                    group = message.id or _origin(raw).uuid
                    session.assistant(message, group, span, record.timestamp)
                elif kind == "user" and session.user(record, message, span):
                    count_unknown(tally, "result without a call")
            elif kind not in silent:
                count_unknown(tally, kind)
        tally.records += number - place.line - blank
        self.place = Place(offset, number)

    def records(self) -> Iterator[EpisodeRecord]:
        """Give the records of the sessions that this reading met, as far as they were read."""
        for name, session in self._sessions.items():
            if session.drafts and name not in self._untouched:
                yield session.record()

    def state(self) -> bytes:
        """Give what is to be known when reading goes on; an id in which a secret stands is none of it."""
        for session in self._sessions.values():
            session.forget_secrets()
        if may_hold_secret("\n".join([*self._chains, *self._chains.values()])):
            plain_ids = (ids for ids in self._chains.items() if without_secrets(" ".join(ids)) == " ".join(ids))
            self._state.chains = dict(plain_ids)
        return msgspec.msgpack.encode(self._state)

    def _learn_event(self, session: Session, record: Record, span: Span, tally: Tally) -> None:
        if record.type != "system":
            count_unknown(tally, f"{record.type} without a message")
        elif record.subtype == "compact_boundary":
            session.mark(CONTEXT_OVERFLOW, "environment", span, record.timestamp)

    def _unreadable(self, raw: bytes, start: int, number: int, error: Exception, tally: Tally) -> int:
        """Count a bad line; returns 1 for a blank one, which is no record at all."""
        if not raw.strip():
            return 1
        tally.malformed.append(Malformed(self.source, number, start, str(error)))
        return 0

    def _session(self, name: str, record: Record, raw: bytes) -> Session:
        """Give the session that a record belongs to, begun with it where it is the first."""
        name = without_secrets(name)
        self._untouched.discard(name)
        session = self._sessions.get(name)
        if session:
            return session
        origin = _origin(raw)
        labels = plain_labels({"version": origin.version or "", "branch": origin.git_branch or ""})
        session = Session(name, self.source, plain_time(record.timestamp), labels)
        return self._sessions.setdefault(name, session)

    def _chain(self, record: Record, raw: bytes) -> str:
        """Name the sub-agent of a sidechain: its id, else the first record of its chain."""
        origin = _origin(raw)
        root = origin.agent_id or self._chains.get(origin.parent_uuid or "") or origin.uuid or ""
        if origin.uuid:
            self._chains[origin.uuid] = root
        return f"{record.session_id}/{root}"


def _origin(raw: bytes) -> Origin:
    try:
        return ORIGIN.decode(raw)
    except UNREADABLE:
        return Origin()  # one of its fields has another type
