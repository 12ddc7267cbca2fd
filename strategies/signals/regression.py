"""The signal `regression`: a version of a skill under which outcomes fall below those of the version before.

A CUSUM notices the fall soon (Page 1954, "Continuous inspection schemes"); a binomial test against the version
before confirms that it is more than a bad spell. Like is compared with like, episodes of one run configuration and
difficulty with such episodes: another model or harder tasks are no fault of a skill.
"""

from __future__ import annotations

from collections import defaultdict
from functools import reduce
from statistics import fmean, pstdev
from typing import TYPE_CHECKING, Final, NamedTuple

from strategies.episodes.episode import in_time
from strategies.signals.open_signals import REGRESSION
from strategies.signals.proportion import sum_of, wins_to_expect
from strategies.signals.signal import Sighting, fingerprint, signals_from
from strategies.signals.survey import lost, truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from strategies.episodes.episode import EpisodeRecord
    from strategies.signals.signal import Signal
    from strategies.signals.survey import Survey
    from strategies.signals.thresholds import Thresholds

_PRIOR: Final = (0.0, 1.0)
"""One loss and one win added to what was seen: so a spotless version has a spread, and none is certain to win."""

Ran = dict[str, dict[str, list["EpisodeRecord"]]]
"""The episodes with an outcome, in time, under each version of each skill."""
_Stratum = tuple[str, str]
_Version = tuple[str, list["EpisodeRecord"]]


class Fall(NamedTuple):
    """A version that wins surely less than `before` did, among episodes of the same runs and difficulties.

    `p` is the chance of so few wins, were nothing worse; `failed` are the episodes that did not win.
    """

    version: str
    before: str
    won: int
    outcomes: int
    won_before: int
    outcomes_before: int
    p: float
    failed: tuple[EpisodeRecord, ...]


class Regression:
    """Finds versions that made things worse; calls for repair. `action` names skill@version."""

    kind: Final = REGRESSION

    def detect(self, survey: Survey, thresholds: Thresholds) -> list[Signal]:
        """Find versions whose CUSUM fires and whose share of wins is surely below that of the one before."""
        ran = outcomes_by_version(survey.records)
        seen = (
            Sighting("", f"{skill}@{fall.version}", record, len(record.steps) - 1)
            for skill, versions in sorted(ran.items())
            for fall in falls(versions, survey.lineages.get(skill) or _in_order(versions), thresholds)
            for record in fall.failed
        )
        return signals_from(self.kind, "repair", seen, scanned=len(survey.records))


def fingerprint_of(skill: str, version: str) -> str:
    """Name the signal that a version of a skill is one that made things worse."""
    return fingerprint(Regression.kind, "", f"{skill}@{version}")


def outcomes_by_version(records: Iterable[EpisodeRecord]) -> Ran:
    """Give the episodes with an outcome under each version of each skill, in time; unknown versions are none."""
    ran: Ran = defaultdict(lambda: defaultdict(list))
    decided = (record for record in records if record.skills and record.steps and truth(record) is not None)
    for record in in_time(decided):
        for skill, version in record.skills:
            if version:
                ran[skill][version].append(record)
    return ran


def _in_order(versions: Mapping[str, object]) -> list[tuple[str, ...]]:
    """Order versions that no registry knows: by number, else by when they were first seen, as they come here."""
    numbered = all(version.isdecimal() for version in versions)
    return [(version,) for version in (sorted(versions, key=int) if numbered else versions)]


def falls(
    ran: Mapping[str, Sequence[EpisodeRecord]], lineage: Sequence[Sequence[str]], thresholds: Thresholds
) -> list[Fall]:
    """Compare each version with the last one before it that has enough outcomes and did not fall itself.

    Shapes: lineage oldest first, versions that say the same together: they are judged as one, under the last name.
    """
    fallen: list[Fall] = []
    before: _Version | None = None
    for same in lineage:
        records = in_time(record for version in same for record in ran.get(version, ()))
        fall = _fall(before, (same[-1], records), thresholds) if before else None
        if fall is not None:
            fallen.append(fall)
        elif len(records) >= thresholds.regression_previous:
            before = (same[-1], records)
    return fallen


def _fall(before: _Version, after: _Version, thresholds: Thresholds) -> Fall | None:
    reference = _strata(before[1])
    compared = [record for record in after[1] if _stratum(record) in reference]
    shared = _strata(compared)
    earlier = [value for stratum in shared for value in reference[stratum]]
    if len(earlier) < thresholds.regression_previous:
        return None
    usual = {stratum: _mean_and_spread(reference[stratum]) for stratum in shared}
    drops = ((usual[at][0] - _value(episode)) / usual[at][1] for episode in compared for at in [_stratum(episode)])
    if not cusum_fires(drops, slack=thresholds.cusum_slack_sigma, alarm=thresholds.cusum_alarm_sigma):
        return None
    later = [_value(record) for record in compared]
    p = _chance_of_at_most(later.count(1), shared, reference)
    if p > thresholds.regression_alpha:
        return None
    failed = tuple(record for record in compared if lost(record))
    return Fall(after[0], before[0], later.count(1), len(later), earlier.count(1), len(earlier), p, failed)


def cusum_fires(drops: Iterable[float], *, slack: float, alarm: float) -> bool:
    """Tell whether drops, in time, add up to an alarm; all in standard deviations of what they drop below."""
    fallen = 0.0
    for drop in drops:
        fallen = max(0.0, fallen + drop - slack)
        if fallen > alarm:
            return True
    return False


def _mean_and_spread(outcomes: Sequence[float]) -> tuple[float, float]:
    seen = (*outcomes, *_PRIOR)
    return fmean(seen), pstdev(seen)


def _chance_of_at_most(
    won: int, shared: Mapping[_Stratum, Sequence[float]], reference: Mapping[_Stratum, Sequence[float]]
) -> float:
    """Give the chance of so few wins, were each stratum as it was before; what is known of that is uncertain too.

    A binomial test whose chances were taken for known was wrong in up to 26 % of placebos (20 outcomes before,
    300 after, a look at each); with their uncertainty in it, at .005, in up to 3 % (measured).
    """
    counts = (_wins_to_expect(len(later), reference[at]) for at, later in shared.items())
    return min(1.0, sum(reduce(sum_of, counts)[: won + 1]))


def _wins_to_expect(n: int, reference: Sequence[float]) -> list[float]:
    won = reference.count(1)
    return wins_to_expect(n, won, len(reference) - won)


def _strata(records: Iterable[EpisodeRecord]) -> dict[_Stratum, list[float]]:
    strata: dict[_Stratum, list[float]] = defaultdict(list)
    for record in records:
        strata[_stratum(record)].append(_value(record))
    return strata


def _stratum(record: EpisodeRecord) -> _Stratum:
    return record.run, record.difficulty


def _value(record: EpisodeRecord) -> float:
    value = truth(record)
    assert value is not None  # noqa: S101 - only episodes with an outcome come here
    return value
