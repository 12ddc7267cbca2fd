"""What the templates ask for: the facts and figures of versions, lines, candidates, signals and runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from events.types.score import Score
from registry.query.provenance import endpoint_of as endpoint_note
from registry.query.signal_kinds import kind_word
from tui.facts.candidates import UNCLAIMED, proposal_facts, support_facts, tier_facts, verdict_facts
from tui.facts.fact import fact, listed
from tui.facts.runs import run_facts
from tui.facts.scores import score_facts
from tui.report.anchors import candidate_at
from tui.text.numbers import count
from tui.text.words import claim_words, seen_words
from tui.views.evidence import template_spans

if TYPE_CHECKING:
    from collections.abc import Iterator

    from events.types.candidate_events import CandidateScored
    from events.types.registry_events import SignalRaised
    from events.types.score import Effect, Measured
    from registry.query.provenance import KeptEvidence
    from registry.query.versions import VersionRow
    from registry.state.candidate import Candidate
    from tui.facts.fact import Fact
    from tui.reads.trend_series import HeatCell, HeatMap, HeatRow, TaskRun
    from tui.report.reads import LineContent, SignalContent, SkillContent

QUOTED: Final = 2
"""Pieces of evidence that an opened line quotes; the rest stands with the signal."""
SIGNS: Final = {"passed": "✓", "failed": "✗", "mixed": "±"}
_EVALUATOR_CHARS: Final = 8
_HASH_CHARS: Final = 64
_TASK_CHARS: Final = 12
_RUNS_OF_CELL: Final = 8
_MOST_RUNS: Final = 1_500
"""Runs that are listed of one skill; behind that, cells are only counted (a guess: 200 kB)."""


# -- scores --------------------------------------------------------------------------------------------


def size_of(measured: Measured | None) -> str:
    """Say over how many episodes or runs a score goes."""
    if not isinstance(measured, Score):
        return "–"
    return f"{measured.n:,} {'runs' if measured.kind == 'rollout' else 'episodes'}"


def endpoint_of(measured: Measured | None) -> str:
    """Say by what a score judges."""
    return measured.endpoint if isinstance(measured, Score) else "–"


def evaluator_of(measured: Measured | None) -> str:
    """Name who measured: `replay 5ea1ed00`."""
    return f"{measured.kind} {measured.evaluator[:_EVALUATOR_CHARS]}" if isinstance(measured, Score) else "–"


# -- versions ------------------------------------------------------------------------------------------


def versions_with_seams(skill: SkillContent) -> Iterator[tuple[VersionRow, bool]]:
    """List versions, newest first, each with whether another evaluator measured the one above."""
    newer = ""
    for row in reversed(skill.versions):
        evaluator = row.score.evaluator if isinstance(row.score, Score) else ""
        yield row, bool(newer and evaluator and evaluator != newer)
        newer = evaluator or newer


def candidate_of(skill: SkillContent, row: VersionRow) -> str:
    """Name the place of the candidate that brought a version, "" where the page has none."""
    return next(
        (
            candidate_at(row.capsule, candidate.position)
            for candidate in skill.candidates
            if candidate.id == row.candidate
        ),
        "",
    )


def author(actor: str) -> str:
    """Name who caused a version, and of what kind that is."""
    kind, _, name = actor.partition(":")
    return f"model {name.partition('#')[0]}" if kind == "model" else f"{kind} {name}".strip()


def without_folder(text: str, source: str) -> str:
    """Name the folder that a skill came from without its parents, which tell of the machine."""
    return text.replace(source, source.rpartition("/")[2]) if source else text


# -- lines and candidates ------------------------------------------------------------------------------


def signal_of(skill: SkillContent, candidate: Candidate) -> SignalContent | None:
    """Find the signal that a candidate answers."""
    return next((s for s in skill.signals if s.raised.event.fingerprint == candidate.proposed.fingerprint), None)


def learned_facts(line: LineContent, signal: SignalContent | None) -> Iterator[Fact]:
    """Say what a learned line claims, and what was measured of its candidate."""
    known = signal.raised.event.template if signal else ""
    yield from tier_facts(line.blame.tier, line.candidate)
    claims = [claim_words(claim, known=known) for claim in line.claims]
    yield from listed("claim", claims) if claims else [fact("claim", UNCLAIMED, "warn")]
    if line.candidate and line.candidate.scored:
        yield from score_facts(line.candidate.scored)


def card_facts(candidate: Candidate, signal: SignalContent | None) -> Iterator[Fact]:
    """Say what a candidate claims, what became of it and why, and what its runs showed."""
    yield from support_facts(candidate)
    yield from proposal_facts(candidate.proposed, known=signal.raised.event.template if signal else "")
    yield from verdict_facts(candidate)
    if candidate.reviewed:
        yield from listed("because", candidate.reasons)
    if candidate.looked_over:
        yield fact("later", f"a person {candidate.looked_over.decision}s: {candidate.looked_over.reason}")
    if endpoint := endpoint_note(candidate.scored):
        yield fact("endpoint", endpoint, "warn")
    if candidate.scored and candidate.scored.rollouts:
        yield from run_facts(candidate.scored.rollouts, candidate.scored.attributions)


def effects_of(scored: CandidateScored | None) -> list[tuple[str, Effect]]:
    """List what obeying the claims of a candidate goes with, where it was measured."""
    if scored is None:
        return []
    every = ("sealed", scored.effect), ("audit", scored.audit_effect), ("outcome", scored.outcome_effect)
    return [(name, effect) for name, effect in every if effect]


# -- signals and evidence ------------------------------------------------------------------------------


def signal_facts(event: SignalRaised) -> Iterator[Fact]:
    """Say of which kind a signal is, and where it was seen."""
    yield fact("kind", f"{kind_word(event.kind)}, calls for {event.calls_for}")
    if event.action:
        yield fact("action", event.action)
    runs = f": {', '.join(event.runs)}" if event.runs else ""
    yield fact("seen", f"{seen_words(event)}{runs}")


def kept_words(signal: SignalContent) -> str:
    """Say how many pieces of evidence are kept, and how many were erased."""
    kept = len(signal.evidence) + signal.more
    erased = f", {count(len(signal.erased), 'piece')} erased" if signal.erased else ""
    return f"{count(kept, 'piece')} kept{erased}" if kept or erased else "no record is kept"


def pieces_of(signal: SignalContent) -> Iterator[tuple[KeptEvidence, bool]]:
    """List the pieces of evidence that are shown, each with whether it still is in its log."""
    return zip(signal.evidence, signal.there, strict=True)


def marked_text(kept: KeptEvidence, template: str) -> Iterator[tuple[str, str | None]]:
    """Cut a text at the mark of removed text ("removed"), else at what matches the template ("").

    What is not to be marked comes with None.
    """
    text, at = kept.evidence.text, 0
    spans = [(start, end, "removed") for start, end in _redacted(kept)]
    for start, end, kind in spans or [(start, end, "") for start, end in template_spans(text, template)]:
        yield text[at:start], None
        yield text[start:end], kind
        at = end
    yield text[at:], None


def _redacted(kept: KeptEvidence) -> Iterator[tuple[int, int]]:
    at = 0
    for mark in sorted(kept.evidence.redactions, key=lambda mark: mark.start):
        if mark.start >= at:
            yield mark.start, mark.end
            at = mark.end


# -- tasks ---------------------------------------------------------------------------------------------


def task_name(task: str) -> str:
    """Name a task; of one that is known by its hash alone, the beginning."""
    return task[:_TASK_CHARS] if len(task) == _HASH_CHARS and task.isalnum() else task


def listed_runs(heat: HeatMap) -> Iterator[tuple[int, HeatRow, list[tuple[int, HeatCell, tuple[TaskRun, ...]]]]]:
    """List the runs by task (a row of the map) and version, as far as there is room for them."""
    room = _MOST_RUNS
    for at, row in enumerate(heat.rows):
        cells = []
        for version, cell in row.cells.items():
            shown = cell.runs[: min(_RUNS_OF_CELL, room)]
            room -= len(shown)
            cells.append((version, cell, shown))
        yield at, row, cells


def run_place(run: TaskRun) -> str:
    """Say where a run is found: in which file of logs, or as which finished run that germline keeps."""
    if not run.source:
        return f"{run.run}, finished run {run.id[:_TASK_CHARS]}"
    return ", ".join(filter(None, (run.name, run.run, run.source.rpartition("/")[2])))
