"""Signals as people ask for them: a row for each fact, what worked next, what answers it, and where it shows."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from registry.query.provenance import blame, erased_of, evidence_of
from registry.query.signal_kinds import kind_word
from registry.query.signals import raised_as_counted
from registry.skill_md.render import projected_lines
from registry.state.line_claims import claims_of
from strategies.pool.known_episodes import all_episodes, sharper_templates
from strategies.scope.scope import scope_of
from strategies.signals.open_signals import Sightings, answers, open_among
from strategies.signals.signal_groups import signal_groups
from strategies.signals.thresholds import DEFAULTS
from tui.text.names import unique_chars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from events.types.claims import Claim
    from registry.query.library import Library, Raised
    from registry.query.provenance import KeptEvidence
    from registry.query.signals import ErasedEvidence
    from registry.state.candidate import Candidate, CandidateOutline
    from strategies.episodes.episode import EpisodeRecord
    from strategies.lessons.fixes import FixFigures
    from strategies.lessons.lost_time import Cost
    from strategies.scope.log_globs import LogGlobs
    from strategies.scope.scope import Route
    from strategies.signals.signal_groups import SignalGroup
    from strategies.signals.thresholds import Thresholds
    from tui.text.signal_words import SignalState

_POSITION: Final = attrgetter("position")


@dataclass(frozen=True, slots=True)
class AnsweringLine:
    """A live line that answers a signal: by its claim, or because a candidate for the signal wrote it."""

    skill: str
    version: int
    number: int
    text: str


@dataclass(frozen=True, slots=True)
class SignalFact:
    """A fact that signals tell, and what is known of it; `sessions` are all that are known.

    `routes` are those of its signals, of which `open_signals` are not answered yet. `waiting` are candidates that
    nobody decided on. `worked` is what worked next, where that is clear; it is `searched` after the rest.
    """

    group: SignalGroup
    sessions: int
    route: Route
    routes: tuple[Route, ...]
    open_signals: frozenset[str]
    state: SignalState
    lines: tuple[AnsweringLine, ...] = ()
    waiting: tuple[Candidate, ...] = ()
    worked: FixFigures | None = None
    searched: bool = False

    @property
    def id(self) -> str:
        """The name of the fact, whole; any of its signals' names means it as well."""
        return self.group.fingerprint

    @property
    def word(self) -> str:
        """What happened, in a plain word."""
        return kind_word(self.group.head.kind)

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of its signals."""
        return frozenset(raised.event.kind for raised in self.group.signals)


class OpenFacts(NamedTuple):
    """The facts that nobody answered: how many there are, and what the costliest of them says."""

    number: int
    costliest: str


@dataclass(frozen=True, slots=True)
class SignalFacts:
    """Every fact, the costliest that no line answers first.

    `signals`, `sessions` and `skills` count all there are; `short` characters of an id tell them apart.
    """

    facts: tuple[SignalFact, ...]
    signals: int
    sessions: int
    short: int
    skills: int

    @property
    def open(self) -> OpenFacts:
        """Sum up those that nobody answered."""
        still = [fact for fact in self.facts if fact.state == "open"]
        return OpenFacts(len(still), next((fact.group.template or fact.group.head.action for fact in still), ""))

    def fact_of(self, fingerprint: str) -> SignalFact | None:
        """Find the fact that a signal tells, None where it was not raised."""
        return next((fact for fact in self.facts if fingerprint in fact.group.fingerprints), None)

    def named(self, fingerprint: str) -> SignalFact:
        """Give the fact that a signal tells, which was raised."""
        return next(fact for fact in self.facts if fingerprint in fact.group.fingerprints)


class SignalFilter(NamedTuple):
    """Which facts are wanted; a field that is "" leaves out none. `since` is RFC 3339."""

    kind: str = ""
    skill: str = ""
    state: str = ""
    since: str = ""
    text: str = ""

    def tests(self) -> Iterator[tuple[str, Callable[[SignalFact], bool]]]:
        """Yield what is asked of facts, each with the words for those that answer to it."""
        if self.kind:
            yield f"called {kind_word(self.kind)!r}", lambda fact: self.kind in fact.kinds
        if self.skill:
            yield f"about {self.skill}", lambda fact: self.skill in _skills_of(fact)
        if self.state:
            yield self.state, lambda fact: fact.state == self.state
        if self.since:
            yield f"raised since {self.since[:16]}", lambda fact: fact.group.newest.at >= self.since
        if self.text:
            yield f"with {self.text!r}", lambda fact: self.text.casefold() in text_of_fact(fact)

    def chosen(self, facts: Iterable[SignalFact]) -> tuple[SignalFact, ...]:
        """Choose among facts, in their order."""
        tests = [fits for _, fits in self.tests()]
        return tuple(fact for fact in facts if all(fits(fact) for fits in tests))

    @property
    def words(self) -> str:
        """Say what is asked for, "" for everything."""
        return ", ".join(words for words, _ in self.tests())


def text_of_fact(fact: SignalFact) -> str:
    """Give the words by which a fact is found, folded."""
    signals = [raised.event for raised in fact.group.signals]
    names = [text for signal in signals for text in (signal.kind, signal.template, signal.action, *signal.runs)]
    return " ".join((fact.word, fact.state, *sorted(_skills_of(fact)), *names)).casefold()


def _skills_of(fact: SignalFact) -> set[str]:
    here = {fact.route.skill, *(line.skill for line in fact.lines)}
    return here | {candidate.proposed.capsule for candidate in fact.waiting}


def read_signal_facts(
    library: Library, *, logs: LogGlobs | None = None, records: Sequence[EpisodeRecord] | None = None
) -> SignalFacts:
    """Read every fact but what worked next, which `with_fixes` adds; `records` are all episodes, if at hand."""
    candidates = library.candidate_outlines()  # first: what is kept lies together, and the rest is given back
    records = all_episodes(library) if records is None else records
    raised = raised_as_counted(library)
    events = tuple(signal.event for signal in raised)
    scope, still_open = scope_of(library, records, logs, events), open_among(library, events)
    carried, written = _carried_claims(library), _written_lines(library, candidates)
    undecided = library.candidates_of(each.id for each in candidates if not each.is_decided)
    tried: defaultdict[str, list[CandidateOutline]] = defaultdict(list)
    for each in candidates:
        tried[each.fingerprint].append(each)
    facts = []
    for group in signal_groups(raised, records, sharper_templates(library)):
        fingerprints, signals = group.fingerprints, [signal.event for signal in group.signals]
        for_it = sorted((each for name in fingerprints for each in tried.get(name, ())), key=_POSITION)
        by_claim = (line for line, claim in carried if any(answers([claim], signal) for signal in signals))
        lines = (*by_claim, *(line for each in for_it for line in written.get(each.id, ())))
        waiting = tuple(undecided[each.id] for each in for_it if not each.is_decided)
        routes = tuple(map(scope.route, signals))
        facts.append(
            SignalFact(
                group=group,
                sessions=len(records),
                route=_route(routes),
                routes=routes,
                open_signals=fingerprints & still_open,
                state="answered" if lines or fingerprints - still_open else "waiting" if waiting else "open",
                lines=tuple(dict.fromkeys(lines)),
                waiting=waiting,
            )
        )
    facts.sort(key=lambda fact: fact.state == "answered")
    names = [signal.event.fingerprint for signal in raised]
    skills = len(scope.skills) + len(scope.others)
    return SignalFacts(tuple(facts), len(raised), len(records), unique_chars(names), skills)


def read_open_facts(library: Library, *, logs: LogGlobs | None = None) -> OpenFacts:
    """Read every fact, and keep the sum of those that nobody answered: all of them take 2 kB of memory each."""
    return read_signal_facts(library, logs=logs).open


def _route(routes: Sequence[Route]) -> Route:
    """Say where a fact goes: where a person sent one of its signals, else where the most telling of them goes."""
    by_person = [route for route in routes if route.by == "person"]
    return next((route for route in (*by_person, *routes) if route.skill), routes[0])


def _carried_claims(library: Library) -> list[tuple[AnsweringLine, Claim]]:
    """List the claims of all live lines, each with its line."""
    return [
        (AnsweringLine(name, capsule.version, line.number, line.text.rstrip()), claim)
        for name in library.names()
        for capsule in (library.capsule(name),)
        for line in projected_lines(capsule)
        if line.gene and (gene := capsule.gene(line.gene)) is not None
        for claim in claims_of(gene, line)
    ]


def _written_lines(library: Library, candidates: Iterable[CandidateOutline]) -> dict[str, list[AnsweringLine]]:
    """List the live lines that candidates wrote, by candidate; what a person took needs no claim that is live."""
    promoted = {each.id: each.capsule for each in candidates if each.version and not each.reverted}
    written: dict[str, list[AnsweringLine]] = {}
    for name in sorted(set(promoted.values()) & set(library.names())):
        capsule = library.capsule(name)
        for line, origin in blame(library, capsule):
            candidate = getattr(origin.event, "candidate", "")
            if line.id and candidate in promoted and line.text.strip():
                answering = AnsweringLine(name, capsule.version, line.number, line.text.rstrip())
                written.setdefault(candidate, []).append(answering)
    return written


def with_fixes(facts: SignalFacts, records: Sequence[EpisodeRecord]) -> SignalFacts:
    """Add what worked next to each fact about an error; of several commands that failed so, what most tried."""
    from strategies.claims.applicability import matches  # noqa: PLC0415 - the list is there before
    from strategies.lessons.fixes import all_tries, best_fixes, failing_calls  # noqa: PLC0415 - as above

    failures = failing_calls(sorted(records, key=lambda record: record.id))
    fixes = best_fixes(all_tries(failures, records))
    known = sorted(fixes.items(), key=lambda item: -item[1].seen.tried)

    def worked(template: str) -> FixFigures | None:
        return next((fix for (_, error), fix in known if template and matches(template, error)), None)

    return replace(
        facts,
        facts=tuple(replace(fact, worked=worked(fact.group.template), searched=True) for fact in facts.facts),
    )


def read_worked_next(library: Library, facts: SignalFacts) -> SignalFacts:
    """Read the episodes again, and add what worked next."""
    return with_fixes(facts, all_episodes(library))


@dataclass(frozen=True, slots=True)
class SignalDetail:
    """A fact with its evidence, and the candidates `tried` for its signals.

    `shown_in` are the sessions that show it, the newest first, and `cost` is what its failures took, once these
    were read; None where it is about no error.
    """

    fact: SignalFact
    evidence: tuple[KeptEvidence, ...]
    erased: tuple[ErasedEvidence, ...]
    tried: tuple[Candidate, ...]
    shown_in: tuple[EpisodeRecord, ...] = ()
    cost: Cost | None = None

    @property
    def signal(self) -> Raised:
        """The signal that tells most."""
        return self.fact.group.signals[0]


def read_signal_detail(library: Library, fact: SignalFact) -> SignalDetail:
    """Read what a fact rests on, and what became of it; where it shows is left to `with_sessions`."""
    kept: dict[tuple[str, int], KeptEvidence] = {}
    erased: dict[str, ErasedEvidence] = {}
    tried: dict[str, Candidate] = {}
    for raised in fact.group.signals:
        evidence = evidence_of(library, raised)
        for piece in evidence:
            kept.setdefault((piece.evidence.file, piece.evidence.byte_start), piece)
        erased |= {piece.id: piece for piece in erased_of(library, raised, evidence)}
        tried |= {candidate.id: candidate for candidate in library.answers(raised.event.fingerprint)}
    return SignalDetail(
        fact=fact,
        evidence=tuple(kept.values()),
        erased=tuple(erased.values()),
        tried=tuple(tried.values()),
    )


def with_sessions(
    library: Library,
    detail: SignalDetail,
    records: Sequence[EpisodeRecord] | None = None,
    thresholds: Thresholds | None = None,
) -> SignalDetail:
    """Add the sessions that show a fact, and what its failures took; `records` as for `read_signal_facts`."""
    from strategies.lessons.fixes import failing_calls  # noqa: PLC0415 - the list needs none of it
    from strategies.lessons.lost_time import Cost, cost_of  # noqa: PLC0415 - as above

    records = all_episodes(library) if records is None else records
    shown_in, error = _shown_in(library, detail, records, thresholds), detail.fact.group.template
    failures = failing_calls(shown_in) if error else {}
    about = [cost_of(sessions) for (_, template), sessions in failures.items() if template == error]
    return replace(detail, shown_in=shown_in, cost=sum(about, Cost()) if about else None)


def _shown_in(
    library: Library, detail: SignalDetail, records: Sequence[EpisodeRecord], thresholds: Thresholds | None
) -> tuple[EpisodeRecord, ...]:
    """Find the sessions that show a fact by now, else those of its evidence, else where its error is."""
    from strategies.episodes.skill_version import lineages, under_versions  # noqa: PLC0415 - the list needs none of it
    from strategies.pool.person_words import known_wishes  # noqa: PLC0415 - as above
    from strategies.signals.detect import episodes_showing  # noqa: PLC0415 - as above
    from strategies.signals.open_signals import REPEATED_WISH  # noqa: PLC0415 - as above
    from tui.reads.sessions import newest_first  # noqa: PLC0415 - as above

    fact = detail.fact
    kinds = {raised.event.fingerprint: raised.event.kind for raised in fact.group.signals}
    known = under_versions(library, records)
    wishes = known_wishes(library, known) if REPEATED_WISH in kinds.values() else ()
    shown = episodes_showing(kinds, known, thresholds or DEFAULTS, lineages=lineages(library), wishes=wishes)
    shown = shown or frozenset(piece.evidence.episode for piece in detail.evidence)
    if not shown and fact.group.template:
        shown = frozenset(record.id for record in Sightings(records).of(fact.group.head))
    return newest_first(record for record in known if record.id in shown)
