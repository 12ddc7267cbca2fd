"""Claude Code session files: JSONL, one or more sessions a file, sub-agents as episodes of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from registry.evidence.redaction import may_hold_secret, without_secrets
from strategies.episodes.episode_records import plain, plain_labels, plain_time
from strategies.episodes.step_marks import CONTEXT_OVERFLOW
from strategies.files.bounded_lines import LONG_LINE_BYTES, fit, missing_bytes
from strategies.files.log_file import BOM, START, LogPosition
from strategies.files.log_records import UNREADABLE, Malformed, ReadTally, Span, count_unknown
from strategies.logs.formats.claude_schema import ORIGIN, RECORD, ClaudeRecord, ClaudeRecordTexts, RecordOrigin
from strategies.logs.formats.claude_session import ClaudeSession
from strategies.logs.formats.claude_transcript import WholeClaudeSession

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from strategies.episodes.episode import EpisodeRecord
    from strategies.episodes.whole_episode import WholeEpisode
    from strategies.files.log_file import LogFile

_SILENT: Final = frozenset(
    """
    summary file-history-snapshot queue-operation attachment progress custom-title ai-title last-prompt agent-name
    agent-color agent-setting assistant user system tag mode pr-link worktree-state permission-mode task-summary
    content-replacement
    """.split()  # noqa: SIM905 - as a list these are sixteen lines
)
"""Record types that are known and hold no step, and those that hold none in a copy (`forkedFrom`)."""


_SPOKEN: Final = ("assistant", "user", "system")
"""Record types that may hold steps, the most frequent first: so few are sooner compared than hashed."""

_SIDECARS: Final = ("sessions-index.json", ".meta.json")
"""What Claude Code keeps beside sessions: lists of them, and what a sub-agent was called for."""

_NEWLINE: Final = ord("\n")
_RETURN: Final = ord("\r")


class ClaudeCodeReader:
    """Reads Claude Code sessions; a sidechain is an episode named after the session and its first record."""

    name = "claude-code"
    record_texts: Final = ClaudeRecordTexts()

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether records name a session; inside a string the quotes would be escaped."""
        return (
            not source.endswith(_SIDECARS)
            and not (b'"messageId"' in head and b'"uuid"' not in head)  # what was typed into Gemini CLI
            and b'"type"' in head
            and (b'"sessionId"' in head or b'"leafUuid"' in head)
        )

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[EpisodeRecord]:
        """Yield the sessions in the order of their first record, once the file is read."""
        sessions = self.follow(log.source)
        sessions.learn(log, tally)
        yield from sessions.records()

    def read_whole(self, log: LogFile, records: Collection[EpisodeRecord]) -> Iterator[WholeEpisode]:
        """Yield the sessions that records were made of, with their texts."""
        sessions = ClaudeSessions(log.source, _State(), START, frozenset(record.name for record in records))
        sessions.learn(log, ReadTally())
        yield from sessions.whole_episodes()

    def follow(self, source: str, state: bytes = b"", place: LogPosition = START) -> ClaudeSessions:
        """Begin a file, or go on with it."""
        return ClaudeSessions(source, _STATE.decode(state) if state else _State(), place)


class _State(msgspec.Struct):
    """All that is known of a file: its sessions, and which sub-agent a record of a sidechain goes on with."""

    sessions: dict[str, ClaudeSession] = {}
    chains: dict[str, str] = {}


_STATE: Final = msgspec.msgpack.Decoder(_State)


class ClaudeSessions:
    """The sessions of one file while it is read; those named in `whole` keep their texts."""

    def __init__(
        self, source: str, state: _State, place: LogPosition, whole: frozenset[str] = frozenset()
    ) -> None:
        self.source = source
        self._whole = whole
        self.place = place
        self._state = state
        self._sessions = state.sessions
        self._chains = state.chains
        self._untouched = set(state.sessions)
        for session in self._sessions.values():
            session.resume(source)

    def learn(self, log: LogFile, tally: ReadTally) -> None:
        """Read a log from its start place to its end."""
        if log.holds_values:
            for raw, start, number in log.lines(tally):
                self._learn((raw,), LogPosition(start, number - 1), tally)
            return
        with log.raw_lines() as lines:
            self._learn(lines, log.start, tally)

    def _learn(self, lines: Iterable[bytes], place: LogPosition, tally: ReadTally) -> None:
        """Read lines that begin at a place: one function, since each call costs what a tenth of a line does."""
        offset, number = place
        blank, decode, silent, spoken = 0, RECORD.decode, _SILENT, _SPOKEN
        session: ClaudeSession | None = None
        for raw in lines:
            number += 1
            start, offset = offset, offset + len(raw)
            if number == 1 and raw.startswith(BOM):
                raw, start = raw[len(BOM) :], start + len(BOM)  # noqa: PLW2901 - the mark is no part of the line
            try:
                record = decode(raw) if offset - start <= LONG_LINE_BYTES else decode(fit(raw))
            except UNREADABLE as error:
                offset += missing_bytes(raw)
                blank += self._unreadable(raw, start, number, error, tally)
                continue
            kind = record.type
            if kind in spoken and record.forked_from is None:
                name = self._chain(record, raw) if record.is_sidechain else record.session_id
                if session is None or session.name != name:
                    session = self._session(name, record, raw)
                end = offset if raw[-1] != _NEWLINE else offset - 1 if raw[-2] != _RETURN else offset - 2
                span, message = Span(start, end, number), record.message
                if message is None:
                    self._learn_event(session, record, span, tally)
                elif kind == "assistant":
                    session.chained = session.chained or record.parent_uuid.__class__ is str
                    group = message.id or _origin(raw).uuid
                    session.assistant(message, group, span, record.timestamp, record.cost)
                elif kind == "user" and session.user(record, message, span):
                    count_unknown(tally, "result without a call")
            elif kind not in silent:
                count_unknown(tally, kind)
        tally.records += number - place.line - blank
        self.place = LogPosition(offset, number)

    def records(self) -> Iterator[EpisodeRecord]:
        """Give the records of the sessions that this reading met, as far as they were read."""
        for name, session in self._sessions.items():
            if session.steps and name not in self._untouched:
                yield session.record()

    def whole_episodes(self) -> Iterator[WholeEpisode]:
        """Give the sessions that keep their texts."""
        return (each.episode() for each in self._sessions.values() if isinstance(each, WholeClaudeSession))

    def state(self) -> bytes:
        """Give what is to be known when reading goes on; an id that holds a secret is left out."""
        for session in self._sessions.values():
            session.forget_secrets()
        if may_hold_secret("\n".join([*self._chains, *self._chains.values()])):
            plain_ids = (ids for ids in self._chains.items() if without_secrets(" ".join(ids)) == " ".join(ids))
            self._state.chains = dict(plain_ids)
        return msgspec.msgpack.encode(self._state)

    def _learn_event(self, session: ClaudeSession, record: ClaudeRecord, span: Span, tally: ReadTally) -> None:
        if record.type != "system":
            count_unknown(tally, f"{record.type} without a message")
        elif record.subtype == "compact_boundary":
            session.mark(CONTEXT_OVERFLOW, "environment", span, at=record.timestamp)
            session.prompts.clear()  # what follows hangs on no record from before

    def _unreadable(self, raw: bytes, start: int, number: int, error: Exception, tally: ReadTally) -> int:
        """Count a bad line; returns 1 for a blank one, which is no record at all."""
        if not raw.strip():
            return 1
        tally.malformed.append(Malformed(self.source, number, start, str(error)))
        return 0

    def _session(self, name: str, record: ClaudeRecord, raw: bytes) -> ClaudeSession:
        """Give the session that a record belongs to, begun with it where it is the first."""
        name = without_secrets(name)
        self._untouched.discard(name)
        session = self._sessions.get(name)
        if session:
            return session
        origin = _origin(raw)
        parent = record.session_id if record.is_sidechain else ""
        labels = plain_labels(
            {"version": origin.version or "", "branch": origin.git_branch or "", "parent": parent}
        )
        kind = WholeClaudeSession if plain(name) in self._whole else ClaudeSession
        session = kind(
            name=name, source=self.source, started_at=plain_time(record.timestamp), labels=labels, spent={}
        )
        return self._sessions.setdefault(name, session)

    def _chain(self, record: ClaudeRecord, raw: bytes) -> str:
        """Name the sub-agent of a sidechain: its id, else the first record of its chain."""
        origin = _origin(raw)
        root = origin.agent_id or self._chains.get(origin.parent_uuid or "") or origin.uuid or ""
        if origin.uuid:
            self._chains[origin.uuid] = root
        return f"{record.session_id}/{root}"


def _origin(raw: bytes) -> RecordOrigin:
    try:
        return ORIGIN.decode(raw)
    except UNREADABLE:
        return RecordOrigin()  # one of its fields has another type
