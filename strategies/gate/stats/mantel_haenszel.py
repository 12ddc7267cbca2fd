"""Outcomes of two arms, compared within strata: Cochran-Mantel-Haenszel, risk difference, robustness value."""

from __future__ import annotations

from collections import Counter
from math import erfc, exp, hypot, log, sqrt
from operator import attrgetter
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.episodes.origins import origin_of_other, short_name
from strategies.signals.proportion import wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from strategies.episodes.episode import EpisodeRecord

Stratum = tuple[str, str, str]
"""Run configuration, difficulty, and the task where the same configuration repeats it, else ""."""

Z95: Final = 1.959964
"""The 97.5 % point of the normal distribution: two-sided 95 % intervals."""
_RUN_AND_TASK: Final = attrgetter("run", "task")


class Table(NamedTuple):
    """The two arms of one stratum.

    Units: n1 and n0 count the obedient and the disobedient, y1 and y0 sum their outcomes, yy sums the squares
    of all outcomes. Outcomes lie in [0, 1]; for 0 and 1 every formula here is the textbook one.
    """

    n1: int = 0
    y1: float = 0.0
    n0: int = 0
    y0: float = 0.0
    yy: float = 0.0


class Interval(NamedTuple):
    """An estimate with its 95 % interval."""

    value: float
    low: float
    high: float


def stratifier(records: Sequence[EpisodeRecord]) -> Callable[[EpisodeRecord], Stratum]:
    """Tell how to stratify these episodes: run configuration by difficulty.

    The task is added only where the same configuration repeats it; across different models it would compare
    models, not obedience (measured: it promoted on 20 of 20 shuffles). Logs of others are compared within their
    origin alone, so that none can fill an arm of another's.
    """
    often = Counter(map(_RUN_AND_TASK, records))
    repeated = {both for both, times in often.items() if times > 1}

    def stratum(record: EpisodeRecord) -> Stratum:
        again = repeated and _RUN_AND_TASK(record) in repeated
        own = record.trust == "mine"
        run = record.run if own else f"{record.run} of {short_name(origin_of_other(record))}"
        return run, record.difficulty, record.task if again else ""

    return stratum


def cmh_z(tables: Iterable[Table]) -> float:
    """Compute the Cochran-Mantel-Haenszel statistic as a signed z, without continuity correction.

    Positive where the obedient end better; 0 where the strata carry no information.
    Source: Mantel 1963 (the extended test: the permutation variance within strata, for any outcome).
    """
    excess = variance = 0.0
    for n1, y1, n0, y0, yy in tables:
        n = n1 + n0
        if n1 and n0:
            total = y1 + y0
            excess += y1 - n1 * total / n
            variance += n1 * n0 / (n * (n - 1)) * max(yy - total * total / n, 0.0)
    return excess / sqrt(variance) if variance > 0 else 0.0


def one_sided_p(z: float) -> float:
    """Compute the probability of a z at least this large where obedience does nothing."""
    return erfc(z / sqrt(2)) / 2


def two_sided_p(z: float) -> float:
    """Compute the probability of a z at least this far from 0 where obedience does nothing."""
    return erfc(abs(z) / sqrt(2))


def risk_difference(tables: Iterable[Table]) -> Interval | None:
    """Estimate the Mantel-Haenszel risk difference, obedient minus disobedient; None without information.

    Source: Sato 1989 for the variance. For outcomes between 0 and 1 it is too wide, never too narrow. Where an arm
    always or never succeeds that variance forgets the arm: it is then as wide at least as the score interval of
    Newcombe (1998, method 10) over all strata together.
    """
    n_1 = y_1 = n_0 = y_0 = 0.0
    weight = difference = p = q = 0.0
    for n1, y1, n0, y0, _ in tables:
        n = n1 + n0
        if n1 and n0:
            n_1, y_1, n_0, y_0 = n_1 + n1, y_1 + y1, n_0 + n0, y_0 + y0
            weight += n1 * n0 / n
            difference += (y1 * n0 - y0 * n1) / n
            p += (n1 * n1 * y0 - n0 * n0 * y1 + n1 * n0 * (n0 - n1) / 2) / (n * n)
            q += (y1 * (n0 - y0) + y0 * (n1 - y1)) / (2 * n)
    if not weight:
        return None
    value = difference / weight
    margin = Z95 * sqrt(max(value * p + q, 0.0)) / weight
    below = above = margin
    if y_1 in {0, n_1} or y_0 in {0, n_0}:
        (low1, high1), (low0, high0) = wilson(y_1, int(n_1)), wilson(y_0, int(n_0))
        below = max(margin, hypot(y_1 / n_1 - low1, high0 - y_0 / n_0))
        above = max(margin, hypot(high1 - y_1 / n_1, y_0 / n_0 - low0))
    return Interval(value, max(value - below, -1.0), min(value + above, 1.0))


def robustness_value(tables: Sequence[Table]) -> float:
    """Compute the robustness value of the Mantel-Haenszel risk ratio's lower 95 % limit; 1 where that is below 1.

    It says how strongly something unseen would have to go with both obedience and the rarer outcome to explain the
    effect away: where most succeed, no ratio of successes is large. Sources: Greenland & Robins 1985 for the
    variance, VanderWeele & Ding 2017, who call it "E-value". Where an arm never has the rarer outcome, half of one
    is added to each arm of each stratum (Haldane).
    """
    informative = [table for table in tables if table.n1 and table.n0]
    if 2 * sum(t.y1 + t.y0 for t in informative) > sum(t.n1 + t.n0 for t in informative):
        # of two arms the one that fails less succeeds more: as if the arms had changed places
        informative = [Table(t.n0, t.n0 - t.y0, t.n1, t.n1 - t.y1) for t in informative]
    if not sum(t.y1 for t in informative) or not sum(t.y0 for t in informative):
        informative = [Table(t.n1 + 1, t.y1 + 0.5, t.n0 + 1, t.y0 + 0.5, t.yy) for t in informative]
    obeyed = disobeyed = spread = 0.0
    for n1, y1, n0, y0, _ in informative:
        n = n1 + n0
        obeyed += y1 * n0 / n
        disobeyed += y0 * n1 / n
        spread += (n1 * n0 * (y1 + y0) - y1 * y0 * n) / (n * n)
    if not obeyed or not disobeyed:
        return 1.0
    error = sqrt(max(spread, 0.0) / (obeyed * disobeyed))
    low = exp(log(obeyed / disobeyed) - Z95 * error)
    return low + sqrt(low * (low - 1)) if low > 1 else 1.0


def survivors(p_values: Sequence[float], q: float) -> frozenset[int]:
    """Tell which of several tests survive Benjamini-Yekutieli at false discovery rate q, by their index.

    Source: Benjamini & Yekutieli 2001; holds under any dependence, as claims over the same episodes have.
    """
    m = len(p_values)
    harmonic = sum(1 / i for i in range(1, m + 1))
    ranked = sorted(range(m), key=lambda i: p_values[i])
    last = max((rank for rank, i in enumerate(ranked, 1) if p_values[i] <= q * rank / (m * harmonic)), default=0)
    return frozenset(ranked[:last])
