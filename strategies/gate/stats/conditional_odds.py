"""How likely an agent does something in one place, given how often it does so in all.

Agents differ in how often they do something, and places in how much they ask for it. Where the odds are as many
times higher in one place for every agent, how often an agent does it in all tells everything that its doing it
there tells of the agent. Sources: Mantel & Haenszel 1959; Breslow & Day 1980, chapter 7.
"""

from __future__ import annotations

from math import exp, fsum, lgamma, log
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence


class ActionCounts(NamedTuple):
    """How often one agent did something in one place, of how often it could, and the same elsewhere."""

    here: int
    of_here: int
    there: int
    of_there: int


def odds_ratio(tables: Sequence[ActionCounts], prior: tuple[float, float] = (0.5, 0.5)) -> float:
    """Estimate how many times higher the odds are here than there, within each agent (Mantel-Haenszel).

    `prior` are weights of "higher" and of "lower" that are put beside what the tables show.
    """
    higher, lower = weights(tables)
    return (higher + prior[0]) / (lower + prior[1])


def weights(tables: Sequence[ActionCounts]) -> tuple[float, float]:
    """Weigh what speaks for higher odds here, and for lower."""
    sizes = [(table, table.of_here + table.of_there) for table in tables]
    higher = fsum(table.here * (table.of_there - table.there) / of for table, of in sizes if of)
    lower = fsum((table.of_here - table.here) * table.there / of for table, of in sizes if of)
    return higher, lower


def chance_here(table: ActionCounts, odds: float) -> float:
    """Compute how likely it is done here at all, given how often in all, where odds are so many times higher."""
    done = table.here + table.there
    if done > table.of_there:
        return 1.0
    ways = [
        _log_comb(table.of_here, here) + _log_comb(table.of_there, done - here) + here * log(odds)
        for here in range(min(table.of_here, done) + 1)
    ]
    most = max(ways)
    return 1 - exp(ways[0] - most) / fsum(exp(way - most) for way in ways)


def _log_comb(of: int, chosen: int) -> float:
    return lgamma(of + 1) - lgamma(chosen + 1) - lgamma(of - chosen + 1)
