"""The obedient against the disobedient: a claim's figures over a set of episodes; which outcomes count."""

from __future__ import annotations

from collections import defaultdict
from operator import mul
from typing import TYPE_CHECKING, Final, NamedTuple

from events.types.score import Effect
from strategies.episodes.episode import WORLD_SOURCES
from strategies.gate.replay.exposure import moments_in
from strategies.gate.stats.mantel_haenszel import (
    Interval,
    Stratum,
    Table,
    cmh_z,
    one_sided_p,
    risk_difference,
    robustness_value,
    stratifier,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from events.types.claims import Claim
    from events.types.score import Endpoint
    from strategies.claims.applicability import Moment
    from strategies.episodes.episode import EpisodeRecord, WorldSource
    from strategies.gate.replay.exposure import Inverse


class JudgeableEpisodes(NamedTuple):
    """Episodes that can be judged, and whether their outcomes are only guessed from signals."""

    records: tuple[EpisodeRecord, ...]
    heuristic: bool


def outcome_of(record: EpisodeRecord) -> float:
    """Give the outcome of an episode that has one."""
    if record.outcome is None:
        raise ValueError(f"episode {record.id} has no outcome")
    return record.outcome.value


def judged(records: Sequence[EpisodeRecord]) -> JudgeableEpisodes:
    """Keep the episodes with a label, or a hint that serves as one; where there is none, the heuristic ones.

    Heuristic outcomes are made of the same signals that claims are mined from, so they never promote; they
    are measured where nothing better exists, for a person to look at.
    """
    with_outcome = tuple(r for r in records if r.outcome is not None)
    firm = tuple(r for r in with_outcome if r.outcome is not None and r.outcome.source != "heuristic")
    return (
        JudgeableEpisodes(firm, heuristic=False)
        if firm
        else JudgeableEpisodes(with_outcome, heuristic=bool(with_outcome))
    )


def hints_in(records: Iterable[EpisodeRecord]) -> tuple[WorldSource, ...]:
    """Name the sources from the world that stand for labels in these episodes, as a setting asked for."""
    sources = {record.outcome.source for record in records if record.outcome is not None}
    return tuple(source for source in WORLD_SOURCES if source in sources)


CARRYING_SHARE: Final = 0.05
"""The share of the weight from which a run configuration is named as carrying a figure (a guess)."""


Setting = tuple[Stratum, str, float]
"""What an episode brings into any comparison: its stratum, its task and its outcome."""
Case = tuple[Stratum, str, bool, float]
"""One episode at its moment: its stratum, its task, whether it obeyed, and its outcome.

A bare tuple: proposers make hundreds of thousands, and one with names takes five times as long to make.
"""


class Contrast(NamedTuple):
    """What obeying goes with, counted in the strata that hold both arms.

    Units: z is signed, positive where the obedient end better; `scope` names the run configurations that
    carry the figure, heaviest first.
    """

    difference: Interval
    z: float
    robustness_value: float
    obeyed: int
    disobeyed: int
    tasks: int
    scope: tuple[str, ...]


def settings_of(records: Sequence[EpisodeRecord]) -> list[Setting]:
    """Give what each episode brings into any comparison; all records must have an outcome."""
    stratum_of = stratifier(records)
    return [(stratum_of(record), record.task, outcome_of(record)) for record in records]


def cases_of(
    claim: Claim | Inverse, records: Sequence[EpisodeRecord], settings: Sequence[Setting] | None = None
) -> list[Case]:
    """Find the episodes that reach a claim's moment; all records must have an outcome.

    `settings` are theirs, where they are known already.
    """
    moments = moments_in(claim, records)
    if settings is None:
        return cases_at(records, moments, stratifier(records))
    return [
        (stratum, task, moment.obeyed, outcome)
        for (stratum, task, outcome), moment in zip(settings, moments, strict=True)
        if moment is not None
    ]


def cases_at(
    records: Sequence[EpisodeRecord],
    moments: Iterable[Moment | None],
    stratum_of: Callable[[EpisodeRecord], Stratum],
) -> list[Case]:
    """Give the episodes that reach a claim's moment, where moments and strata are known; shapes as `cases_of`."""
    return [
        (stratum_of(record), record.task, moment.obeyed, outcome_of(record))
        for record, moment in zip(records, moments, strict=True)
        if moment is not None
    ]


def contrast(cases: Iterable[Case]) -> Contrast | None:
    """Compare the two arms within strata; None where no stratum holds both."""
    strata: defaultdict[Stratum, list[Case]] = defaultdict(list)
    for case in cases:
        strata[case[0]].append(case)
    tables: dict[Stratum, Table] = {}
    tasks = set[str]()
    for stratum, own in sorted(strata.items()):
        table = _table(own)
        if table is not None:
            tables[stratum] = table
            tasks.update([case[1] for case in own])
    both_arms = list(tables.values())
    difference = risk_difference(both_arms)
    if difference is None:
        return None
    return Contrast(
        difference=difference,
        z=cmh_z(both_arms),
        robustness_value=robustness_value(both_arms),
        obeyed=sum(table.n1 for table in both_arms),
        disobeyed=sum(table.n0 for table in both_arms),
        tasks=len(tasks),
        scope=_scope(tables),
    )


def _table(cases: Sequence[Case]) -> Table | None:
    """Count the two arms of one stratum; None where it holds but one."""
    obeyed = [outcome for _, _, obeys, outcome in cases if obeys]
    if not obeyed or len(obeyed) == len(cases):
        return None
    disobeyed = [outcome for _, _, obeys, outcome in cases if not obeys]
    outcomes = [case[3] for case in cases]
    squares = sum(map(mul, outcomes, outcomes))
    return Table(len(obeyed), sum(obeyed), len(disobeyed), sum(disobeyed), squares)


def _scope(tables: dict[Stratum, Table]) -> tuple[str, ...]:
    """Name the run configurations that carry the Mantel-Haenszel weight."""
    weight: defaultdict[str, float] = defaultdict(float)
    for (run, _, _), table in tables.items():
        weight[run] += table.n1 * table.n0 / (table.n1 + table.n0)
    least = CARRYING_SHARE * sum(weight.values())
    return tuple(sorted((run for run in weight if weight[run] >= least), key=lambda run: (-weight[run], run)))


def effect_of(figures: Contrast, endpoint: Endpoint = "outcome") -> Effect:
    """Write a contrast as the effect that events keep."""
    return Effect(
        risk_difference=figures.difference.value,
        low=figures.difference.low,
        high=figures.difference.high,
        obeyed=figures.obeyed,
        disobeyed=figures.disobeyed,
        tasks=figures.tasks,
        p=one_sided_p(figures.z),
        e_value=figures.robustness_value,
        endpoint=endpoint,
        scope=figures.scope,
    )
