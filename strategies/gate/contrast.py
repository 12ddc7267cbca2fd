"""The obedient against the disobedient: one claim's figures over one set of episodes."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final, NamedTuple

from events.score import Effect
from strategies.gate.exposure import moments_of
from strategies.gate.outcomes import outcome_of
from strategies.gate.strata import (
    Interval,
    Stratum,
    Table,
    cmh_z,
    e_value,
    one_sided_p,
    risk_difference,
    stratifier,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from events.claims import Claim
    from events.score import Endpoint
    from strategies.gate.exposure import Inverse
    from strategies.logs.episode import EpisodeRecord

CARRYING_SHARE: Final = 0.05
"""The share of the weight from which a run configuration is named as carrying a figure (a guess)."""


class Case(NamedTuple):
    """One episode at its moment."""

    stratum: Stratum
    task: str
    obeyed: bool
    outcome: float


class Contrast(NamedTuple):
    """What obeying goes with, counted in the strata that hold both arms.

    Units: z is signed, positive where the obedient end better; `scope` names the run configurations that
    carry the figure, heaviest first.
    """

    difference: Interval
    z: float
    e_value: float
    obeyed: int
    disobeyed: int
    tasks: int
    scope: tuple[str, ...]


def cases_of(
    claim: Claim | Inverse,
    records: Sequence[EpisodeRecord],
    stratum_of: Callable[[EpisodeRecord], Stratum] | None = None,
) -> list[Case]:
    """Find the episodes that reach a claim's moment; all records must have an outcome.

    `stratum_of` is how the records are stratified, where that is known already.
    """
    stratum_of, moment_of = stratum_of or stratifier(records), moments_of(claim)
    reached = ((record, moment_of(record)) for record in records)
    return [
        Case(stratum_of(record), record.task, moment.obeyed, outcome_of(record))
        for record, moment in reached
        if moment is not None
    ]


def contrast(cases: Iterable[Case]) -> Contrast | None:
    """Compare the two arms within strata; None where no stratum holds both."""
    strata: defaultdict[Stratum, list[Case]] = defaultdict(list)
    for case in cases:
        strata[case.stratum].append(case)
    tables = {stratum: _table(members) for stratum, members in sorted(strata.items())}
    informative = {stratum: table for stratum, table in tables.items() if table.n1 and table.n0}
    both_arms = list(informative.values())
    difference = risk_difference(both_arms)
    if difference is None:
        return None
    return Contrast(
        difference=difference,
        z=cmh_z(both_arms),
        e_value=e_value(both_arms),
        obeyed=sum(table.n1 for table in both_arms),
        disobeyed=sum(table.n0 for table in both_arms),
        tasks=len({case.task for stratum in informative for case in strata[stratum]}),
        scope=_scope(informative),
    )


def _table(cases: Sequence[Case]) -> Table:
    """Count the two arms of one stratum."""
    obeyed = [case.outcome for case in cases if case.obeyed]
    disobeyed = [case.outcome for case in cases if not case.obeyed]
    squares = sum(case.outcome * case.outcome for case in cases)
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
        e_value=figures.e_value,
        endpoint=endpoint,
        scope=figures.scope,
    )
