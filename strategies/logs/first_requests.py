"""What a person asked for first in each episode, read again from its place in the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from strategies.episodes.episode_records import place_key, prompt_key
from strategies.episodes.whole_episode import shown_text
from strategies.files.reread import read_places
from strategies.logs.transcripts import read_transcripts

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from strategies.episodes.episode import EpisodeRecord
    from strategies.files.log_records import Span


def first_requests(records: Sequence[EpisodeRecord], erased: AbstractSet[str]) -> list[str]:
    """Give each task without its secrets; "" where the log is gone, or a person had a text of the episode erased.

    One line of a log is read where that tells the task; where it does not, the episode is read as a whole.
    `erased` is as `strategies.logs.transcripts.read_transcripts` takes it.
    """
    asked = {
        number: place
        for number, record in enumerate(records)
        if not _is_erased(record, erased) and (place := _place_of_request(record))
    }
    texts = read_places([(records[number].source, place) for number, place in asked.items()])
    tasks = [""] * len(records)
    for number, (_, text) in zip(asked, texts, strict=True):
        if prompt_key(text) == records[number].prompt_key:
            tasks[number] = shown_text(text)
    others = [number for number, record in enumerate(records) if record.prompt_key and not tasks[number]]
    for number, whole in zip(others, read_transcripts([records[each] for each in others], erased), strict=True):
        tasks[number] = whole.task if whole else ""
    return tasks


def _place_of_request(record: EpisodeRecord) -> Span | None:
    return next((step.span for step in record.steps if step.actor == "user" and step.kind == "message"), None)


def _is_erased(record: EpisodeRecord, erased: AbstractSet[str]) -> bool:
    return bool(erased) and any(place_key(record, step.span) in erased for step in record.steps)
