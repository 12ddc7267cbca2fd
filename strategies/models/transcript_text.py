"""Transcripts: the messages and actions of an episode, read from its log again and cut to fit a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from registry.evidence.record import EvidenceRecord
from registry.query.signals import erased_records
from strategies.episodes.episode_records import place_key
from strategies.episodes.whole_episode import clipped
from strategies.files.reread import read_places

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from registry.query.library import Library
    from strategies.episodes.episode import EpisodeRecord, StepRecord

MOST_STEP_CHARS: Final = 1_500
MOST_STEPS: Final = 60
"""What is shown of a run: the first and the last steps, each without its middle (guesses: about 15,000 tokens)."""


class EpisodeTranscript(NamedTuple):
    """The messages and actions of one episode; `evidence` names the pieces of evidence that keep records of it.

    Units: `chars` is the length of all that it wrote and did, before anything was cut.
    """

    text: str
    chars: int
    evidence: tuple[str, ...]


def transcripts(library: Library, records: Sequence[EpisodeRecord]) -> list[EpisodeTranscript | None]:
    """Read episodes again; None for one whose log is gone, or of which a person had a text erased."""
    erased = erased_records(library)
    evidence = _evidence_by_episode(library, {record.id for record in records})
    places = [(record.source, step.span) for record in records for step in record.steps]
    texts = iter(text for _, text in read_places(places))
    shown: list[EpisodeTranscript | None] = []
    for record in records:
        steps = list(zip(record.steps, (next(texts) for _ in record.steps), strict=True))
        gone = any(place_key(record, step.span) in erased for step in record.steps) if erased else False
        if gone or not any(text for _, text in steps):
            shown.append(None)
            continue
        chars = sum(len(text) for _, text in steps)
        shown.append(EpisodeTranscript(_written(steps), chars, evidence.get(record.id, ())))
    return shown


def _written(steps: Sequence[tuple[StepRecord, str]]) -> str:
    """Write the steps down, the middle ones left out where there are too many."""
    lines = [_line(number, step, text) for number, (step, text) in enumerate(steps, start=1)]
    if len(lines) > MOST_STEPS:
        half = MOST_STEPS // 2
        lines = [*lines[:half], f"[… {len(lines) - 2 * half} steps left out …]", *lines[-half:]]
    return "\n".join(lines)


def _line(number: int, step: StepRecord, text: str) -> str:
    failed = ", failed" if step.error else ""
    return f"[{number}] {step.actor}: {step.action or step.kind}{failed}\n{clipped(text, MOST_STEP_CHARS)}"


def _evidence_by_episode(library: Library, episodes: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Name the evidence that keeps records of these episodes: erasing it erases what was asked with them."""
    wanted, evidence = frozenset(episodes), dict[str, tuple[str, ...]]()
    for name in dict.fromkeys(name for raised in library.signals() for name in raised.event.evidence):
        body = library.log.get_blob(name)
        episode = EvidenceRecord.from_bytes(body).episode if body is not None else ""
        if episode in wanted:
            evidence[episode] = (*evidence.get(episode, ()), name)
    return evidence
