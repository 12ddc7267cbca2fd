"""Longer readings: which record of an episode that was still running is replaced by a later one of the same."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from strategies.episodes.episode import EpisodeRecord, StepRecord


def replaced(known: Iterable[EpisodeRecord], new: Iterable[EpisodeRecord]) -> dict[str, str]:
    """Give the ids of records that a longer reading of the same episode replaces, with the id of that one.

    `known` come in any order, `new` in that of reading: of two that are equally long the later one counts. All
    name the files where they lie by now.
    """
    readings: dict[tuple[str, str], list[EpisodeRecord]] = defaultdict(list)
    later = list(new)
    ids, names = {record.id for record in later}, {(record.format, record.name) for record in later}
    for record in (*known, *later):
        if (record.format, record.name) in names:
            readings[record.format, record.name].append(record)
    replacements: dict[str, str] = {}
    for of_one in readings.values():
        ordered = sorted(of_one, key=lambda record: len(record.steps))  # stable: known before new, as they came
        for place, record in enumerate(ordered):
            # Two that were known before were compared when the later one came.
            longer = (
                other.id
                for other in reversed(ordered[place + 1 :])
                if other.id != record.id and not ids.isdisjoint((record.id, other.id)) and goes_on(record, other)
            )
            replacing = next(longer, None)
            if replacing:
                replacements[record.id] = replacing
    return replacements


def goes_on(record: EpisodeRecord, longer: EpisodeRecord) -> bool:
    """Tell whether one record is the beginning of another: the same actions at the same times and lines.

    What is known at the beginning (when it began, what was asked) stays. Without times lines alone decide, and
    then only within one file. One that has ended goes on in its own file alone, any other in the folder where logs
    rotate: who writes another file could say how it ended.
    """
    if record.run not in {"", longer.run} or len(record.steps) > len(longer.steps):
        return False
    if record.started_at not in {None, longer.started_at} or record.prompt_key not in {"", longer.prompt_key}:
        return False
    timed = all(step.started_at for step in record.steps) and bool(record.steps or record.started_at)
    own_file = record.source and record.source == longer.source
    beside = record.source.rpartition("/")[0] == longer.source.rpartition("/")[0] and record.owner == longer.owner
    if not own_file and not (timed and beside and not _has_ended(record)):
        return False
    return all(map(_goes_on, record.steps, longer.steps))


def _has_ended(record: EpisodeRecord) -> bool:
    """Tell whether a log says that an episode is over."""
    return record.outcome is not None or record.ended_by != "unknown"


def _goes_on(step: StepRecord, after: StepRecord) -> bool:
    """Tell whether a step is the same, as far as it was read; a message may turn out to be beside a call."""
    return (
        (step.turn, step.actor, step.started_at) == (after.turn, after.actor, after.started_at)
        and (step.action == after.action or after.kind == "note")
        and (step.span.line == after.span.line or after.error)
        and step.error <= after.error
    )


def longest(short: str, longer: Mapping[str, str]) -> str:
    """Give the reading that none is longer than."""
    while short in longer:
        short = longer[short]
    return short


def condensed(longer: Mapping[str, str], kept: Collection[str]) -> dict[str, str]:
    """Give which of the kept readings has which longer one, past those that are not kept."""
    passed = {short: reading for short, reading in longer.items() if short not in kept}
    return {short: longest(reading, passed) for short, reading in longer.items() if short in kept}
