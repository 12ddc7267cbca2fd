"""OpenHands: events as a JSON array or JSON Lines, and the results of its evaluations, one run a line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from events.errors import UnreadableLogError
from strategies.episodes.episode import Episode, EpisodeOutcome
from strategies.episodes.episode_records import plain
from strategies.episodes.skill_use import ran_under, skills_used
from strategies.episodes.usage import total, usage_of
from strategies.files.bounded_lines import fit_part
from strategies.files.json_offsets import JsonDocument, JsonPart, document_of
from strategies.files.log_records import UNREADABLE, Malformed, NotObject, Span, count_unknown
from strategies.logs.formats.openhands_run import OpenHandsRun
from strategies.logs.formats.openhands_schema import EVENT, OpenHandsMetrics, readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from strategies.files.log_file import LogFile
    from strategies.files.log_records import ReadTally

_KINDS: Final = (b'"kind":"ActionEvent"', b'"kind":"ObservationEvent"', b'"kind":"MessageEvent"')
_SOURCES: Final = (b'"source":"agent"', b'"source":"user"', b'"source":"environment"')


class _Report(msgspec.Struct):
    resolved: bool | None = None


class _TestResult(msgspec.Struct):
    report: _Report | None = None
    resolved: bool | None = None


class _LlmConfig(msgspec.Struct):
    model: str | None = None


class _Metadata(msgspec.Struct):
    llm_config: _LlmConfig | None = None
    dataset: str | None = None
    agent_class: str | None = None


class _About(msgspec.Struct):
    """The fields beside the events of an evaluation."""

    instance_id: str | int | None = None
    instruction: str | None = None
    test_result: _TestResult | None = None
    report: _Report | None = None
    resolved: bool | None = None
    metadata: _Metadata | None = None
    metrics: OpenHandsMetrics | NotObject = None

    @property
    def outcome(self) -> EpisodeOutcome | None:
        """The result of the evaluation's tests."""
        tested = self.test_result or _TestResult()
        verdicts = (self.resolved, (self.report or tested.report or _Report()).resolved, tested.resolved)
        resolved = next((verdict for verdict in verdicts if verdict is not None), None)
        return None if resolved is None else EpisodeOutcome(float(resolved), "tests")


_ABOUT: Final = msgspec.json.Decoder(_About)


class OpenHandsReader:
    """Reads events of OpenHands."""

    name = "openhands"

    def sniff(self, head: bytes, source: str) -> bool:
        """Tell whether there are events with a source, by their action or their kind."""
        del source
        if head.lstrip()[:1] not in {b"{", b"["}:
            return False
        compact = head.replace(b" ", b"").replace(b"\n", b"")
        sourced = any(form in compact for form in _SOURCES)
        application = b'"action":"' in compact and b'"args":{' in compact
        return sourced and (application or any(kind in compact for kind in _KINDS))

    def read(self, log: LogFile, tally: ReadTally) -> Iterator[Episode]:
        """Yield the run whose events the file holds, or every run of an evaluation."""
        if self.each_line(log):
            return _read_results(log, tally)
        return _read_events(log, tally) if _line_delimited(log.head()) else _read_document(log, tally)

    def each_line(self, log: LogFile) -> bool:
        """Tell whether the first line holds the result of an evaluation."""
        return _line_delimited(log.head()) and any(
            _history(JsonDocument(line)) is not None for line in log.first(1)
        )


def _line_delimited(head: bytes) -> bool:
    first, newline, _ = head.lstrip().partition(b"\n")
    return not first.startswith(b"[") and (readable(first) or not newline)


def _read_results(log: LogFile, tally: ReadTally) -> Iterator[Episode]:
    """Read a log in which each line is the result of an evaluation; an event between them belongs to none."""
    for document, line in _documents(log, tally):
        history = _history(document)
        if history is not None:
            yield from _evaluation(log, tally, document, history, line)
        elif _learn(OpenHandsRun(), document.root.raw, line, log.source, tally):
            count_unknown(tally, "event outside of a run")


def _read_events(log: LogFile, tally: ReadTally) -> Iterator[Episode]:
    """Read a log in which each line is an event of one run; results of others may come between them."""
    alone = OpenHandsRun()
    for document, line in _documents(log, tally):
        history = _history(document)
        if history is None:
            _learn(alone, document.root.raw, line, log.source, tally)
        else:
            yield from _evaluation(log, tally, document, history, line)
    if alone.conversation.steps:
        yield _episode(alone, log, log.stem, _About())


def _documents(log: LogFile, tally: ReadTally) -> Iterator[tuple[JsonDocument, Span]]:
    """Yield every line that is not blank, with its place."""
    for raw, start, number in log.lines(tally):
        if raw.strip():
            yield JsonDocument(raw), Span(start, start + len(raw), number)


def _read_document(log: LogFile, tally: ReadTally) -> Iterator[Episode]:
    document = document_of(log)
    history = _history(document)
    if history is not None:
        yield from _evaluation(log, tally, document, history, Span(0, 0, 1))
        return
    try:
        events = list(document.elements(document.root))
    except UNREADABLE as error:
        raise UnreadableLogError(
            f"{log.source}: not a whole JSON document ({error})", hint="an array of events is expected"
        ) from error
    run = OpenHandsRun()
    for part in events:
        _learn(run, part.raw, document.span(part), log.source, tally)
    if run.conversation.steps:
        yield _episode(run, log, log.stem, _About())


def _history(document: JsonDocument) -> JsonPart | None:
    """Give the events inside the result of an evaluation, None where the document is none."""
    try:
        return document.members(document.root).get("history") if document.root.opens_with(b"{") else None
    except UNREADABLE:
        return None  # decoding the document itself meets the same error, and counts it


def _evaluation(
    log: LogFile, tally: ReadTally, document: JsonDocument, history: JsonPart, line: Span
) -> Iterator[Episode]:
    """Read one result; places inside a line are those of the file."""
    run = OpenHandsRun()
    try:
        about = _ABOUT.decode(document.root.raw)
        events = [event for part in document.elements(history) for event in _paired(document, part)]
    except UNREADABLE as error:
        tally.records += 1
        tally.malformed.append(Malformed(log.source, line.line, line.byte_start, str(error)))
        return
    for part in events:
        inside = document.span(part)
        first = line.byte_start
        place = Span(first + inside.byte_start, first + inside.byte_end, line.line + inside.line - 1)
        _learn(run, part.raw, place, log.source, tally)
    yield _episode(run, log, str(about.instance_id or line.line), about)


def _paired(document: JsonDocument, part: JsonPart) -> list[JsonPart]:
    """Give an event, or both of a pair: old evaluations keep an action beside its observation."""
    return list(document.elements(part)) if part.opens_with(b"[") else [part]


def _learn(run: OpenHandsRun, raw: bytes | msgspec.Raw, place: Span, source: str, tally: ReadTally) -> bool:
    """Learn an event; tells whether it could be read."""
    tally.records += 1
    try:
        run.learn(EVENT.decode(fit_part(raw)), place, tally)
    except UNREADABLE as error:
        tally.malformed.append(Malformed(source, place.line, place.byte_start, str(error)))
        return False
    return True


def _episode(run: OpenHandsRun, log: LogFile, name: str, about: _About) -> Episode:
    metadata = about.metadata or _Metadata()
    model = (metadata.llm_config.model if metadata.llm_config else None) or ""
    spent = [about.metrics.usage] if isinstance(about.metrics, OpenHandsMetrics) else run.spent
    return Episode(
        id=name,
        source=log.source,
        format=OpenHandsReader.name,
        dataset=metadata.dataset or "",
        task="" if about.instance_id is None else str(about.instance_id),
        run=" ".join(part for part in (metadata.agent_class, model) if part),
        prompt=about.instruction or run.conversation.prompt,
        started_at=run.started_at,
        outcome=about.outcome,
        ended_by=run.ended_by,
        skills=ran_under([(skill, "") for skill in run.skills], skills_used(run.conversation.steps)),
        steps=tuple(run.conversation.steps),
        usage=total([*spent, usage_of(model=plain(model))]),
    )
