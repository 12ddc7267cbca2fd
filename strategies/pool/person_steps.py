"""The steps of sessions at which a person spoke, with their words and what is around them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.logs.transcripts import read_transcripts
from strategies.pool.evidence_context import steps_around, telling_text
from strategies.signals.survey import stopped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from registry.evidence.record import StepText
    from strategies.episodes.episode import EpisodeRecord, Step
    from strategies.logs.transcripts import Transcript

_REASON: Final = (
    "the user said:",
    "The user provided the following reason for the rejection:",
    "with the following feedback:",
)
"""What comes before the reason where a person did not allow a call, in the words of Claude Code and OpenCode."""
_AFTER_REASON: Final = "\n\nNote: The user's next message"
"""What Claude Code adds behind it for its agent."""
_REASON_ALONE: Final = "openhands"
"""The formats whose answer to a call that was not allowed is the reason, and nothing else."""
_NO_REASON: Final = "User rejected the action"


class PersonStep(NamedTuple):
    """A step at which a person spoke: their `words`, the `text` that its record is known by, what is `around`."""

    words: str
    text: str
    around: tuple[StepText, ...]


class PersonSteps:
    """What persons wrote in sessions: each log is read once as long as this is kept.

    `erased` names records of logs, as for `read_transcripts`.
    """

    def __init__(self, erased: AbstractSet[str]) -> None:
        self.erased = erased
        self._known: dict[str, Mapping[int, PersonStep]] = {}

    def of(self, records: Iterable[EpisodeRecord]) -> dict[str, Mapping[int, PersonStep]]:
        """Give the steps of each session by its id, then by their index; none of one whose log is gone."""
        asked = {record.id: record for record in records}
        unread = (record for record in asked.values() if record.id not in self._known)
        for _, of_file in groupby(sorted(unread, key=_file_of), key=_file_of):
            group = list(of_file)
            for record, transcript in zip(group, read_transcripts(group, self.erased), strict=True):
                self._known[record.id] = _spoken(record, transcript) if transcript else {}
        return {name: self._known[name] for name in asked}


def _spoken(record: EpisodeRecord, transcript: Transcript) -> dict[int, PersonStep]:
    return {
        at: PersonStep(words_at(record, step), telling_text(step), steps_around(record, transcript, at))
        for at in person_places(record)
        for step in (transcript.steps[at],)
    }


def _file_of(record: EpisodeRecord) -> tuple[str, str]:
    return record.source, record.format


def person_places(record: EpisodeRecord) -> list[int]:
    """Find the steps at which a person wrote something after their first request, or did not allow a call."""
    asked = [at for at, step in enumerate(record.steps) if step.actor == "user" and step.kind == "message"]
    refused = [at for at, step in enumerate(record.steps) if step.kind == "call" and stopped(step)]
    return sorted([*asked[1:], *refused])


def words_at(record: EpisodeRecord, step: Step) -> str:
    """Give what a person wrote at a step, of a call that was not allowed the reason; "" for none."""
    if step.kind != "call":
        return step.text
    result = step.error_text or step.result
    if record.format.startswith(_REASON_ALONE):
        return "" if result.startswith(_NO_REASON) else result
    reasons = (result.partition(mark)[2] for mark in _REASON if mark in result)
    return next(reasons, "").partition(_AFTER_REASON)[0].strip()
