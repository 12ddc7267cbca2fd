"""What a turn came to, as people and scripts read it, and what asking a model came to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from events.errors import EditError, NotFoundError
from events.types.model_events import ModelAsked
from registry.decide.promote import edited
from registry.skill_md.render import projected_lines
from strategies.gate.explain import WRITER
from strategies.gate.injection import QUARANTINE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from events.types.candidate_events import CandidateProposed
    from events.types.claims import Claim
    from events.types.parts import Edit, NewGene, Strategy
    from events.types.registry_events import SignalRaised
    from events.types.runs import Rollouts
    from events.types.score import Delta, Effect, Measured
    from events.types.tiers import TierFigures
    from registry.query.library import Library
    from registry.state.capsule import Capsule
    from strategies.evolve.reflect import Reflecting
    from strategies.gate.rule import NeededTasks
    from strategies.propose.claude import SuggestionTally
    from strategies.select.pick import Pick


@dataclass(frozen=True, slots=True)
class EditShown:
    """An edit as people read it: where its text begins in the projected file, and the text."""

    op: str
    line: int
    text: str


@dataclass(frozen=True, slots=True)
class CandidateShown:
    """A candidate as people read it."""

    id: str
    edits: tuple[EditShown, ...]
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CycleResult:
    """What one turn came to. `remembered` marks a verdict that was read, not measured again.

    `harm` says how a rejected candidate would have hurt, "" where it would not. `sent` is 0 where the sealed logs
    were never asked.

    `pick` says why this signal was picked, None for the further candidates of a turn that led to several; `preset`
    which one bound, and `because` why `auto` chose that one. `tier` is what speaks for its
    lines, if anything does.
    """

    strategy: Strategy
    signal: SignalRaised
    capsule: str
    candidate: CandidateShown | None = None
    effect: Effect | None = None
    verdict: str = "hold"
    reasons: tuple[str, ...] = ()
    before: Measured | None = None
    after: Measured | None = None
    delta: Delta | None = None
    audit_before: Measured | None = None
    audit_after: Measured | None = None
    audit_delta: Delta | None = None
    rollouts: Rollouts | None = None
    version: int | None = None
    tried: int = 0
    needed: NeededTasks | None = None
    proposer: str = ""
    sent: int = 0
    remembered: bool = False
    harm: str = ""
    preset: str = ""
    because: str = ""
    pick: Pick[SignalRaised] | None = None
    tier: TierFigures | None = None


def shown_edits(base: Capsule, proposed: CandidateProposed) -> tuple[EditShown, ...]:
    """Say where each edit's text begins in the projected file, once it is there; line 0 where it no longer fits.

    A new gene comes first, as an edit of its own; a new skill is one edit. Of a deletion the text is what goes, as
    long as it is there, and the line 0. Shapes: base is the capsule before the edits, or after them; only lines
    that have no event yet are counted.
    """
    if proposed.skill is not None:
        return (EditShown("new skill", 1, _joined(proposed.new_lines)),)
    places = _places(base, proposed.edits, proposed.proposer)
    shown = tuple(
        EditShown(edit.op, places.get(_first(edit.text), 0), _joined(edit.text or _deleted(base, edit)))
        for edit in proposed.edits
    )
    born = proposed.born
    if born is None:
        return shown
    first = _first_line(base, proposed.edits, born, proposed.proposer)
    return EditShown("new gene", first, _joined(born.lines)), *shown


def _deleted(base: Capsule, edit: Edit) -> Iterator[str]:
    gene = base.gene(edit.gene)
    return (line.text for line in (gene.lines if gene else ()) if line.id in edit.target)


def _places(base: Capsule, edits: tuple[Edit, ...], by: str) -> dict[str, int]:
    """Number the lines that edits bring, by what they say; nothing where they no longer fit."""
    try:
        after = replace(edited(base, edits, by=by), stamped=not base.is_instructions, version=base.version + 1)
    except (EditError, NotFoundError):
        return {}
    lines = (line for line in reversed(projected_lines(after)) if line.text.strip() and line.origin == 0)
    return {line.text.strip(): line.number for line in lines}


def _first(text: Iterable[str]) -> str:
    return next((line.strip() for line in text if line.strip()), "")


def _joined(lines: Iterable[str]) -> str:
    return "".join(lines).strip("\n")


def _first_line(base: Capsule, edits: tuple[Edit, ...], born: NewGene, by: str) -> int:
    """Find where a new gene begins, if it is there already or once it is."""
    there = base.gene(born.gene) is not None
    try:
        new = base if there else edited(base, edits, born, by=by)
        after = new if there else replace(new, stamped=not base.is_instructions, version=base.version + 1)
    except (EditError, NotFoundError):
        return 0
    own = (line.number for line in projected_lines(after) if line.text.strip() and line.gene == born.gene)
    return next(own, 0)


class ModelReport(NamedTuple):
    """What a model was asked in a run, and what its reasons were worth.

    `refuted_on_explore` and `refuted_on_sealed` count the candidates whose claim logs speak against, in the logs
    that a proposer may see and in those it never sees, `refuted_by_runs` those that runs of an agent do; `written`
    counts new sections and skills. `cost_usd` is
    None where a price is not known; what was replayed cost nothing now.
    """

    models: tuple[str, ...]
    prompts: int
    replayed: int
    tokens: int
    cost_usd: float | None
    tally: SuggestionTally
    refuted_on_explore: int
    refuted_on_sealed: int
    refuted_by_runs: int
    quarantined: int
    written: int
    failures: tuple[str, ...]


def model_report(
    library: Library, reflecting: Reflecting, results: Sequence[CycleResult], *, since: int
) -> ModelReport:
    """Sum up what was asked behind an event's position, and what became of it."""
    envelopes = library.log.read(after=since, types=("ModelAsked",))
    asked = [event for envelope in envelopes if isinstance(event := envelope.event, ModelAsked)]
    paid = [event for event in asked if not event.replayed]
    costs = [event.cost_usd for event in paid]
    rejected = [
        result for result in results if result.verdict == "reject" and result.candidate and not result.remembered
    ]
    by_logs = [result for result in rejected if result.rollouts is None]
    return ModelReport(
        models=tuple(dict.fromkeys(event.model for event in asked)),
        prompts=len(asked),
        replayed=len(asked) - len(paid),
        tokens=sum(event.usage.total if event.usage else event.most_tokens for event in asked),
        cost_usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        tally=reflecting.tally,
        refuted_on_explore=sum(not result.sent for result in by_logs),
        refuted_on_sealed=sum(result.sent > 0 for result in by_logs),
        refuted_by_runs=len(rejected) - len(by_logs),
        quarantined=sum(any(reason.startswith(QUARANTINE) for reason in result.reasons) for result in results),
        written=sum(result.proposer == WRITER and not result.remembered for result in results),
        failures=tuple(reflecting.failures),
    )
