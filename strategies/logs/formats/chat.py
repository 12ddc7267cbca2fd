"""Chat messages in the shapes of OpenAI and Anthropic: one JSON document, or JSONL.

A document is a list of messages, an object that holds one, or a list of such objects; a line of JSONL is such
an object, or one message of a single conversation. Of the siblings of the messages only those named below are
read: gold answers that a file happens to carry (tau-bench's `info.task.actions`) never are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from events.errors import UnreadableLogError
from strategies.episodes.action_class import HAND_IN_TOOLS
from strategies.episodes.conversation import Conversation
from strategies.episodes.episode import EndedBy, Episode, EpisodeOutcome
from strategies.episodes.episode_records import plain
from strategies.episodes.outcome_fields import OUTCOME_FIELDS, outcome_in
from strategies.episodes.usage import NOTHING_SPENT, Usage, first_known, total
from strategies.files.bounded_lines import fit_part
from strategies.files.json_offsets import JsonDocument, JsonPart, document_of, plain_values
from strategies.files.json_records import is_document, object_in
from strategies.files.log_records import UNREADABLE, Malformed, NotObject, Span, count_unknown
from strategies.logs.formats.chat_messages import MESSAGE, ChatMessage, ChatUsage, learn_message, usage_in

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally
    from strategies.logs.formats.chat_messages import MessageOffsets

HOLDERS: Final = ("messages", "traj", "history", "conversation", "trajectory")
"""The names under which an object holds its messages; the first that is there counts."""

_ENDING_TOOLS: Final = HAND_IN_TOOLS | {"transfer_to_human_agents"}
"""Tools by which an agent ends its own run. One that stops after another call was cut off, or still runs."""

_SIBLINGS: Final = (
    *("id", "task_id", "trial", "dataset", "environment", "env", "run", "model", "difficulty", "hardness"),
    *OUTCOME_FIELDS,
)
_COSTS: Final = ("agent_cost", "total_cost", "cost_usd", "cost")
"""Siblings that say what the agent's calls of its model cost; tau2-bench tells those of its user apart."""
_FIRST_LINES: Final = 50
"""How many lines are looked at for the first object: others are damaged."""

About = dict[str, str | float]
_USAGE: Final = msgspec.json.Decoder(ChatUsage | NotObject)


class ChatReader:
    """Reads lists of messages; the most general format, so the last to be asked."""

    name = "chat"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether there are messages with roles: the file opens as JSON, or most of its lines do."""
        del source
        if b'"role"' not in head or not (b'"content"' in head or b'"tool_calls"' in head):
            return False
        lines = [line for line in head.split(b"\n")[:_FIRST_LINES] if line.strip()]
        opening = sum(line.startswith((b"{", b"[")) for line in lines)
        return head.lstrip().startswith((b"{", b"[")) or 2 * opening > len(lines)

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the conversations in the order of the file."""
        if self.each_line(log):
            return _read_conversations(log, tally)
        return _read_messages(log, tally) if not is_document(log) else _read_document(log, tally)

    def each_line(self, log: LogFile) -> bool:
        """Tell whether the first line that holds an object holds a whole conversation."""
        lines = log.first(_FIRST_LINES) if not is_document(log) else ()
        first = next((members for line in lines if (members := object_in(line)) is not None), None)
        return first is not None and "role" not in first


class _Inside:
    """Places of a message in a document: the JSON tokens themselves."""

    def __init__(self, document: JsonDocument, part: JsonPart) -> None:
        self._document = document
        self._part = part

    def at(self, *path: str | int) -> Span:
        part = self._part
        for name in path:
            try:
                part = self._document.child(part, name)
            except UNREADABLE:
                break
        return self._document.span(part)


class _OnLine:
    """Places of a message on a line of JSONL: the line."""

    def __init__(self, span: Span) -> None:
        self._span = span

    def at(self, *path: str | int) -> Span:
        del path
        return self._span


def _read_document(log: LogFile, tally: ReadTally) -> Iterator[Episode]:
    document = document_of(log)
    root = document.root
    try:
        parts = [root]
        if root.opens_with(b"["):
            parts = list(document.elements(root))
            if parts and "role" in document.members(parts[0]):
                parts = [root]
    except UNREADABLE as error:
        raise UnreadableLogError(
            f"{log.source}: not a whole JSON document ({error})", hint="a list of messages or of conversations"
        ) from error
    for place, part in enumerate(parts):
        run = log.stem if len(parts) > 1 else ""
        yield from _conversation(log, tally, document, part, name=str(place), run=run, line=None)


def _read_conversations(log: LogFile, tally: ReadTally) -> Iterator[Episode]:
    """Read a log in which each line is a conversation; a message between them belongs to none."""
    for document, span, members in _objects(log, tally):
        if "role" in members:
            tally.records += 1
            count_unknown(tally, "message outside of a conversation")
        else:
            yield from _of_line(log, tally, document, span)


def _read_messages(log: LogFile, tally: ReadTally) -> Iterator[Episode]:
    """Read a log in which each line is a message of one conversation; whole ones may come between them."""
    alone = _ChatEpisode(tally)
    for document, span, members in _objects(log, tally):
        if "role" in members:
            alone.learn(document.root.raw, _OnLine(span), log.source, span)
        else:
            yield from _of_line(log, tally, document, span)
    if alone.conversation.steps:
        yield alone.episode(log, {}, name="0", run="")


def _objects(log: LogFile, tally: ReadTally) -> Iterator[tuple[JsonDocument, Span, Collection[str]]]:
    """Yield every line that is an object, with its place and the names of its members; count the others."""
    for raw, start, number in log.lines(tally):
        if not raw.strip():
            continue
        document = JsonDocument(raw)
        try:
            members = document.members(document.root)
        except UNREADABLE as error:
            tally.records += 1
            tally.malformed.append(Malformed(log.source, number, start, str(error)))
        else:
            yield document, Span(start, start + len(raw), number), members


def _of_line(log: LogFile, tally: ReadTally, document: JsonDocument, span: Span) -> Iterator[Episode]:
    name = str(span.line)
    return _conversation(log, tally, document, document.root, name=name, run=log.stem, line=span)


def _conversation(
    log: LogFile,
    tally: ReadTally,
    document: JsonDocument,
    part: JsonPart,
    *,
    name: str,
    run: str,
    line: Span | None,
) -> Iterator[Episode]:
    chat = _ChatEpisode(tally)
    try:
        members = {} if part.opens_with(b"[") else document.members(part)
        held = next((members[holder] for holder in HOLDERS if holder in members), part)
        if not held.opens_with(b"["):
            raise msgspec.DecodeError("no list of messages in it")
        messages = list(document.elements(held))
        about = plain_values(members, (*_SIBLINGS, *_COSTS))
        if "usage" in members:
            chat.beside = _USAGE.decode(fit_part(members["usage"].raw))
    except UNREADABLE as error:
        place = line or document.span(part)
        tally.records += 1
        tally.malformed.append(Malformed(log.source, place.line, place.byte_start, str(error)))
        return
    for message in messages:
        places: MessageOffsets = _OnLine(line) if line else _Inside(document, message)
        chat.learn(message.raw, places, log.source, line or document.span(message))
    yield chat.episode(log, about, name=name, run=run)


class _ChatEpisode:
    """One conversation while its messages come."""

    def __init__(self, tally: ReadTally) -> None:
        self.conversation = Conversation()
        self._tally = tally
        self._last: ChatMessage | None = None
        self._count = 0
        self._spent: list[Usage] = []
        self.beside: ChatUsage | NotObject = None
        """The usage that is written beside the messages."""

    def learn(self, raw: bytes | msgspec.Raw, places: MessageOffsets, source: str, span: Span) -> None:
        self._tally.records += 1
        try:
            message = MESSAGE.decode(fit_part(raw))
            learn_message(self.conversation, message, places, self._tally, group=str(self._count))
        except UNREADABLE as error:
            self._tally.malformed.append(Malformed(source, span.line, span.byte_start, str(error)))
        else:
            self._last = message
            self._count += 1
            model = plain(message.model) if isinstance(message.model, str) else ""
            self._spent.append(usage_in(message.usage, message.cost, model))

    def episode(self, log: LogFile, about: About, *, name: str, run: str) -> Episode:
        task = _text(about, "task_id")
        trial = _text(about, "trial")
        outcome = self._outcome(about)
        return Episode(
            id=_text(about, "id") or (f"{task}/{trial}" if task and trial else name),
            source=log.source,
            format=ChatReader.name,
            dataset=_text(about, "dataset", "environment", "env"),
            task=task,
            run=_text(about, "run", "model") or run,
            difficulty=_text(about, "difficulty", "hardness"),
            labels={"trial": trial} if trial else {},
            prompt=self.conversation.prompt,
            outcome=outcome,
            ended_by=self._ended_by(cut_off="limit" if outcome else "unknown"),
            steps=tuple(self.conversation.steps),
            usage=self._usage(about),
        )

    def _usage(self, about: About) -> Usage | None:
        """Give what is written beside the conversation, and for what is not the sum of its messages."""
        cost = next((about[name] for name in _COSTS if name in about), None)
        whole = usage_in(self.beside, cost, plain(_text(about, "model")))
        return total([first_known(whole, total(self._spent) or NOTHING_SPENT)])

    def _outcome(self, about: About) -> EpisodeOutcome | None:
        value = outcome_in(about)
        if value is None and not about.keys().isdisjoint(OUTCOME_FIELDS):
            count_unknown(self._tally, "outcome outside 0 to 1")
        return None if value is None else EpisodeOutcome(value, "reward")

    def _ended_by(self, *, cut_off: EndedBy) -> EndedBy:
        last = self._last
        if last is None:
            return "unknown"
        if last.finish_reason == "length" or last.stop_reason == "max_tokens":
            return "limit"
        if last.role in {"user", "human"}:
            return "environment"
        calls = [step for step in self.conversation.steps if step.kind == "call"]
        if last.calls or last.role in {"tool", "function"}:
            return "agent" if calls and calls[-1].tool in _ENDING_TOOLS else cut_off
        return "agent"


def _text(about: About, *names: str) -> str:
    return next((str(about[name]) for name in names if about.get(name, "") != ""), "")
