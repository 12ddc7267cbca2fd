"""Signals in documents: as they were raised, as they were picked, and what they are worth."""

from typing import TYPE_CHECKING, Literal

from events.types.parts import Strategy
from strategies.episodes.episode import WorldSource
from tui.documents.document import ABSENT, Absent, Document, OrNull, Part, Rehearsed
from tui.documents.events import EventRow
from tui.documents.evidence import ErasedRow, EvidenceRow, erased_rows, evidence_rows
from tui.facts.candidates import proposed_text
from tui.facts.signals import fact_sentence, next_command
from tui.text.signal_words import SignalState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.registry_events import SignalRaised
    from registry.query.library import Library
    from strategies.lessons.fixes import FixFigures
    from strategies.select.pick import Pick
    from strategies.signals.quality import Quality
    from strategies.signals.source_quality import SourceQuality
    from tui.reads.signal_facts import SignalDetail, SignalFact, SignalFacts


class SignalRow(Part):
    """A signal in short, without its evidence."""

    kind: str
    fingerprint: str
    template: str
    action: str
    count: int
    episodes: int


class RaisedSignal(Part):
    """A signal as it was raised, without its evidence."""

    fingerprint: str
    kind: str
    calls_for: Strategy
    template: str
    action: str
    count: int
    episodes: int
    runs: tuple[str, ...]
    severity: float


def raised_signals(signals: "Iterable[SignalRaised]") -> tuple[RaisedSignal, ...]:
    """Describe signals that came up."""
    return tuple(map(RaisedSignal.model_validate, signals))


class FirstFigures(Part):
    """The figures with which a signal was first raised."""

    count: int
    episodes: int
    severity: float


class RouteRow(Part):
    """The skill that a signal goes to, null where there is none, what decided that, and why.

    `by` is person, setting, about, trigger, only, loaded, content or instructions, and null where nothing decided;
    `margin` is the lead in content over the next skill, in [0, 1), null where content was not looked at.
    """

    skill: OrNull[str]
    by: OrNull[str]
    why: str
    margin: float | None


class SignalListed(RaisedSignal):
    """A signal as it is counted now, and where it goes; `raised_with` are the figures of its event."""

    evidence: tuple[str, ...]
    open: bool
    raised_with: FirstFigures
    position: int
    at: str
    route: RouteRow


def listed_signals(library: "Library", facts: "Iterable[SignalFact]") -> tuple[SignalListed, ...]:
    """Describe every signal of some facts, the most severe first."""
    first = {signal.position: FirstFigures.model_validate(signal.event) for signal in library.signals()}
    rows = (
        SignalListed(
            **signal.event.model_dump(exclude={"type"}),
            open=signal.event.fingerprint in fact.open_signals,
            raised_with=first[signal.position],
            position=signal.position,
            at=signal.at,
            route=RouteRow.described(route),
        )
        for fact in facts
        for signal, route in zip(fact.group.signals, fact.routes, strict=True)
    )
    return tuple(sorted(rows, key=lambda row: (-row.severity, row.fingerprint)))


class WorkedNext(Part):
    """What worked next, in how many sessions of how many that tried it; else `others_worked` of `others` worked.

    `kind` is instead (another command), flag (the same with a flag) or first (a call before the same again). `low`
    bounds the chance that it works the next time: one-sided 95 %, given that it was chosen among `compared`.
    """

    kind: str
    name: str
    worked: int
    tried: int
    low: float
    compared: int
    others_worked: int
    others: int

    @classmethod
    def of(cls, figures: "FixFigures") -> "WorkedNext":
        """Describe what worked next."""
        kind, name = figures.fix
        return cls.described(
            figures.seen, kind=kind, name=name, others_worked=figures.others_worked, others=figures.others
        )


class AnsweringLineRow(Part):
    """A live line that answers a signal."""

    skill: str
    version: int
    number: int
    text: str


class SignalFactRow(Part):
    """A fact that one or more signals tell: what happened (`word`), in how many of all sessions, what worked next.

    `id` is the shortest beginning of `fingerprint` that no other signal has; the beginning of any of `signals`
    means the fact as well. `worked_next` is null where nothing clearly worked, or the fact is about no error.
    `waiting` are candidates that nobody decided on, `lines` the live ones that answer it.
    """

    id: str
    fingerprint: str
    word: str
    kind: str
    template: str
    action: str
    count: int
    sessions: int
    of: int
    worked_next: WorkedNext | None
    route: RouteRow
    state: SignalState
    lines: tuple[AnsweringLineRow, ...]
    waiting: tuple[str, ...]
    signals: tuple[str, ...]

    @classmethod
    def of_fact(cls, fact: "SignalFact", short: int) -> "SignalFactRow":
        """Describe a fact."""
        return cls.described(
            fact.group.head,
            id=fact.id[:short],
            fingerprint=fact.id,
            word=fact.word,
            sessions=fact.group.episodes,
            of=fact.sessions,
            worked_next=WorkedNext.of(fact.worked) if fact.worked else None,
            route=RouteRow.described(fact.route),
            state=fact.state,
            lines=tuple(map(AnsweringLineRow.model_validate, fact.lines)),
            waiting=tuple(candidate.id for candidate in fact.waiting),
            signals=tuple(raised.event.fingerprint for raised in fact.group.signals),
        )


class ProportionRow(Part):
    """A share of n, with its 95 % interval."""

    value: float
    low: float
    high: float
    hits: int
    n: int


class KindQuality(Part):
    """What one kind of signal says about failure."""

    kind: str
    precision: ProportionRow
    recall: ProportionRow
    lift: float | None


class SignalQuality(Part):
    """What one signal says about failure."""

    fingerprint: str
    template: str
    action: str
    kind: str
    precision: ProportionRow
    recall: ProportionRow
    lift: float | None


class TaskShareRow(Part):
    """A share of episodes in which each task counts once, with its 95 % interval."""

    value: float
    low: float
    high: float
    episodes: int
    tasks: int


class SourceQualityRow(Part):
    """How far a source of outcomes from the world agrees with labels; `enough` tells whether there are enough."""

    source: WorldSource | Literal["recovered"]
    sessions: int
    tasks: int
    labelled: int
    labelled_tasks: int
    enough: bool
    agreement: TaskShareRow | None
    success_precision: TaskShareRow | None
    success_recall: TaskShareRow | None
    failure_precision: TaskShareRow | None
    failure_recall: TaskShareRow | None


class QualityFigures(Part):
    """How signals compare with outcomes, and sources from the world with labels."""

    episodes: int
    failed: int
    kinds: tuple[KindQuality, ...]
    signals: tuple[SignalQuality, ...]
    sources: tuple[SourceQualityRow, ...] = ()


class SignalsDocument(Document):
    """List what signals tell: the facts, those that cost most first, and each signal, the most severe first."""

    schema_: Literal["germline/signals/1"] = "germline/signals/1"
    facts: Absent[tuple[SignalFactRow, ...]] = ABSENT
    signals: Absent[tuple[SignalListed, ...]] = ABSENT
    quality: Absent[QualityFigures] = ABSENT

    @classmethod
    def of_facts(cls, library: "Library", facts: "Sequence[SignalFact]", short: int) -> "SignalsDocument":
        """Answer `signals`; `short` characters of an id tell all facts apart."""
        rows = tuple(SignalFactRow.of_fact(fact, short) for fact in facts)
        return cls(facts=rows, signals=listed_signals(library, facts))

    @classmethod
    def of_quality(cls, quality: "Quality", sources: "Sequence[SourceQuality]") -> "SignalsDocument":
        """Answer `signals --quality`."""
        rows = tuple(map(SourceQualityRow.model_validate, sources))
        return cls(quality=QualityFigures.model_validate(quality).model_copy(update={"sources": rows}))


class FactCost(Part):
    """What the failures of a fact took; units: minutes. `tokens` are an estimate, null where no log tells."""

    failed: int
    minutes: float
    tokens: int | None


class FactCandidate(Part):
    """A candidate that was proposed for a signal."""

    id: str
    skill: str
    verdict: str | None
    text: str


class SignalsShowDocument(Document):
    """Show one fact: its signals, what worked next, the sessions that show it, the candidates and lines for it."""

    schema_: Literal["germline/signals-show/1"] = "germline/signals-show/1"
    sentence: str
    fact: SignalFactRow
    signals: tuple[SignalListed, ...]
    cost: FactCost | None
    sessions: tuple[str, ...]
    evidence: tuple[EvidenceRow, ...]
    erased: tuple[ErasedRow, ...]
    tried: tuple[FactCandidate, ...]
    next: str

    @classmethod
    def of_detail(
        cls, library: "Library", detail: "SignalDetail", facts: "SignalFacts", there: "Sequence[bool]"
    ) -> "SignalsShowDocument":
        """Answer `signals show`; `there` says of each piece of evidence whether its log still has it."""
        cost = detail.cost
        return cls(
            sentence=fact_sentence(detail.fact),
            fact=SignalFactRow.of_fact(detail.fact, facts.short),
            signals=listed_signals(library, [detail.fact]),
            cost=FactCost.described(cost, minutes=round(cost.minutes, 1)) if cost else None,
            sessions=tuple(record.id for record in detail.shown_in),
            evidence=evidence_rows(detail.evidence, there),
            erased=erased_rows(detail.erased),
            tried=tuple(
                FactCandidate(
                    id=candidate.id,
                    skill=candidate.proposed.capsule,
                    verdict=candidate.verdict,
                    text=proposed_text(candidate.proposed),
                )
                for candidate in detail.tried
            ),
            next=next_command(detail, facts.short, skills=bool(facts.skills)),
        )


class Assigned(Part):
    """Where a signal goes from now on; `previous` is the skill that a person gave it to before."""

    dry_run: Rehearsed = False
    fingerprint: Absent[str] = ABSENT
    previous: Absent[str | None] = ABSENT
    route: Absent[RouteRow] = ABSENT
    events: tuple[EventRow, ...]


class SignalAssignDocument(Assigned, Document):
    """Say which skill a signal belongs to; it overrules every rule. Saying the same again adds nothing."""

    schema_: Literal["germline/signals-assign/1"] = "germline/signals-assign/1"


class SignalUnassignDocument(Assigned, Document):
    """Take back which skill a signal belongs to: the rules decide again."""

    schema_: Literal["germline/signals-unassign/1"] = "germline/signals-unassign/1"


class PickReason(Part):
    """Why a signal was picked: what each kind was owed, how many of each waited, how severe it is."""

    owed: dict[Strategy, float]
    waiting: dict[Strategy, int]
    severity: float

    @classmethod
    def of(cls, pick: "Pick[SignalRaised]") -> "PickReason":
        """Read it from the pick."""
        return cls(owed=pick.owed, waiting=pick.waiting, severity=pick.offer.severity)


class RestingSignal(Part):
    """A signal that is not picked for a while."""

    signal: SignalRow
    failures: int
    turns_left: int
