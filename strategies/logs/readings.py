"""Longer readings: which record of an episode that was still running is replaced by a later one of the same."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from strategies.logs.episode import EpisodeRecord


def replaced(
    known: Iterable[EpisodeRecord], new: Iterable[EpisodeRecord], moved: Mapping[str, str]
) -> dict[str, str]:
    """Give the ids of records that a longer reading of the same episode replaces, with the id of that one.

    `known` come in any order, `new` in that of reading: of two that are equally long the later one counts.
    `moved` gives the names that files had before.
    """
    readings: dict[tuple[str, str], list[EpisodeRecord]] = defaultdict(list)
    later = {(record.format, record.name): record.id for record in new}
    for record in (*known, *new):
        if (record.format, record.name) in later:
            readings[record.format, record.name].append(record)
    found: dict[str, str] = {}
    for of_one in readings.values():
        ordered = sorted(of_one, key=lambda record: len(record.steps))  # stable: known before new, as they came
        for place, record in enumerate(ordered):
            longer = (other for other in reversed(ordered[place + 1 :]) if other.id != record.id)
            replacing = next((other.id for other in longer if goes_on(record, other, moved)), None)
            if replacing:
                found[record.id] = replacing
    return found


def goes_on(record: EpisodeRecord, longer: EpisodeRecord, moved: Mapping[str, str]) -> bool:
    """Tell whether one record is the beginning of another: the same steps at the same times and lines.

    Without times, lines alone decide, and then only within one file.
    """
    if record.run not in {"", longer.run} or len(record.steps) > len(longer.steps):
        return False
    known_as = {longer.source, moved.get(longer.source, longer.source)}
    timed = bool(record.steps) and all(step.started_at for step in record.steps)
    if not timed and record.source not in known_as:
        return False
    return all(
        step.turn == after.turn
        and step.actor == after.actor
        and step.started_at == after.started_at
        and (step.span.line == after.span.line or after.error)
        for step, after in zip(record.steps, longer.steps, strict=False)
    )
