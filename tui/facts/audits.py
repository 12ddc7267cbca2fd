"""Audits as facts: a table of evaluators by iterations, and what became of each draft."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.audit.audit_model import ModelStanding
from strategies.audit.evaluators.evaluators_table import EVALUATORS
from tui.facts.audit_moves import move_words
from tui.facts.fact import Fact, fact, listed
from tui.text.numbers import count
from tui.text.rows import RowPart

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from events.types.audit_events import AuditJudged, AuditResult
    from strategies.audit.audit_record import AuditRecord
    from tui.text.rows import Tone

_MARKS: Final[dict[AuditResult, str]] = {"helped": "+", "hurt": "−", "inert": "·"}
_TONES: Final[dict[str, Tone]] = {"helped": "good", "hurt": "bad"}


class EvaluatorResults(NamedTuple):
    """One evaluator, and how often it reported each result of each draft, over tasks and pairs."""

    evaluator: str
    counts: tuple[dict[AuditResult, int], ...]

    @property
    def cells(self) -> tuple[str, ...]:
        """Each draft in short: `3+ 1− 20·`, "" where it could tell nothing."""
        return tuple(map(_marked, self.counts))


def draft_label(iteration: int, attempt: int = 0) -> str:
    """Name a draft by its iteration and, after the first one there, its number in it; 0 is the skill as given."""
    number = f"{iteration}.{attempt + 1}" if attempt else f"{iteration}"
    return f"draft {number}" if iteration else "as given"


def evaluator_table(record: AuditRecord, drafts: Iterable[AuditJudged]) -> list[EvaluatorResults]:
    """Count what each evaluator reported of each of some drafts."""
    reports, looks = record.last_reports, [(judged.iteration, judged.draft) for judged in drafts]

    def counts(look: tuple[int, str], evaluator: str) -> dict[AuditResult, int]:
        event = reports.get((*look, evaluator))
        return dict(Counter(row.result for row in event.tasks)) if event else {}

    return [
        EvaluatorResults(evaluator.name, tuple(counts(look, evaluator.name) for look in looks))
        for evaluator in EVALUATORS
    ]


def _marked(counts: dict[AuditResult, int]) -> str:
    return " ".join(f"{counts[result]}{mark}" for result, mark in _MARKS.items() if result in counts)


def audit_facts(record: AuditRecord) -> Iterator[Fact]:
    """Say what was audited, with what, and how it ended."""
    started, ended = record.started, record.ended
    version = f"@{started.version}" if started.version else ", a draft"
    yield fact("audit", f"{started.capsule}{version}, on {count(started.tasks, 'task')}; agent {started.agent}")
    asked = f"the rest ask {started.model}" if started.model else "no model is asked"
    yield fact("asks", f"{len(EVALUATORS)} evaluators: what can be computed is computed, {asked}")
    marks = ", ".join(f"{mark} {result}" for result, mark in _MARKS.items())
    yield fact("marks", f"{marks}, – nothing to look at; counted over tasks and pairs")
    if ended is None:
        yield fact("ended", "not yet: the same command goes on")
        return
    yield fact("ended", ended.because)
    cost = f", {ended.cost_usd:.2f} USD" if ended.cost_usd else ""
    yield fact("runs", f"{count(ended.runs, 'run')} made, {ended.reused:,} from the bank{cost}")
    if ended.candidate:
        yield fact("candidate", ended.candidate[:12])


def draft_facts(judged: AuditJudged) -> Iterator[Fact]:
    """Say what an iteration changed, who asked for it, and what became of it."""
    tone = _TONES.get(judged.result, "")
    outcome = "" if judged.kept else ", rolled back"
    parts = (RowPart(f"{judged.result}{outcome}", tone), RowPart(f": {judged.reason}"))
    label = draft_label(judged.iteration, judged.attempt)
    yield Fact(label, parts, f"{judged.anchors_held} of {judged.anchors} anchors held")
    if judged.iteration and not judged.moves:
        yield fact("", "what was kept last, once more in further pairs")
    for move in judged.moves:
        yield fact("", move_words(move))
        yield fact("", f"  {move.evaluator} on {move.task}: {move.reason}")
    yield from listed("", (f"not made: {left}" for left in judged.left_out))
    if judged.void:
        quoted = f"{count(judged.void, 'signal')} quoted what the skill does not hold"
        yield fact("void", f"{quoted}, and counted for nothing")
    if judged.model_held:
        wrong = f"{judged.model_wrong} of {count(judged.model_held, 'result')}"
        uncounted = (
            "" if ModelStanding(judged.model_held, judged.model_wrong).counts else ": too many, so none counts"
        )
        yield fact("model", f"{wrong} that could be held against what was made contradict it{uncounted}")
    if judged.drift is not None:
        yield fact("drift", f"{judged.drift:.0%} of results were others when the first questions were asked again")
    if judged.lost_pairs:
        lost = count(len(judged.lost_pairs), "pair")
        yield fact("lost", f"{lost} to infrastructure; the same command runs what is missing, and goes on")
        yield from listed("", judged.lost_pairs)


def evaluator_facts(record: AuditRecord, evaluator: str) -> Iterator[Fact]:
    """Say what one evaluator reports of the last draft, task by task, what hurts first."""
    last = record.judged[-1] if record.judged else None
    shown = record.last_reports.get((last.iteration, last.draft, evaluator)) if last else None
    for row in sorted(shown.tasks if shown else (), key=lambda row: row.result != "hurt"):
        yield Fact(row.task, (RowPart(row.result, _TONES.get(row.result, "")), RowPart(f": {row.reason}")))
