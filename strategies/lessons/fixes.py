"""Fixes: of all that stood between a failure and the next attempt, what the attempt worked by.

Each session counts once on either side, with its first attempt that had the fix and its last that had not. Nothing
else may have worked, or surely less often: where chance mends what failed, it soon does so without the fix. And a
fix follows this failure more often than others: else it is a habit that happened to be there. Where sessions have
labels, what surely goes with failing sessions is no fix, however often the call then works. That is no comparison
by which anything could be proven.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from math import exp, inf, lgamma
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

from strategies.claims.applicability import next_action
from strategies.episodes.action_class import command_name
from strategies.episodes.episode import MESSAGE, SUBMIT
from strategies.episodes.step_marks import EDIT, REVERT
from strategies.gate.replay.contrast import judged, outcome_of
from strategies.gate.stats.clopper_pearson import lowest_if_chosen
from strategies.lessons.goals import attempts_after
from strategies.signals.survey import stopped
from strategies.tiers.seen import LEAST_LOW, LEAST_TRIED, TAIL, least_likely, seen_figures

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from events.types.tiers import SeenFigures
    from strategies.episodes.episode import EpisodeRecord
    from strategies.lessons.goals import Attempt

    SessionAttempt = tuple[EpisodeRecord, Attempt]
    SessionFailures = tuple[EpisodeRecord, Sequence[int]]

FixKind = Literal["instead", "flag", "first"]
FailureKind = tuple[str, str]
"""The command that failed, and the template of its error."""

BY_CHANCE: Final = 0.01
"""How likely chance may make it that a fix follows this failure, shared among those compared (a guess)."""
MOSTLY: Final = 0.5
"""The share of its calls from which a command works by itself: no other replaces it, or has to come first."""

_WORK: Final = frozenset((EDIT, REVERT))
_NEGLIGIBLE: Final = 1e-15


class Fix(NamedTuple):
    """What an attempt had that the failure had not: another command `instead`, a `flag`, or a call `first`."""

    kind: FixKind
    name: str


class FixFigures(NamedTuple):
    """How often attempts with a fix worked, and that otherwise `others_worked` of `others` did.

    `sessions` holds the attempts with the fix, one of each, those that worked first.
    """

    fix: Fix
    seen: SeenFigures
    others_worked: int
    others: int
    sessions: tuple[SessionAttempt, ...]


@dataclass(frozen=True)
class Tries:
    """What was tried after one kind of failure, by session: each attempt with the fixes that it had."""

    attempts: tuple[tuple[EpisodeRecord, Attempt, frozenset[Fix]], ...]

    @cached_property
    def having(self) -> dict[Fix, dict[str, SessionAttempt]]:
        """The first attempt of each session, by its id, that had a fix."""
        first: defaultdict[Fix, dict[str, SessionAttempt]] = defaultdict(dict)
        for record, attempt, fixes in self.attempts:
            for fix in fixes:
                first[fix].setdefault(record.id, (record, attempt))
        return dict(first)

    @cached_property
    def sessions(self) -> dict[str, list[tuple[EpisodeRecord, Attempt, frozenset[Fix]]]]:
        """The attempts of each session, by its id."""
        tried = defaultdict(list)
        for each in self.attempts:
            tried[each[0].id].append(each)
        return dict(tried)

    @cached_property
    def _lasts(self) -> dict[str, SessionAttempt]:
        return {session: tried[-1][:2] for session, tried in self.sessions.items()}

    def split(self, fix: Fix) -> tuple[list[SessionAttempt], list[SessionAttempt]]:
        """Give the first attempt of each session with a fix, and the last of each without it.

        The last is the one that worked, if any did: such a session got by without the fix.
        """
        lacking = dict(self._lasts)
        for session in self.having[fix]:
            others = [(record, attempt) for record, attempt, fixes in self.sessions[session] if fix not in fixes]
            if others:
                lacking[session] = others[-1]
            else:
                del lacking[session]
        return list(self.having[fix].values()), list(lacking.values())


def failing_calls(records: Iterable[EpisodeRecord]) -> dict[FailureKind, list[SessionFailures]]:
    """Find the steps of each kind of failure by session; what a person stopped or did not allow is none."""
    failures: dict[FailureKind, list[SessionFailures]] = defaultdict(list)
    for record in records:
        met: dict[FailureKind, list[int]] = defaultdict(list)
        for at, step in enumerate(record.steps):
            if step.kind == "call" and step.error and not stopped(step):
                met[command_name(step.action), step.template].append(at)
        for kind, failed in met.items():
            failures[kind].append((record, failed))
    return dict(sorted(failures.items()))


def tries_after(failures: Iterable[SessionFailures]) -> Tries:
    """List the attempts after the first failure of every session."""
    return Tries(
        tuple(
            (record, attempt, fixes_of(record, attempt))
            for record, failed in failures
            for attempt in attempts_after(record, failed[0])
        )
    )


def fixes_of(record: EpisodeRecord, attempt: Attempt) -> frozenset[Fix]:
    """Name what an attempt had that the failed call had not."""
    failed, later = record.steps[attempt.failed], record.steps[attempt.at]
    if failed.action != later.action:
        return frozenset([Fix("instead", command_name(later.action))])
    flags = {Fix("flag", flag) for flag in set(later.flags) - set(failed.flags)}
    return frozenset(flags | {Fix("first", action) for action in _between(record, attempt)})


def _between(record: EpisodeRecord, attempt: Attempt) -> Iterator[str]:
    """Yield the classes of calls that worked between a failure and an attempt; an edit is the work itself."""
    no_fix = {record.steps[attempt.failed].action, "", SUBMIT, MESSAGE}
    for step in record.steps[attempt.failed + 1 : attempt.at]:
        passes = step.kind == "call" and not step.error and step.action not in no_fix
        if passes and not stopped(step) and _WORK.isdisjoint(step.marks):
            yield step.action


class AllTries(NamedTuple):
    """All that was tried after failures, by their kind, and in which share of its calls a command works."""

    tries: Mapping[FailureKind, Tries]
    works: Mapping[str, float]


def all_tries(
    failures: Mapping[FailureKind, Sequence[SessionFailures]], records: Sequence[EpisodeRecord]
) -> AllTries:
    """Try every kind of failure at once, and count how often commands work."""
    tries = {kind: tries_after(sessions) for kind, sessions in failures.items()}
    calls = Counter(
        (step.action, step.error) for record in records for step in record.steps if step.kind == "call"
    )
    of_name, worked = Counter[str](), Counter[str]()
    for (action, error), number in calls.items():
        name = command_name(action)
        of_name[name] += number
        worked[name] += 0 if error else number
    return AllTries(tries, {name: worked[name] / number for name, number in of_name.items()})


def best_fixes(every: AllTries) -> dict[FailureKind, FixFigures]:
    """Find what works best after each kind of failure; those after which nothing surely does are left out.

    What is offered was selected because it worked so often, so the bound that is stated is the one that holds of
    what was selected like this, however many kinds of failure there are. That a fix follows a failure says nothing
    of whether it works, and selects nothing.
    """
    best = {}
    for kind in every.tries:
        figures = figures_after(kind, every)
        if kept := [each for each in figures if _is_chosen(kind, each, each.seen.worked, every, len(figures))]:
            best[kind] = _best(kind, kept, every, len(figures))
    return best


def figures_after(kind: FailureKind, every: AllTries) -> list[FixFigures]:
    """Count how often each fix worked that enough sessions tried, and that is no habit."""
    tries = every.tries[kind]
    tried = {fix: tries.split(fix) for fix, had in sorted(tries.having.items()) if len(had) >= LEAST_TRIED}
    own = {fix: arm for fix, arm in tried.items() if _is_no_habit(kind, fix, every, BY_CHANCE / len(tried))}
    return [_figures(fix, *arm) for fix, arm in own.items() if not _ends_worse(*arm)]


def _ends_worse(with_fix: Sequence[SessionAttempt], without: Sequence[SessionAttempt]) -> bool:
    """Tell whether labelled sessions surely failed more often with a fix: it mends a call, and no session."""
    failed, labelled = _failed_of(with_fix)
    others_failed, others = _failed_of(without)
    return more_by_chance(failed, labelled, others_failed, others) <= BY_CHANCE


def _failed_of(sessions: Iterable[SessionAttempt]) -> tuple[int, int]:
    """Count the sessions that failed, and those whose end is known by more than a guess."""
    known = judged([record for record, _ in sessions])
    firm = () if known.heuristic else known.records
    return sum(outcome_of(record) < MOSTLY for record in firm), len(firm)


def _is_no_habit(kind: FailureKind, fix: Fix, every: AllTries, alpha: float) -> bool:
    """Tell whether a fix follows one kind of failure in more sessions than the others."""
    elsewhere = [tries for other, tries in every.tries.items() if other != kind]
    return more_by_chance(*_with(fix, [every.tries[kind]]), *_with(fix, elsewhere)) <= alpha


def _is_chosen(kind: FailureKind, figures: FixFigures, worked: int, every: AllTries, compared: int) -> bool:
    """Tell whether a fix would be offered, had it worked so often of the times that it was tried."""
    seen, alpha = figures.seen, TAIL / compared
    low = least_likely(worked, seen.tried, seen.tasks, alpha)
    return (
        low >= LEAST_LOW
        and _is_needed(figures, worked, low, alpha)
        and not _replaces_what_works(kind, figures, low, every)
    )


def _best(kind: FailureKind, kept: Sequence[FixFigures], every: AllTries, compared: int) -> FixFigures:
    """Choose what works best, and state the bound that holds of what is offered because it worked this often.

    Where nothing mends anything, what is offered is what luck was kind to: a bound that knows nothing of that is
    wrong of nearly all that is offered there.
    """
    best = max(kept, key=_preference)
    rivals = max((_preference(other) for other in kept if other is not best), default=-inf)
    seen = best.seen
    each = (_preference(best) + seen.tried) / seen.worked  # what one more that worked makes it preferred by

    def suffices(worked: int) -> bool:
        return each * worked - seen.tried >= rivals and _is_chosen(kind, best, worked, every, compared)

    least = bisect_left(range(seen.worked), True, key=suffices)  # noqa: FBT003 - what is looked for
    a_task = seen.tasks / seen.tried
    low = lowest_if_chosen(seen.worked * a_task, seen.tasks, least * a_task, TAIL)
    return best._replace(seen=seen.model_copy(update={"low": low, "compared": compared}))


def _preference(figures: FixFigures) -> int:
    """Prefer what worked most, and of calls before an attempt those that directly follow the failure."""
    return (
        2 * figures.seen.worked
        - figures.seen.tried
        + sum(
            _is_next(figures.fix, record, attempt)
            for record, attempt in figures.sessions
            if _works(record, attempt)
        )
    )


def _is_next(fix: Fix, record: EpisodeRecord, attempt: Attempt) -> bool:
    at = next_action(record, attempt.failed)
    return fix.kind == "first" and at is not None and record.steps[at].action == fix.name


def _figures(
    fix: Fix,
    with_fix: Sequence[SessionAttempt],
    without: Sequence[SessionAttempt],
) -> FixFigures:
    hits = ((record.task, _works(record, attempt)) for record, attempt in with_fix)
    return FixFigures(
        fix=fix,
        seen=seen_figures(hits, runs=(record.run for record, _ in with_fix)),
        others_worked=sum(_works(*each) for each in without),
        others=len(without),
        sessions=tuple(sorted(with_fix, key=lambda each: not _works(*each))),
    )


def _works(record: EpisodeRecord, attempt: Attempt) -> bool:
    return not record.steps[attempt.at].error


def _is_needed(figures: FixFigures, worked: int, low: float, alpha: float) -> bool:
    """Tell whether nothing else ever worked, or surely less often: chance mends one thing as well as another."""
    others_worked, others = figures.others_worked, figures.others
    if not others_worked:
        return True
    return (
        others_worked / others < low and more_by_chance(worked, figures.seen.tried, others_worked, others) <= alpha
    )


def _replaces_what_works(kind: FailureKind, figures: FixFigures, low: float, every: AllTries) -> bool:
    """Tell whether a fix replaces a command that works by itself, or no less often than the fix at least does."""
    works = every.works.get(kind[0], 0.0)
    return figures.fix.kind == "instead" and (works > MOSTLY or works >= low)


def _with(fix: Fix, every: Iterable[Tries]) -> tuple[int, int]:
    """Count the sessions in which an attempt had a fix, and all of them; of each kind of failure by itself."""
    each = [(len(tries.having.get(fix, ())), len(tries.sessions)) for tries in every]
    return sum(having for having, _ in each), sum(sessions for _, sessions in each)


def more_by_chance(hits: int, n: int, other_hits: int, others: int) -> float:
    """Give the chance of so many hits among n, or more, were all n + others of one kind: 1 where there are none.

    Source: Fisher's exact test, one-sided.
    """
    every, total = n + others, hits + other_hits
    few = hits * every <= n * total  # summed from where it is largest, away from what is expected
    k = hits - 1 if few else hits
    if k < max(0, n + total - every):
        return 1.0
    term = exp(_log_comb(total, k) + _log_comb(every - total, n - k) - _log_comb(every, n))
    chance = 0.0
    while term > chance * _NEGLIGIBLE:
        chance += term
        if few:
            term *= k * (every - total - n + k) / ((total - k + 1) * (n - k + 1))
            k -= 1
        else:
            term *= (total - k) * (n - k) / ((k + 1) * (every - total - n + k + 1))
            k += 1
    return max(1.0 - chance, 0.0) if few else min(chance, 1.0)


def _log_comb(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
