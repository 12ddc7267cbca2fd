"""Reads JSON logs by a mapping: one record an episode, or one record a step of the episode that it names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import msgspec

from events.errors import UnreadableLogError
from strategies.episodes.conversation import Conversation
from strategies.episodes.episode import Episode, EpisodeOutcome
from strategies.episodes.episode_records import plain, plain_time
from strategies.episodes.error_fingerprint import looks_failed
from strategies.episodes.outcome_fields import outcome_in, outcome_value
from strategies.files.bounded_lines import fit_part
from strategies.files.json_offsets import JsonDocument, document_of
from strategies.files.json_records import is_document
from strategies.files.log_records import UNREADABLE, Malformed, Span, count_unknown
from strategies.logs.formats.mapped.json_paths import JsonPath

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from strategies.files.json_offsets import JsonPart
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally
    from strategies.logs.formats.mapped.log_mapping import LogMapping

_OF_STEPS: Final = ("actor", "text", "tool", "call_id", "argument", "result", "error", "time")
_OF_RECORDS: Final = (
    *("episode", "dataset", "task", "run", "difficulty"),
    *("prompt", "started_at", "outcome", "steps"),
)
_AGENT: Final = frozenset(["agent", "ai", "assistant", "bot", "gpt", "model"])
_USER: Final = frozenset(["user", "human", "person", "customer"])
_SILENT: Final = frozenset(["system", "developer"])
_ERRORS: Final = frozenset(["true", "yes", "1", "error", "failed", "failure", "fail"])
_NO_ERRORS: Final = frozenset(
    ("", "false", "no", "0", "none", "null", "ok", "pass", "passed", "success", "succeeded", "completed", "done")
)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_KEYS_SHOWN: Final = 8


class MappedReader:
    """The reader that a mapping makes; `counts` has, for each key with a path, the number of values it led to."""

    def __init__(self, mapping: LogMapping) -> None:
        self.name = mapping.name
        self.mapping = mapping
        self.counts = {key: 0 for key in (*_OF_RECORDS, *_OF_STEPS) if getattr(mapping, key)}
        self._paths = {key: JsonPath(getattr(mapping, key)) for key in ("records", *self.counts)}

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether a file opens as JSON: which files are meant its glob says, not what they hold."""
        del source
        return head.lstrip()[:1] in {b"{", b"["}

    def each_line(self, log: LogFile) -> bool:
        """Tell whether every line holds whole episodes."""
        return bool(self.mapping.steps) and not self.mapping.episode and not is_document(log)

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the episodes in the order of their first records; raises UnreadableLogError."""
        running: dict[str, _Running] = {}
        alone = bool(self.mapping.steps) and not self.mapping.episode
        for number, (document, part, line) in enumerate(self._records(log, tally)):
            tally.records += 1
            place = _place(document, part, line)
            try:
                values = msgspec.json.decode(fit_part(part.raw))
                steps = self._paths["steps"].parts(document, part) if self.mapping.steps else [part]
                decoded = [(msgspec.json.decode(step.raw), _place(document, step, line)) for step in steps]
            except UNREADABLE as error:
                tally.malformed.append(Malformed(log.source, place.line, place.byte_start, str(error)))
                continue
            if not decoded:
                reason = f"nothing at steps = {self.mapping.steps!r}; {_keys(values)}"
                tally.malformed.append(Malformed(log.source, place.line, place.byte_start, reason))
                continue
            if self.mapping.steps:
                self.counts["steps"] += 1
            name = str(line.line if line else number) if alone else self._text("episode", values) or log.stem
            episode = running.setdefault(name, _Running())
            self._learn_record(episode, values, tally)
            fits = [self._learn_step(episode.conversation, step, span, tally) for step, span in decoded]
            if not any(fits):
                reason = f"nothing at {', '.join(self._leading())}; a step has {_keys(decoded[0][0])}"
                tally.malformed.append(Malformed(log.source, place.line, place.byte_start, reason))
            if alone:
                yield from self._episodes(running, log)
                running.clear()
        yield from self._episodes(running, log)

    def _records(self, log: LogFile, tally: ReadTally) -> Iterator[tuple[JsonDocument, JsonPart, Span | None]]:
        """Give every record, in its document, and its line where it lies on one."""
        if is_document(log):
            document = document_of(log)
            try:
                parts = self._paths["records"].parts(document, document.root)
            except UNREADABLE as error:
                raise UnreadableLogError(
                    f"{log.source}: not a whole JSON document ({error})", hint="write one record a line (JSONL)"
                ) from error
            if not parts and document.root.raw:
                keys = _keys(msgspec.json.decode(document.root.raw))
                tally.records += 1
                tally.malformed.append(
                    Malformed(log.source, 1, 0, f"nothing at records = {self.mapping.records!r}; {keys}")
                )
            yield from ((document, part, None) for part in parts)
            return
        for raw, start, number in log.lines(tally):
            if not raw.strip():
                continue
            document, line = JsonDocument(raw), Span(start, start + len(raw), number)
            try:
                msgspec.json.decode(raw, type=dict | list)
                parts = self._paths["records"].parts(document, document.root)
            except UNREADABLE as error:
                tally.records += 1
                tally.malformed.append(Malformed(log.source, number, start, str(error)))
                continue
            yield from ((document, part, line) for part in parts)

    def _learn_record(self, episode: _Running, values: object, tally: ReadTally) -> None:
        for key in ("dataset", "task", "run", "difficulty", "prompt"):
            if text := self._text(key, values):
                episode.about.setdefault(key, text)
        episode.started_at = episode.started_at or _time_of(self._value("started_at", values))
        given = self._value("outcome", values)
        value = float(given in self.mapping.success) if self.mapping.success else outcome_value(given)
        if not self.mapping.outcome and isinstance(values, dict):
            given = value = outcome_in(values)
        if given is not None and value is None:
            count_unknown(tally, f"outcome {given}")
        elif given is not None and value is not None:
            episode.outcome = EpisodeOutcome(value, self.mapping.source)

    def _learn_step(self, conversation: Conversation, values: object, span: Span, tally: ReadTally) -> bool:
        """Add a step: calls and results, a result of an earlier call, or a message; False for none of them."""
        actor, text, at = self._text("actor", values).lower(), self._text("text", values), self._time(values)
        tools = [plain(_text_of(tool)) for tool in self._values("tool", values)]
        if any(tools):
            group = f"at {span.byte_start}"
            if text.strip():
                conversation.say("agent", text, span, group=group, at=at)
            self._learn_calls(conversation, tools, values, span, at)
            return True
        result = self._text("result", values) or text
        if actor and actor not in _AGENT | _USER | _SILENT:
            failed = self._failure(values, result)
            answered = conversation.answer(
                self._text("call_id", values),
                result,
                span,
                failed=failed is not None,
                error_text=failed or "",
                at=at,
            )
            if not answered:
                count_unknown(tally, f"role {actor}, which answers no call")
            return answered
        if text.strip() and actor not in _SILENT:
            conversation.say("user" if actor in _USER else "agent", text, span, at=at)
        elif actor not in _SILENT:
            count_unknown(tally, "step without a tool or a text")
        return bool(text.strip())

    def _learn_calls(
        self, conversation: Conversation, tools: list[str], values: object, span: Span, at: str | None
    ) -> None:
        several = len(tools) > 1
        beside = {
            key: self._values(key, values) if several else [self._text(key, values)]
            for key in ("call_id", "argument", "result")
        }
        for number, tool in enumerate(tools):
            call_id, argument, result = (_text_of(_nth(beside[key], number)) for key in beside)
            call_id = call_id or f"{span.byte_start} {number}"
            conversation.call(call_id, tool, argument, span, group=f"at {span.byte_start}", at=at)
            failed = self._failure(values, result)
            if failed is not None or result or (self.mapping.result and self._values("result", values)):
                conversation.answer(
                    call_id, result, span, failed=failed is not None, error_text=failed or "", at=None
                )

    def _failure(self, values: object, result: str) -> str | None:
        """Give what a failed call says of it, "" where its result does; None where it did not fail."""
        if not self.mapping.error:
            return "" if looks_failed(result) else None
        given = self._value("error", values)
        if self.mapping.failure:
            return "" if given in self.mapping.failure else None
        if not isinstance(given, str):
            return _message_of(given) if given else None
        word = given.strip().lower()
        return None if word in _NO_ERRORS else "" if word in _ERRORS else given

    def _episodes(self, running: dict[str, _Running], log: LogFile) -> Iterator[Episode]:
        for name, episode in running.items():
            if episode.conversation.steps:
                yield episode.episode(name, log, self.name)

    def _leading(self) -> list[str]:
        paths = ((key, self._paths[key].text) for key in ("tool", "text") if key in self._paths)
        return [f"{key} = {path!r}" for key, path in paths]

    def _values(self, key: str, values: object) -> list[object]:
        path = self._paths.get(key)
        there = [value for value in path.values(values) if value is not None] if path else []
        if there:
            self.counts[key] += 1
        return there

    def _value(self, key: str, values: object) -> object:
        return next(iter(self._values(key, values)), None)

    def _text(self, key: str, values: object) -> str:
        return "\n".join(text for value in self._values(key, values) if (text := _text_of(value)))

    def _time(self, values: object) -> str | None:
        return _time_of(self._value("time", values))


class _Running:
    """An episode whose records still come."""

    def __init__(self) -> None:
        self.conversation = Conversation()
        self.about: dict[str, str] = {}
        self.started_at: str | None = None
        self.outcome: EpisodeOutcome | None = None

    def episode(self, name: str, log: LogFile, log_format: str) -> Episode:
        about = self.about
        return Episode(
            id=name,
            source=log.source,
            format=log_format,
            dataset=about.get("dataset", ""),
            task=about.get("task", ""),
            run=about.get("run", ""),
            difficulty=about.get("difficulty", ""),
            prompt=about.get("prompt") or self.conversation.prompt,
            started_at=self.started_at,
            outcome=self.outcome,
            steps=tuple(self.conversation.steps),
        )


def _place(document: JsonDocument, part: JsonPart, line: Span | None) -> Span:
    if line is None:
        return document.span(part)
    return Span(line.byte_start + part.byte_start, line.byte_start + part.byte_end, line.line)


def _nth(values: Sequence[object], number: int) -> object:
    return values[number] if number < len(values) else None


def _text_of(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return msgspec.json.encode(value).decode()


def _message_of(error: object) -> str:
    """Give what an error that is an object says; a number or true says nothing."""
    if isinstance(error, dict):
        return next(
            (_text_of(error[key]) for key in ("message", "error", "detail") if error.get(key)), _text_of(error)
        )
    return "" if isinstance(error, (bool, int, float)) else _text_of(error)


def _time_of(value: object) -> str | None:
    """Give a time as RFC 3339; a number counts from 1970 in seconds, or in thousandths of them as it is larger."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return plain_time(value) if isinstance(value, str) else None
    seconds = float(value)
    while abs(seconds) > 1e11:  # noqa: PLR2004 - the year 5138 in seconds, 1973 in milliseconds
        seconds /= 1000
    try:
        return (_EPOCH + timedelta(seconds=seconds)).isoformat()
    except (OverflowError, ValueError):
        return None


def _keys(values: object) -> str:
    """Name the keys of a record that did not fit, for a person to choose from."""
    if not isinstance(values, dict):
        return f"a {type(values).__name__}"
    return f"its keys: {', '.join(map(plain, list(values)[:_KEYS_SHOWN]))}"
