"""Reflecting: what a model is shown of one signal, read from explore alone, and what comes back of it."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from events.errors import NotRecordedError, RefusedError
from events.model_errors import ModelError
from registry.query.provenance import blame
from registry.state.line_claims import claims_of
from strategies.advice.failure_stats import FAILS_UNDER
from strategies.claims.catalogue import described
from strategies.evolve.bundles import reason_given
from strategies.gate.explain import WRITER
from strategies.models.protocol import require_any
from strategies.models.tasks.ask_reflection import (
    MOST_EPISODE_CHARS,
    Reflected,
    ReflectionCase,
    ShownEpisode,
    reflect,
)
from strategies.models.tasks.write_section import write_section
from strategies.models.transcript_text import transcripts
from strategies.propose.claude import SuggestionTally, sifted
from strategies.propose.mine_claims import action_classes
from strategies.propose.placement import answering
from strategies.propose.proposal import Mined, ProposalRequest, remembered
from strategies.propose.record_meta_notes import note, notes_of
from strategies.propose.suggestion_checks import FORMS
from strategies.propose.writer import section_proposed
from strategies.signals.open_signals import Sightings
from strategies.signals.survey import truth

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from events.errors import GermlineError
    from events.types.registry_events import SignalRaised
    from registry.query.library import Library
    from registry.registry import Registry
    from registry.state.capsule import Capsule
    from strategies.episodes.episode import EpisodeRecord
    from strategies.evolve.draft import TurnContext
    from strategies.models.recorded_model import RecordedModel
    from strategies.propose.proposal import PastProposal

MINIBATCH: Final = 8
"""Episodes that one reflection looks at."""
_MOST_WORDS: Final = 40
"""Templates, and action classes, that a model is shown: the most frequent ones (a guess)."""
_MOST_TRIED: Final = 30
"""Earlier attempts that a model is shown, the last ones (a guess)."""
UNCOVERED: Final = frozenset({"missing_capability", "uncovered_failure"})
"""Kinds of signals that ask for a section of its own."""
PASSING: Final = (ModelError, RefusedError, NotRecordedError)
"""What may keep sections and notes from being written: the turn goes on without them."""


@dataclass
class Reflecting:
    """Asks a model about one signal after the other, and counts what its suggestions came to before the gate.

    `skills_folder` is where skills of the writer's own would be put.
    """

    model: RecordedModel
    skills_folder: str
    size: int = MINIBATCH
    tally: SuggestionTally = field(default_factory=SuggestionTally)
    failures: list[str] = field(default_factory=list)

    @property
    def drafted(self) -> frozenset[str]:
        """The kinds of signals for which a skill of its own is written; none where no writer is named."""
        return UNCOVERED if "writer" in self.model.settings.named else frozenset()

    def mined(self, turn: TurnContext, signal: SignalRaised, capsule: Capsule) -> tuple[Mined, ...]:
        """Ask about one signal; answers with what goes to the gate, or with one that says why nothing does.

        Raises: ModelError, CredentialsError and SpendingCapError that would meet the next signal as well; what
        was paid for is kept, and nothing else is written.
        """
        self.model.begin_cycle()
        explore = turn.ground.division.explore
        shown = Sightings(explore).of(signal)
        if not shown:
            return (Mined(None, 0, None, why="no episode that a proposer may see shows this signal"),)
        tried = remembered(turn.registry, capsule.name, turn.ground.evaluator)
        batches = self.minibatches(turn, shown)
        if not batches:
            return (Mined(None, 0, None, why="the logs of the episodes that show this signal are gone"),)
        case = ReflectionCase(
            name=capsule.name,
            strategy=signal.calls_for,
            signal=f"{signal.kind}: {signal.template or signal.action}",
            shown_in=len(shown),
            skill=skill_shown(turn.registry, capsule),
            tried=_tried_shown(tried),
            vocabulary=vocabulary_shown(explore),
            notes=notes_of(turn.registry),
            edit_budget=turn.edit_budget,
            minibatches=batches,
        )
        reflections, failed = self._reflections(case)
        written = self._written(turn, signal, capsule, case)
        if failed is not None and not reflections:
            return written or (Mined(None, 0, None, why=failed.message),)
        sieved = sifted(
            ProposalRequest(signal, turn.ground.explore, capsule, (), tried, other_work=turn.ground.other_work),
            capsule,
            reflections,
            turn.edit_budget,
        )
        self.tally = self.tally.plus(sieved.tally)
        return (*sieved.mined, *written) or (Mined(None, 0, None, why=_nothing_new(sieved.tally)),)

    def take_notes(self, registry: Registry) -> None:
        """Let the model that is named for it rewrite its notes; a failure is reported, and changes nothing."""
        if "notes" not in self.model.settings.named:
            return
        try:
            note(registry, self.model)
        except PASSING as error:
            self.failures.append(error.message)

    def _written(
        self, turn: TurnContext, signal: SignalRaised, capsule: Capsule, case: ReflectionCase
    ) -> tuple[Mined, ...]:
        """Ask for a section where a skill lacks one, once for each signal and version of the skill."""
        wanted = signal.kind in self.drafted and turn.preset.bears_genes
        known = turn.registry.answers(signal.fingerprint) if wanted else []
        waiting = any(candidate.proposed.proposer == WRITER and candidate.verdict == "hold" for candidate in known)
        if not wanted or waiting or answering(capsule, signal.fingerprint, "") is not None:
            return ()
        try:
            reply = write_section(self.model, case)
        except PASSING as error:
            self.failures.append(error.message)
            return ()
        mined = section_proposed(capsule, turn.ground.division.explore, reply.answer, reply.actor)
        if mined.proposal is None:
            self.failures.append(mined.why)
            return ()
        return (mined,)

    def _reflections(self, case: ReflectionCase) -> tuple[list[Reflected], GermlineError | None]:
        """Ask for reflections; one that fails takes no other with it.

        Raises: what would meet the next signal as well, where nothing came back.
        """
        answers = reflect(self.model, case)
        reflections = [answer for answer in answers if isinstance(answer, Reflected)]
        errors = [answer for answer in answers if not isinstance(answer, Reflected)]
        self.failures += [error.message for error in errors]
        require_any(reflections, errors)
        return reflections, errors[0] if errors else None

    def minibatches(
        self, turn: TurnContext, shown: Sequence[EpisodeRecord]
    ) -> tuple[tuple[ShownEpisode, ...], ...]:
        """Draw failures and successes that show a signal, and read them again; an empty batch is left out.

        Episodes that nobody judged stand with the failures: a signal is what they have to tell.
        """
        failed = [record for record in shown if (outcome := truth(record)) is None or outcome < FAILS_UNDER]
        ids = {record.id for record in failed}
        succeeded = [record for record in shown if record.id not in ids]
        groups = [drawn(group, self.size, turn.seed) for group in (failed, succeeded)]
        every = [record for group in groups for record in group]  # of one log more often than not: it is read once
        read = zip(every, transcripts(turn.registry, every, MOST_EPISODE_CHARS), strict=True)
        texts = {record.id: text for record, text in read if text}
        batches = (
            tuple(
                ShownEpisode(text.text, truth(record), text.evidence)
                for record in group
                if (text := texts.get(record.id))
            )
            for group in groups
        )
        return tuple(batch for batch in batches if batch)


def drawn(records: Sequence[EpisodeRecord], size: int, seed: int) -> list[EpisodeRecord]:
    """Draw episodes, the same ones for the same seed: of each task one, before there is a second of any."""
    ordered = sorted(records, key=lambda record: record.id)
    draws = random.Random(seed)  # noqa: S311 - a seeded draw, not a secret
    some = draws.sample(ordered, min(size, len(ordered)))
    if len({record.task for record in some}) == len(some):
        return some
    seen: Counter[str] = Counter()
    turns: list[tuple[int, int, EpisodeRecord]] = []
    for record in draws.sample(ordered, len(ordered)):
        turns.append((seen[record.task], len(turns), record))
        seen[record.task] += 1
    return [record for _, _, record in sorted(turns, key=lambda turn: turn[:2])[:size]]


def _nothing_new(tally: SuggestionTally) -> str:
    """Say why a model's suggestions came to nothing."""
    if not tally.suggested:
        return "the model suggests nothing"
    words = ("misfit", "repeated", "refused", "contradicting", "clipped")
    text = ", ".join(f"{getattr(tally, word)} {word}" for word in words if getattr(tally, word))
    return f"of {tally.suggested} suggestions none is new: {text}"


def skill_shown(library: Library, capsule: Capsule) -> str:
    """Write a skill line by line, each under its id; a learned one with its claim, its reason and its rivals."""
    lines: list[str] = []
    last = ""
    for line, origin in blame(library, capsule):
        gene = capsule.gene(line.gene)
        if gene is None:
            lines.append(line.text.rstrip("\r\n"))
            continue
        if line.gene != last:
            closed = not gene.is_open()
            lines.append(f"--- gene {gene.id}{', protected' if closed else ''}")
            last = line.gene
        mark = " protected" if line.id in gene.protected or gene.protected_whole else ""
        lines.append(f"[{line.id}{mark}] {line.text.rstrip()}")
        lines += [f"      claim: {described(claim)}" for claim in claims_of(gene, line)]
        lines += _history(library, getattr(origin.event, "candidate", ""))
    return "\n".join(lines)


def _history(library: Library, name: str) -> Iterator[str]:
    """Say why a line came, and which candidates were tried beside it; nothing that sealed logs showed."""
    candidate = library.candidate(name) if name else None
    if candidate is None:
        return
    yield f"      reason: {reason_given(candidate.proposed.reason)}"
    for other in library.answers(candidate.proposed.fingerprint):
        if other.id != candidate.id and other.verdict in {"reject", "hold"}:
            words = " / ".join(text.strip() for text in other.proposed.new_lines if text.strip())
            yield f"      tried there: {words or 'lines taken away'}: {other.verdict}"


def _tried_shown(tried: Sequence[PastProposal]) -> str:
    attempts = []
    for past in tried[-_MOST_TRIED:]:
        words = " / ".join(text.strip() for edit in past.edits for text in edit.text if text.strip())
        claims = "; ".join(described(claim) for claim in (*past.claims, *past.removes))
        attempts.append(f"{past.verdict}: {words or 'lines taken away'}{f' (claim: {claims})' if claims else ''}")
    return "\n".join(attempts)


def vocabulary_shown(explore: Sequence[EpisodeRecord]) -> str:
    """List the templates and the action classes of explore, the most frequent first, with their episodes."""
    errors = Counter(template for record in explore for template in {s.template for s in record.steps if s.error})
    calls = Counter(action for record in explore for action in {s.action for s in record.steps})
    known = set(action_classes(explore))
    templates = [f"{count:>6}  {template}" for template, count in errors.most_common() if template]
    actions = [f"{count:>6}  {action}" for action, count in calls.most_common() if action in known]
    return "\n".join(
        (
            "error templates, by episodes:",
            *templates[:_MOST_WORDS],
            "action classes, by episodes:",
            *actions[:_MOST_WORDS],
            f"forms of final answers: {', '.join(sorted(FORMS))}",
        )
    )
