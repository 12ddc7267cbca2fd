"""The signal `regression`: a version of a skill under which outcomes fall below those of the version before.

A CUSUM notices the fall soon (Page 1954, "Continuous inspection schemes"); a binomial test against the previous
version confirms that it is more than a bad spell.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Final

from strategies.signals.moments import in_time
from strategies.signals.proportion import binomial_at_most
from strategies.signals.signal import Sighting, signals_from
from strategies.signals.survey import lost, truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from strategies.logs.episode import EpisodeRecord
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds

_PRIOR: Final = (0.0, 1.0)
"""One loss and one win added to what was seen: so a spotless version has a spread, and none is certain to win."""


class Regression:
    """Finds versions that made things worse; calls for repair. `action` names skill@version."""

    kind: Final = "regression"

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find versions whose CUSUM fires and whose share of wins is surely below that of the one before."""
        seen = (
            seen
            for skill, versions in sorted(_by_version(survey.records).items())
            for seen in _regressions(skill, versions, thresholds)
        )
        return signals_from(self.kind, "repair", seen, scanned=len(survey.records))


def cusum_fires(outcomes: Iterable[float], reference: Sequence[float], *, slack: float, alarm: float) -> bool:
    """Tell whether outcomes, in time, fall below the reference; slack and alarm in its standard deviations."""
    mean, spread = fmean([*reference, *_PRIOR]), pstdev([*reference, *_PRIOR])
    fallen = 0.0
    for outcome in outcomes:
        fallen = max(0.0, fallen + (mean - outcome) / spread - slack)
        if fallen > alarm:
            return True
    return False


def _by_version(records: Iterable[EpisodeRecord]) -> dict[str, dict[str, list[EpisodeRecord]]]:
    """Give the episodes with an outcome of each version of each skill, in time."""
    ran: dict[str, dict[str, list[EpisodeRecord]]] = defaultdict(lambda: defaultdict(list))
    for record in in_time(one for one in records if one.skills and one.steps and truth(one) is not None):
        for skill, version in record.skills:
            ran[skill][version].append(record)
    return ran


def _regressions(
    skill: str, versions: dict[str, list[EpisodeRecord]], thresholds: Thresholds
) -> Iterator[Sighting]:
    # Numbered versions by their number; others by when they were first seen, in which order they stand here.
    order = sorted(versions, key=int) if all(version.isdecimal() for version in versions) else list(versions)
    for before, after in pairwise(order):
        if _regressed(versions[before], versions[after], thresholds):
            for record in versions[after]:
                if lost(record):
                    yield Sighting("", f"{skill}@{after}", record, len(record.steps) - 1)


def _regressed(before: list[EpisodeRecord], after: list[EpisodeRecord], thresholds: Thresholds) -> bool:
    reference = [value for record in before if (value := truth(record)) is not None]
    outcomes = [value for record in after if (value := truth(record)) is not None]
    if len(reference) < thresholds.regression_previous:
        return False
    slack, alarm = thresholds.cusum_slack_sigma, thresholds.cusum_alarm_sigma
    if not cusum_fires(outcomes, reference, slack=slack, alarm=alarm):
        return False
    chance = fmean(value == 1 for value in (*reference, *_PRIOR))
    return binomial_at_most(outcomes.count(1), len(outcomes), chance) <= thresholds.regression_alpha
