"""Lessons: what cost most in sessions that nobody labelled, what worked next, and the line that says so."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from events.types.claims import AfterError, AnytimeBefore, Replace
from strategies.claims.catalogue import sentence
from strategies.gate.replay.exposure import moments_of
from strategies.gate.stats.clopper_pearson import lower_limit
from strategies.lessons.fixes import MOSTLY, all_tries, best_fixes, failing_calls
from strategies.lessons.lost_time import Cost, cost_of
from strategies.tiers.seen import LEAST_LOW, LEAST_TRIED, TAIL

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord
    from strategies.lessons.fixes import FailureKind, FixFigures, SessionFailures
    from strategies.signals.wishes import Wish

LEAST_SESSIONS: Final = 2
"""In how many sessions a failure must show to be counted among what costs."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """One thing that costs: a failure, with what worked next where that is clear, or a person's wish.

    `action` is the command that fails, `template` its error; of a wish both are "" and `wish` holds it. `line`
    says what to do, "" where nothing is clear; `claim` is what logs can refute of it, None for a wish. It shows
    in the episodes `sessions`, by id.
    """

    action: str
    template: str
    sessions: tuple[str, ...]
    cost: Cost
    fix: FixFigures | None = None
    claim: Claim | None = None
    wish: Wish | None = None
    line: str = ""


def lessons_of(records: Sequence[EpisodeRecord], wished: Iterable[Wish] = ()) -> list[Lesson]:
    """Find what costs, those with a line first, the costliest first; the order of the records does not matter."""
    records = sorted(records, key=lambda record: record.id)
    failures = failing_calls(records)
    fixes = best_fixes(all_tries(failures, records))
    often = {kind: sessions for kind, sessions in failures.items() if len(sessions) >= LEAST_SESSIONS}
    of_failures = [_lesson(kind, sessions, fixes.get(kind), records) for kind, sessions in often.items()]
    every = [*_merged(of_failures), *map(_of_wish, wished)]
    return sorted(every, key=lambda lesson: (not lesson.line, -lesson.cost.weight, lesson.action, lesson.template))


def _lesson(
    kind: FailureKind,
    failures: Sequence[SessionFailures],
    fix: FixFigures | None,
    records: Sequence[EpisodeRecord],
) -> Lesson:
    action, template = kind
    claim = _claim(kind, failures, fix, records) if fix else None
    sessions = tuple(record.id for record, _ in failures)
    line = sentence(claim) if claim else ""
    return Lesson(action, template, sessions, cost_of(failures), fix, claim, line=line)


def _claim(
    kind: FailureKind, failures: Sequence[SessionFailures], fix: FixFigures, records: Sequence[EpisodeRecord]
) -> Claim:
    action, template = kind
    if fix.fix.kind == "instead":
        return Replace(action=action, template=template, do=fix.fix.name)
    classes = Counter(record.steps[failed[0]].action for record, failed in failures)
    own = min(classes, key=lambda name: (-classes[name], name))
    if fix.fix.kind == "flag":
        return Replace(action=own, template=template, do=own, flag=fix.fix.name)
    order = AnytimeBefore(action=own, do=fix.fix.name)
    return order if is_needed(order, template, records) else AfterError(template=template, do=fix.fix.name)


def is_needed(order: AnytimeBefore, template: str, records: Iterable[EpisodeRecord]) -> bool:
    """Tell whether without a call before it an action surely fails more often than not, each session counted once.

    Else the call is worth its time only after the failure. Where sessions made it before, the action must work
    there as surely as what is offered, and more often.
    """
    failed: dict[bool, list[bool]] = {True: [], False: []}
    moment_of = moments_of(order)
    for record in records:
        if (moment := moment_of(record)) is not None:
            step = record.steps[moment.step]
            failed[moment.obeyed].append(step.error and step.template == template)
    without, after = failed[False], failed[True]
    if lower_limit(sum(without), len(without), TAIL) <= MOSTLY:
        return False
    works = lower_limit(len(after) - sum(after), len(after), TAIL)
    return len(after) < LEAST_TRIED or works > max(LEAST_LOW, 1 - sum(without) / len(without))


def _merged(lessons: Iterable[Lesson]) -> list[Lesson]:
    """Put lessons with one line together: the figures are those of the one that was seen most."""
    groups: dict[tuple[str, str], list[Lesson]] = defaultdict(list)
    for lesson in lessons:
        groups[lesson.line or lesson.template, "" if lesson.line else lesson.action].append(lesson)
    merged = []
    for group in groups.values():
        first = max(group, key=lambda lesson: (lesson.fix.seen.tried if lesson.fix else 0, lesson.cost.weight))
        cost = sum((lesson.cost for lesson in group), Cost())
        sessions = tuple(dict.fromkeys(chain.from_iterable(lesson.sessions for lesson in group)))
        merged.append(
            Lesson(first.action, first.template, sessions, cost, first.fix, first.claim, line=first.line)
        )
    return merged


def _of_wish(wish: Wish) -> Lesson:
    sessions = tuple(dict.fromkeys(clause.record.id for clause in wish.clauses))
    quote = wish.quote[:1].upper() + wish.quote[1:]
    corrections = len({(clause.record.id, clause.step) for clause in wish.clauses})
    return Lesson("", "", sessions, Cost(corrections=corrections), wish=wish, line=f"{quote.rstrip()}.")
