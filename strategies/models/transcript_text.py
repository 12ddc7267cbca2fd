"""Transcripts as a model reads them: what was asked, then every call with what came back, within a length.

The rule: of a long text head and tail stay, of an error all of it up to a limit; where that is still too long,
steps in the middle are left out and counted, but never one that failed, what a person says, or the task. Only
where those alone are too long, less of each is shown. What a log holds is indented: no text of it can write a line
of ours.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import groupby
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.evidence.record import EvidenceRecord
from registry.query.signals import erased_records
from strategies.episodes.clipped_text import clipped, indented
from strategies.logs.transcripts import read_transcripts

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from registry.query.library import Library
    from strategies.episodes.episode import EpisodeRecord, Step
    from strategies.logs.transcripts import Transcript


class _Limits(NamedTuple):
    """How much of each text is shown, and of each error and the task; whether steps in the middle are left out."""

    text: int
    error: int
    leave_out: bool


_LIMITS: Final = (
    _Limits(1_500, 4_000, leave_out=False),
    _Limits(700, 4_000, leave_out=False),
    _Limits(350, 2_000, leave_out=True),
    _Limits(150, 1_000, leave_out=True),
    _Limits(60, 250, leave_out=True),
)
"""Tried in this order until an episode fits (guesses). Units: characters."""
_MOST_HEAD_CHARS: Final = 200
"""What a step is headed with: its tool and the kind of its error are words of the log."""
_ENDS: Final = 2
"""Steps at the beginning and at the end that are never left out."""


class EpisodeTranscript(NamedTuple):
    """One episode as a model is shown it; `evidence` names the pieces of evidence that keep records of it.

    Units: `chars` is the length of all that it wrote and did, before it was fitted.
    """

    text: str
    chars: int
    evidence: tuple[str, ...]


def transcripts(
    library: Library, records: Sequence[EpisodeRecord], most_chars: int
) -> list[EpisodeTranscript | None]:
    """Read episodes again, each fitted into so many characters.

    None for one whose log is gone or says nothing, or of which a person had a text erased.
    """
    evidence = evidence_by_episode(library, {record.id for record in records})
    read = read_transcripts(records, erased_records(library))
    return [
        EpisodeTranscript(written(transcript, most_chars), chars, evidence.get(record.id, ()))
        if transcript and (chars := sum(map(_chars, transcript.steps)))
        else None
        for record, transcript in zip(records, read, strict=True)
    ]


def written(transcript: Transcript, most_chars: int) -> str:
    """Write an episode down within so many characters, by the rule of this module."""
    text = ""
    for limits in _LIMITS:
        text = _fitted(transcript, limits, most_chars)
        if len(text) <= most_chars:
            return text
    return clipped(text, most_chars)


def _fitted(transcript: Transcript, limits: _Limits, most_chars: int) -> str:
    """Write an episode, without as many of its steps as it takes and as the limits allow."""
    head = "\n".join(("task", *indented(transcript.task or "(not in the log)", limits.error)))
    steps = ["\n".join(_lines(step, transcript.task, limits)) for step in transcript.steps]
    passed_over = _passed_over(transcript.steps) if limits.leave_out else []

    def without(count: int) -> str:
        return "\n".join((head, *_joined(steps, frozenset(passed_over[:count]))))

    counts = range(len(passed_over) + 1)
    return without(bisect_left(counts[:-1], x=True, key=lambda count: len(without(count)) <= most_chars))


def _passed_over(steps: Sequence[Step]) -> list[int]:
    """Give the steps that may be left out, those in the middle of the episode first."""
    inner = range(_ENDS, len(steps) - _ENDS)
    ordinary = (at for at in inner if not (steps[at].error or steps[at].error_type or steps[at].actor == "user"))
    return sorted(ordinary, key=lambda at: abs(2 * at - len(steps) + 1))


def _joined(steps: Sequence[str], left_out: Collection[int]) -> Iterator[str]:
    for gone, group in groupby(range(len(steps)), key=left_out.__contains__):
        numbers = list(group)
        if gone:
            yield f"[… {len(numbers)} step{'s' if len(numbers) > 1 else ''} left out …]"
        else:
            yield from (steps[number] for number in numbers)


def _lines(step: Step, task: str, limits: _Limits) -> Iterator[str]:
    """Write a step: who does what, in which words, and what comes back."""
    failed = f", failed{f' ({step.error_type})' if step.error_type else ''}" if step.error else ""
    does = f" calls {step.action}" if step.kind == "call" else "" if step.error else f" {step.error_type}".rstrip()
    yield " ".join(f"[{step.index + 1}] {step.actor}{does}{failed}".split())[:_MOST_HEAD_CHARS]
    if step.actor == "user" and step.text and step.text == task:
        yield "  (the task)"
    elif step.text:
        yield from indented(step.text, limits.text)
    if step.error and (step.error_text or step.result):
        yield "error"
        yield from indented(step.error_text or step.result, limits.error)
    elif step.result:
        yield "result"
        yield from indented(step.result, limits.text)


def _chars(step: Step) -> int:
    return len(step.text) + len(step.result or step.error_text)


def evidence_by_episode(library: Library, episodes: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
    """Name the evidence that keeps records of these episodes: erasing it erases what was asked with them."""
    wanted, evidence = frozenset(episodes), dict[str, tuple[str, ...]]()
    for name in dict.fromkeys(name for raised in library.signals() for name in raised.event.evidence):
        body = library.log.get_blob(name)
        episode = EvidenceRecord.from_bytes(body).episode if body is not None else ""
        if episode in wanted:
            evidence[episode] = (*evidence.get(episode, ()), name)
    return evidence
