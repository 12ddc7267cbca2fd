"""What is around a piece of evidence in its log: the request, the call with what came back, the next words."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from registry.evidence.record import StepText
from registry.query.signals import erased_records
from strategies.episodes.action_class import command_of
from strategies.episodes.clipped_text import indented
from strategies.episodes.episode_records import decode, moved_to
from strategies.episodes.whole_episode import first_request
from strategies.logs.transcripts import read_transcripts
from strategies.pool.moved_logs import evidence_as_it_lies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from registry.evidence.record import EvidenceRecord
    from registry.query.library import Library
    from strategies.episodes.episode import EpisodeRecord, Step
    from strategies.logs.transcripts import Transcript


BEFORE, AFTER = 2, 3
"""Steps before and after a person's words that are kept and shown with them."""


class EvidenceContext(NamedTuple):
    """A step that evidence is about, or that a person answered with it, without secrets; "" for what is not there.

    `asked` is the person's last message before it, else the task; `replied` their next one. `failed` tells
    that `answer` is an error.
    """

    asked: str
    action: str
    argument: str
    answer: str
    failed: bool
    replied: str

    def parts(self) -> list[tuple[str, str]]:
        """Give what is there under a word each, in the order in which it happened."""
        called = "\n".join(filter(None, (self.action, self.argument)))
        parts = (("asked", self.asked), ("called", called), ("error" if self.failed else "answer", self.answer))
        return [(word, text) for word, text in (*parts, ("replied", self.replied)) if text]

    def text(self, most_chars: int) -> str:
        """Write it down, at most so many characters of each part."""
        return "\n".join(line for word, text in self.parts() for line in (word, *indented(text, most_chars)))


class EvidenceEpisodes(NamedTuple):
    """The episodes of evidence by id, as their logs lie by now, and which records of logs were erased."""

    records: Mapping[str, EpisodeRecord]
    erased: frozenset[str]


def episodes_of(library: Library, evidence: Sequence[EvidenceRecord]) -> EvidenceEpisodes:
    """Find the episodes of evidence that are still known."""
    places = {piece.episode: piece.file for piece in evidence_as_it_lies(evidence, library.log.maps())}
    known = (stored for stored in library.log.episodes() if stored.episode in places)
    records = {stored.episode: moved_to(decode(stored.body), places[stored.episode]) for stored in known}
    return EvidenceEpisodes(records, erased_records(library))


def read_contexts(evidence: Sequence[EvidenceRecord], known: EvidenceEpisodes) -> list[EvidenceContext | None]:
    """Read what is around evidence, each log once; None where it can no longer be read or nothing is there."""
    read = read_transcripts(list(known.records.values()), known.erased)
    transcripts = dict(zip(known.records, read, strict=True))
    return [
        _context(known.records[piece.episode], transcript, piece) if transcript else None
        for piece, transcript in ((piece, transcripts.get(piece.episode)) for piece in evidence)
    ]


def steps_around(record: EpisodeRecord, transcript: Transcript, at: int) -> tuple[StepText, ...]:
    """Give the two steps before a person's words and the three after them."""
    near = range(max(at - BEFORE, 0), min(at + AFTER + 1, len(record.steps)))
    return tuple(_step_text(record, transcript, other, other - at) for other in near if other != at)


def _step_text(record: EpisodeRecord, transcript: Transcript, at: int, offset: int) -> StepText:
    step, span = transcript.steps[at], record.steps[at].span
    return StepText(
        offset, step.action or step.actor, _text_around(step), span.line, span.byte_start, span.byte_end
    )


def _text_around(step: Step) -> str:
    """Give what a step did, and what came of it where it failed."""
    command = command_of(step.tool, step.text) or step.text
    return "\n".join(filter(None, (command, step.error_text)))


def telling_text(step: Step) -> str:
    """Give the text of a step by which a record of it is known: that of its failure, else its own."""
    return step.error_text or step.text or step.result


def _context(record: EpisodeRecord, transcript: Transcript, piece: EvidenceRecord) -> EvidenceContext | None:
    place = (piece.byte_start, piece.byte_end)
    at_place = [
        step
        for known, step in zip(record.steps, transcript.steps, strict=True)
        if (known.span.byte_start, known.span.byte_end) == place and known.span.line == piece.line
    ]
    if not at_place:
        return None
    steps = transcript.steps
    # Of several steps on one line the one is meant that the evidence quotes, else the first that failed.
    meant = min(at_place, key=lambda step: (not _quotes(piece, step), not step.error, step.index))
    calls = (step for step in reversed(steps[: meant.index]) if step.kind == "call")
    about = next(calls, meant) if meant.actor == "user" else meant
    context = EvidenceContext(
        asked=first_request(reversed(steps[: about.index])) or transcript.task,
        action=about.action,
        argument="" if about.actor == "user" else about.text,
        answer=about.error_text or about.result,
        failed=about.error,
        replied=first_request(steps[about.index + 1 :]),
    )
    return context if context.asked or context.argument or context.replied else None


def _quotes(piece: EvidenceRecord, step: Step) -> bool:
    return bool(piece.text) and telling_text(step).startswith(piece.text)
