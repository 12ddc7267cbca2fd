"""Transcripts: what an episode said and did, read from its log again and cut to what a model can take."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from registry.erasing import erased_records
from registry.evidence import Evidence
from strategies.logs.places import read_places
from strategies.logs.records import place_key
from strategies.models.untrusted_blocks import clipped

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from registry.library import Library
    from strategies.logs.episode import EpisodeRecord, StepRecord

MOST_STEP_CHARS: Final = 1_500
MOST_STEPS: Final = 60
"""What is told of a run: the first and the last steps, each without its middle (guesses: about 15,000 tokens)."""


class Transcript(NamedTuple):
    """What one episode said and did; `evidence` names the pieces of evidence that keep records of it.

    Units: `chars` is the length of all that it said and did, before anything was cut.
    """

    text: str
    chars: int
    evidence: tuple[str, ...]


def transcripts(library: Library, records: Sequence[EpisodeRecord]) -> list[Transcript | None]:
    """Read episodes again; None for one whose log is gone, or of which a person had a text erased."""
    erased = erased_records(library)
    evidence = _evidence_by_episode(library, {record.id for record in records})
    places = [(record.source, step.span) for record in records for step in record.steps]
    texts = iter(text for _, text in read_places(places))
    found: list[Transcript | None] = []
    for record in records:
        told = list(zip(record.steps, (next(texts) for _ in record.steps), strict=True))
        gone = any(place_key(record, step.span) in erased for step in record.steps) if erased else False
        if gone or not any(text for _, text in told):
            found.append(None)
            continue
        chars = sum(len(text) for _, text in told)
        found.append(Transcript(_written(told), chars, evidence.get(record.id, ())))
    return found


def _written(told: Sequence[tuple[StepRecord, str]]) -> str:
    """Write the steps down, the middle ones left out where there are too many."""
    lines = [_line(number, step, text) for number, (step, text) in enumerate(told, start=1)]
    if len(lines) > MOST_STEPS:
        half = MOST_STEPS // 2
        lines = [*lines[:half], f"[… {len(lines) - 2 * half} steps left out …]", *lines[-half:]]
    return "\n".join(lines)


def _line(number: int, step: StepRecord, text: str) -> str:
    failed = ", failed" if step.error else ""
    return f"[{number}] {step.actor}: {step.action or step.kind}{failed}\n{clipped(text, MOST_STEP_CHARS)}"


def _evidence_by_episode(library: Library, episodes: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Name the evidence that keeps records of these episodes: erasing it erases what was asked with them."""
    wanted, found = frozenset(episodes), dict[str, tuple[str, ...]]()
    for name in dict.fromkeys(name for raised in library.signals() for name in raised.event.evidence):
        body = library.log.get_blob(name)
        episode = Evidence.from_bytes(body).episode if body is not None else ""
        if episode in wanted:
            found[episode] = (*found.get(episode, ()), name)
    return found
