"""Advising: reads how the runs failed that a proposer may see, and keeps the advice that follows from it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import islice, zip_longest
from typing import TYPE_CHECKING, Final

from events.types.judge_events import AdviceGiven
from registry.decide.commands import RecordFact
from registry.evidence.record import EvidenceRecord
from registry.query.provenance import KeptEvidence
from registry.skill_md.render import skill_text
from registry.skill_md.skill_files import KNOWLEDGE_INDEX
from strategies.advice.advice_rules import advise
from strategies.advice.failure_stats import FAILS_UNDER, failure_figures, used
from strategies.advice.given_advice import given
from strategies.episodes.episode import moment_s
from strategies.episodes.skill_version import under_versions
from strategies.gate.replay.evaluation_set import ground_of
from strategies.models.tasks.classifier import FailureCase, Quote, TemplateCount
from strategies.models.transcript_text import evidence_by_episode
from strategies.pool.evidence_context import episodes_of, read_contexts
from strategies.scope.scope import scope_of
from strategies.signals.open_signals import Sightings
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from events.types.judgements import FailureFigures, Reading, Rung
    from registry.query.library import Library
    from registry.registry import Registry
    from strategies.advice.advice_rules import Advice
    from strategies.episodes.episode import EpisodeRecord
    from strategies.scope.log_globs import LogGlobs
    from strategies.scope.scope import Scope


MOST_QUOTES: Final = 8
"""Pieces of evidence that a model is shown (a guess: as many as a reflection sees of each kind)."""
_MOST_TEXT_CHARS: Final = 400
"""What such a model is shown of a request, a call or an answer (a guess)."""


@dataclass(frozen=True)
class Counsel:
    """Advice with what it rests on: the runs that a proposer may see, and their figures."""

    skill: str
    records: tuple[EpisodeRecord, ...]
    figures: FailureFigures
    advice: Advice


def counsel(
    library: Library, skill: str = "", *, only: Collection[str] | None = None, logs: LogGlobs | None = None
) -> Counsel:
    """Measure how runs failed and say what would help, for a skill or for all; writes nothing.

    Only episodes of the explore split are looked at: advice leads to proposals, and those are judged on the rest.
    Raises: NotFoundError for an unknown skill.
    """
    if skill:
        library.outline(skill)
    ground = ground_of(library, only=only, refresh=True)
    explore = under_versions(library, ground.division.explore)
    scope = scope_of(library, ground.division.everything, logs)
    records = tuple(_about(library, skill, explore, scope) if skill and only is None else explore)
    paths = {file.entry.path for file in library.capsule(skill).files} if skill else set()
    corpus = KNOWLEDGE_INDEX in paths if skill else None
    figures = failure_figures(records, skill, _turns_s(library, skill), corpus=corpus)
    return Counsel(skill, records, figures, advise(figures))


def _about(
    library: Library, skill: str, explore: Sequence[EpisodeRecord], scope: Scope
) -> Sequence[EpisodeRecord]:
    """Keep the runs on tasks of a skill: it was used there, or a signal shows that goes to it.

    Where no task is known to be of the skill, all but those of other skills are kept.
    """
    records = scope.restricted(skill, explore)
    signals, sightings = [raised.event for raised in library.signals()], Sightings(records)
    own = (signal for signal in signals if scope.route(signal).skill == skill)
    shown = [record for signal in own for record in sightings.of(signal)]
    tasks = {record.task for record in (*shown, *(record for record in records if used(record, skill)))}
    if tasks:
        return [record for record in records if record.task in tasks]
    names = set(library.live_names())
    return [record for record in records if not names & {name for name, _ in record.skills}]


def _turns_s(library: Library, skill: str) -> list[float]:
    """Tell when the turns of evolution on a skill ended, or all of them."""
    turns = library.log.read(types=("CycleFinished",))
    ended = (moment_s(turn.at) for turn in turns if skill in {"", getattr(turn.event, "capsule", "")})
    return [at for at in ended if at is not None]


def case_of(library: Library, counsel: Counsel) -> FailureCase:
    """Gather what a model is shown: figures, the skill, templates of failed runs, and evidence from them."""
    failed = [
        record for record in counsel.records if (outcome := truth(record)) is not None and outcome < FAILS_UNDER
    ]
    seen = Counter(
        template for record in failed for template in {step.template for step in record.steps if step.error}
    )
    templates = sorted(seen.items(), key=lambda item: (-item[1], item[0]))
    return FailureCase(
        skill=counsel.skill,
        skill_text=skill_text(library.capsule(counsel.skill)) if counsel.skill else "",
        figures=counsel.figures,
        templates=tuple(TemplateCount(*template) for template in templates if template[0]),
        quotes=tuple(_quotes(library, {record.id for record in failed})),
    )


def _quotes(library: Library, episodes: Collection[str]) -> list[Quote]:
    """Give evidence from these episodes: one piece of each signal, the most severe first, then further ones."""
    signals = sorted(library.signals(), key=lambda raised: (-raised.event.severity, raised.event.fingerprint))
    kept = (islice(_kept(library, signal.event.evidence, episodes), MOST_QUOTES) for signal in signals)
    in_turn = (piece for group in zip_longest(*kept) for piece in group if piece)
    by_text = {piece.evidence.text: piece for piece in in_turn}
    chosen = list(by_text.values())[:MOST_QUOTES]
    pieces = [piece.evidence for piece in chosen]
    contexts = read_contexts(pieces, episodes_of(library, pieces))
    beside = evidence_by_episode(library, {piece.evidence.episode for piece in chosen})
    return [
        Quote(
            tuple(dict.fromkeys((piece.id, *beside.get(piece.evidence.episode, ())))),
            context.text(_MOST_TEXT_CHARS) if context else piece.evidence.text,
        )
        for piece, context in zip(chosen, contexts, strict=True)
    ]


def _kept(library: Library, names: Sequence[str], episodes: Collection[str]) -> Iterator[KeptEvidence]:
    for name in names:
        body = library.log.get_blob(name)
        kept = EvidenceRecord.from_bytes(body) if body is not None else None
        if kept is not None and kept.episode in episodes:
            yield KeptEvidence(name, kept)


def give(
    registry: Registry, counsel: Counsel, reading: Reading | None = None, *, started: Rung | None = None
) -> bool:
    """Record the advice, and the rung on which it began work; the same as the last is not recorded twice."""
    event = AdviceGiven(
        capsule=counsel.skill,
        track=counsel.advice.track,
        reasons=counsel.advice.reasons,
        figures=counsel.figures,
        reading=reading,
        assessment=counsel.advice.assessment,
        started=started,
    )
    last = given(registry).get(counsel.skill)
    before = last.event if last else None
    known = before.model_copy(update={"reading": None}) if before and reading is None else before
    if known and not started and known.model_copy(update={"started": None}) == event:
        return False
    registry.execute(RecordFact((event,)), actor="germline")
    return True
