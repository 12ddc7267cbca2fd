"""Outcomes by rules for records, which keep no text: what a rule looks at is read again, from where it stands.

Only where there are rules, only for episodes whose log tells no outcome, and only the places that the rules ask
for: so reading a log costs nothing for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from strategies.logs.episode import MESSAGE, Episode
from strategies.logs.outcome_rules import EXIT_STATUS, last_told, outcome_by, told, with_outcome
from strategies.logs.places import spans_of
from strategies.logs.records import judged, record_of
from strategies.logs.stream import START, Place

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from strategies.logs.episode import EpisodeRecord, Outcome, Span
    from strategies.logs.outcome_rules import OutcomeRule
    from strategies.logs.stream import LogFile


_AT_ONCE: Final = 1_000
"""Records whose texts are read together: they stand in memory. A compressed log is passed through only once."""


class Telling(Protocol):
    """What the raw records of a format say; each method gives nothing for bytes that it cannot read."""

    def said_in(self, raw: bytes) -> str:
        """Give the last message of the agent in a raw record."""
        ...

    def calls_in(self, raw: bytes) -> Sequence[tuple[str, str]]:
        """Give the calls in a raw record, in order: their ids and arguments; none where answers stand beside."""
        ...

    def answers_in(self, raw: bytes) -> Sequence[tuple[str, str]]:
        """Give the answers in a raw record, in order: the ids of their calls, and their texts."""
        ...


@runtime_checkable
class Textless(Protocol):
    """A reader that gives records instead of episodes, and can find their texts again."""

    @property
    def telling(self) -> Telling:
        """What reads the texts."""
        ...


def reduced(
    found: Iterable[Episode | EpisodeRecord],
    drafts: list[EpisodeRecord],
    reader: object,
    log: LogFile,
    rules: Sequence[OutcomeRule],
) -> None:
    """Add what a reader found to the drafts, with the outcomes that rules read; what the log itself says stands.

    What was found before an error is kept.
    """
    asked = list[int]()
    try:
        for one in found:
            if isinstance(one, Episode):
                drafts.append(record_of(with_outcome(one, rules)))
                continue
            if rules and one.outcome is None:
                asked.append(len(drafts))
            drafts.append(one)
    finally:
        telling = reader.telling if isinstance(reader, Textless) else None
        at_once = len(asked) if telling and asked and log.packed else _AT_ONCE
        for start in range(0, len(asked), max(at_once, 1)):
            batch = asked[start : start + at_once]
            outcomes = _outcomes([drafts[number] for number in batch], telling, log, rules)
            for number, outcome in zip(batch, outcomes, strict=True):
                drafts[number] = judged(drafts[number], outcome) if outcome else drafts[number]


def _outcomes(
    records: Sequence[EpisodeRecord], telling: Telling | None, log: LogFile, rules: Sequence[OutcomeRule]
) -> list[Outcome | None]:
    formats = {record.format for record in records}
    where = {rule.where for rule in rules if not rule.log_format or rule.log_format in formats}
    said, gave = [""] * len(records), [""] * len(records)
    if telling and "final_text" in where:
        said = _said(records, telling, log)
    if telling and where - {"label"}:
        silent = [number for number in range(len(records)) if EXIT_STATUS in where or not said[number]]
        for number, text in zip(silent, _gave([records[one] for one in silent], telling, log), strict=True):
            gave[number] = text
    return [
        outcome_by(rules, told(record.format, record.labels, message, answer))
        for record, message, answer in zip(records, said, gave, strict=True)
    ]


def _said(records: Sequence[EpisodeRecord], telling: Telling, log: LogFile) -> list[str]:
    """Give the agent's last message of each record, "" where it has none."""
    places = [
        next((step.span for step in reversed(record.steps) if step.action == MESSAGE), None) for record in records
    ]
    return [telling.said_in(raw) if raw else "" for raw in _read(log, places)]


def _gave(records: Sequence[EpisodeRecord], telling: Telling, log: LogFile) -> list[str]:
    """Give what the last call of each record gave back, or its last failure where it has no calls.

    A failed call stands where its answer does. Of any other the answer follows further on, and is looked for.
    """
    last = [last_told(record.steps) for record in records]
    raws = _read(log, [step.span if step else None for step in last])
    found, asked, first = [""] * len(records), dict[str, int](), Place(-1)
    for number, (step, raw) in enumerate(zip(last, raws, strict=True)):
        calls = telling.calls_in(raw) if step and not step.error else ()
        answers = () if calls else telling.answers_in(raw)
        found[number] = answers[-1][1] if answers else ""
        if step and calls and calls[-1][0]:
            asked[calls[-1][0]] = number
            place = Place(step.span.byte_start, step.span.line - 1)
            first = place if first.offset < 0 else min(first, place)
    if asked:
        for call_id, text in _answers(asked, telling, log, first):
            found[asked[call_id]] = text
    return found


def _answers(asked: Collection[str], telling: Telling, log: LogFile, first: Place) -> Iterable[tuple[str, str]]:
    """Find the answers to calls, in the lines from the first of them on; a compressed log is passed through."""
    missing = set(asked)
    for line in log.again(START if log.packed else first).lines():
        for call_id, text in telling.answers_in(line.raw):
            if call_id in missing:
                missing.discard(call_id)
                yield call_id, text
        if not missing:
            return


def _read(log: LogFile, places: Sequence[Span | None]) -> list[bytes]:
    raws = iter(spans_of(log, [span for span in places if span]))
    return [next(raws) if span else b"" for span in places]
