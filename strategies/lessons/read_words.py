"""What a person wrote in sessions, read again from their logs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from strategies.lessons.wishes import PersonWords
from strategies.logs.transcripts import read_transcripts
from strategies.signals.survey import stopped

if TYPE_CHECKING:
    from collections.abc import Sequence
    from collections.abc import Set as AbstractSet

    from strategies.episodes.episode import EpisodeRecord, Step

MOST_SESSIONS: Final = 500
"""Sessions that are read again, the newest: what a person stopped asking for long ago is no wish (a guess)."""
_REASON: Final = ("the user said:", "The user provided the following reason for the rejection:")
"""What comes before the reason where a person did not allow a call, in the words of Claude Code."""


def read_person_words(records: Sequence[EpisodeRecord], erased: AbstractSet[str]) -> list[PersonWords]:
    """Read what a person wrote after their first request, and why they did not allow a call.

    Shapes: records newest first; `erased` as for `read_transcripts`.
    """
    places = {record.id: person_places(record) for record in records}
    spoken = [record for record in records if places[record.id]][:MOST_SESSIONS]
    words: list[PersonWords] = []
    for record, transcript in zip(spoken, read_transcripts(spoken, erased), strict=True):
        for at in places[record.id] if transcript else ():
            text = words_at(transcript.steps[at]) if transcript else ""
            if text:
                words.append(PersonWords(record, at, text))
    return words


def person_places(record: EpisodeRecord) -> list[int]:
    """Find the steps at which a person wrote something after their first request, or did not allow a call."""
    asked = [at for at, step in enumerate(record.steps) if step.actor == "user" and step.kind == "message"]
    refused = [at for at, step in enumerate(record.steps) if step.kind == "call" and stopped(step)]
    return sorted([*asked[1:], *refused])


def words_at(step: Step) -> str:
    """Give what a person wrote at a step, of a call that was not allowed the reason; "" for none."""
    if step.kind != "call":
        return step.text
    result = step.error_text or step.result
    return next((result.partition(mark)[2].strip() for mark in _REASON if mark in result), "")
