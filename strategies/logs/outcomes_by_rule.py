"""Outcomes by rules for records, which keep no text: what a rule looks at is read again, from its place.

Only where there are rules, only for episodes whose log tells no outcome, and only the places that the rules ask
for: so reading a log costs nothing for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Protocol, runtime_checkable

from strategies.episodes.episode import MESSAGE, Episode
from strategies.episodes.episode_records import judged, record_of
from strategies.episodes.outcome_rules import (
    EXIT_STATUS,
    episode_texts,
    last_outcome_step,
    outcome_by,
    with_outcome,
)
from strategies.files.log_file import START, LogPosition
from strategies.files.reread import spans_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from strategies.episodes.episode import EpisodeOutcome, EpisodeRecord
    from strategies.episodes.outcome_rules import OutcomeRule
    from strategies.files.log_file import LogFile
    from strategies.files.log_records import Span
    from strategies.files.reread import RecordTexts


_AT_ONCE: Final = 1_000
"""Records whose texts are read together: they are held in memory. A compressed log is passed through only once."""


@runtime_checkable
class ReaderOfRecords(Protocol):
    """A reader that gives records instead of episodes, and can find their texts again."""

    @property
    def record_texts(self) -> RecordTexts:
        """What reads the texts."""
        ...


def add_records(
    episodes: Iterable[Episode | EpisodeRecord],
    drafts: list[EpisodeRecord],
    reader: object,
    log: LogFile,
    rules: Sequence[OutcomeRule],
) -> None:
    """Add what a reader found to the drafts, with the outcomes that rules read; what the log itself says stays.

    What was found before an error is kept.
    """
    asked = list[int]()
    try:
        for episode in episodes:
            if isinstance(episode, Episode):
                drafts.append(record_of(with_outcome(episode, rules)))
                continue
            if rules and episode.outcome is None:
                asked.append(len(drafts))
            drafts.append(episode)
    finally:
        texts = reader.record_texts if isinstance(reader, ReaderOfRecords) else None
        at_once = len(asked) if texts and asked and log.packed else _AT_ONCE
        for start in range(0, len(asked), max(at_once, 1)):
            batch = asked[start : start + at_once]
            outcomes = _outcomes([drafts[number] for number in batch], texts, log, rules)
            for number, outcome in zip(batch, outcomes, strict=True):
                drafts[number] = judged(drafts[number], outcome) if outcome else drafts[number]


def _outcomes(
    records: Sequence[EpisodeRecord], texts: RecordTexts | None, log: LogFile, rules: Sequence[OutcomeRule]
) -> list[EpisodeOutcome | None]:
    formats = {record.format for record in records}
    where = {rule.where for rule in rules if not rule.log_format or rule.log_format in formats}
    messages, results = [""] * len(records), [""] * len(records)
    if texts and "final_text" in where:
        messages = _last_messages(records, texts, log)
    if texts and where - {"label"}:
        silent = [number for number in range(len(records)) if EXIT_STATUS in where or not messages[number]]
        for number, text in zip(
            silent, _last_results([records[index] for index in silent], texts, log), strict=True
        ):
            results[number] = text
    return [
        outcome_by(rules, episode_texts(record.format, record.labels, message, answer))
        for record, message, answer in zip(records, messages, results, strict=True)
    ]


def _last_messages(records: Sequence[EpisodeRecord], texts: RecordTexts, log: LogFile) -> list[str]:
    """Give the agent's last message of each record, "" where it has none."""
    places = [
        next((step.span for step in reversed(record.steps) if step.action == MESSAGE), None) for record in records
    ]
    return [texts.message_in(raw) if raw else "" for raw in _read(log, places)]


def _last_results(records: Sequence[EpisodeRecord], texts: RecordTexts, log: LogFile) -> list[str]:
    """Give what the last call of each record gave back, or its last failure where it has no calls.

    A failed call has the place of its answer. Of any other the answer follows further on, and is searched.
    """
    last = [last_outcome_step(record.steps) for record in records]
    raws = _read(log, [step.span if step else None for step in last])
    answered, asked, first = [""] * len(records), dict[str, int](), LogPosition(-1)
    for number, (step, raw) in enumerate(zip(last, raws, strict=True)):
        calls = texts.calls_in(raw) if step and not step.error else ()
        answers = () if calls else texts.answers_in(raw)
        answered[number] = answers[-1][1] if answers else ""
        if step and calls and calls[-1][0]:
            asked[calls[-1][0]] = number
            place = LogPosition(step.span.byte_start, step.span.line - 1)
            first = place if first.offset < 0 else min(first, place)
    if asked:
        for call_id, text in _answers(asked, texts, log, first):
            answered[asked[call_id]] = text
    return answered


def _answers(
    asked: Collection[str], texts: RecordTexts, log: LogFile, first: LogPosition
) -> Iterable[tuple[str, str]]:
    """Find the answers to calls, in the lines from the first of them on; a compressed log is passed through."""
    missing = set(asked)
    for line in log.again(START if log.packed else first).lines():
        for call_id, text in texts.answers_in(line.raw):
            if call_id in missing:
                missing.discard(call_id)
                yield call_id, text
        if not missing:
            return


def _read(log: LogFile, places: Sequence[Span | None]) -> list[bytes]:
    raws = iter(spans_of(log, [span for span in places if span]))
    return [next(raws) if span else b"" for span in places]
