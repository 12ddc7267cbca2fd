"""The figures of the gate, worked out a second time from the written formulas, in fractions and without haste."""

from __future__ import annotations

import random
from fractions import Fraction
from math import exp, log, sqrt

import msgspec
import pytest

from events.types.claims import After, AfterError, Before, Claim
from strategies.episodes.episode import EpisodeOutcome, EpisodeRecord
from strategies.gate.replay.contrast import cases_of, contrast
from strategies.gate.replay.exposure import moment_of
from strategies.gate.replay.recovery_endpoint import population
from strategies.gate.replay.score import compare
from strategies.gate.stats.mantel_haenszel import Z95
from strategies.policy.written_rules import REFITS
from strategies.pool.splits import divide, form_groups
from tests.worlds import NO_TABLE, call, episode

CLAIMS: tuple[Claim, ...] = (
    AfterError(template=NO_TABLE, do="b"),
    After(action="a", k=2, avoid="a"),
    Before(action="b", do="a"),
)
Stratum = tuple[str, str, str]


def world(seed: int, *, episodes: int = 90) -> list[EpisodeRecord]:
    """Short episodes of three actions, some failing; outcomes whole and in parts, some tasks run again."""
    draws = random.Random(seed)
    records = []
    for number in range(episodes):
        steps = [
            call(draws.choice("aabc"), NO_TABLE if draws.random() < 0.4 else "")
            for _ in range(draws.randint(1, 6))
        ]
        task, run = f"t{draws.randint(0, 3 * episodes)}", draws.choice(["r1", "r2"])
        record = episode(steps, task=task, run=run, difficulty=draws.choice(["", "hard"]), trial=number)
        value = draws.choice([0.0, 0.0, 1.0, 1.0, 0.25])
        records.append(
            msgspec.structs.replace(
                record,
                outcome=EpisodeOutcome(value, "reward"),
                prompt_key=f"p{draws.randint(0, 2 * episodes)}",
                answer_key=draws.choice(["", "", f"x{draws.randint(0, episodes)}"]),
            )
        )
    return records


def stratum_of(record: EpisodeRecord, records: list[EpisodeRecord]) -> Stratum:
    again = sum((other.run, other.task) == (record.run, record.task) for other in records) > 1
    return record.run, record.difficulty, record.task if again else ""


def outcome_of(record: EpisodeRecord) -> Fraction:
    assert record.outcome is not None
    return Fraction(record.outcome.value)


def by_hand(claim: Claim, records: list[EpisodeRecord]) -> tuple[float, ...] | None:
    """Give risk difference, margin, z, robustness value: Mantel-Haenszel, Sato, Mantel, Greenland and Robins."""
    arms: dict[Stratum, tuple[list[Fraction], list[Fraction]]] = {}
    for record in records:
        moment = moment_of(claim, record)
        if moment is not None:
            arms.setdefault(stratum_of(record, records), ([], []))[not moment.obeyed].append(outcome_of(record))
    both = [(ones, zeros) for ones, zeros in arms.values() if ones and zeros]
    if not both:
        return None
    often = sum(sum(ones + zeros) for ones, zeros in both) * 2 > sum(len(ones + zeros) for ones, zeros in both)
    rare = [([1 - y for y in zeros], [1 - y for y in ones]) if often else (ones, zeros) for ones, zeros in both]
    none = any(not sum(map(sum, arms)) for arms in zip(*rare, strict=True))
    weight = difference = p = q = excess = variance = obeyed = disobeyed = spread = Fraction(0)
    for ones, zeros in both:
        n1, n0, y1, y0 = len(ones), len(zeros), sum(ones), sum(zeros)
        n = n1 + n0
        mean = (y1 + y0) / Fraction(n)
        weight += Fraction(n1 * n0, n)
        difference += Fraction(n1 * n0, n) * (y1 / Fraction(n1) - y0 / Fraction(n0))
        p += (n1**2 * y0 - n0**2 * y1 + Fraction(n1 * n0 * (n0 - n1), 2)) / n**2
        q += (y1 * (n0 - y0) + y0 * (n1 - y1)) / Fraction(2 * n)
        excess += y1 - n1 * mean
        variance += Fraction(n1 * n0, n * (n - 1)) * sum((y - mean) ** 2 for y in ones + zeros)
    for ones, zeros in rare:
        n1, n0, y1, y0 = len(ones), len(zeros), sum(ones), sum(zeros)
        n = n1 + n0
        if none:
            n1, n0, y1, y0, n = n1 + 1, n0 + 1, y1 + Fraction(1, 2), y0 + Fraction(1, 2), n + 2
        obeyed, disobeyed = obeyed + y1 * Fraction(n0, n), disobeyed + y0 * Fraction(n1, n)
        spread += (n1 * n0 * (y1 + y0) - y1 * y0 * n) / Fraction(n**2)
    value = difference / weight
    low = exp(log(obeyed / disobeyed) - Z95 * sqrt(spread / (obeyed * disobeyed))) if obeyed * disobeyed else 0.0
    return (
        float(value),
        Z95 * sqrt(max(float(value * p + q), 0.0)) / float(weight),
        float(excess) / sqrt(variance) if variance else 0.0,
        low + sqrt(low * (low - 1)) if low > 1 else 1.0,
    )


Arms = tuple[list[EpisodeRecord], list[EpisodeRecord]]


def arms_of(records: list[EpisodeRecord], claims: tuple[Claim, ...]) -> list[list[Arms]]:
    """Sort episodes into the obedient and the disobedient of each stratum, claim by claim.

    Who disobeyed at a step is not asked again there.
    """
    disobeyed: set[tuple[str, int]] = set()
    of_claims = []
    for claim in claims:
        strata: dict[Stratum, Arms] = {}
        for record in records:
            moment = moment_of(claim, record)
            if moment is not None and (record.id, moment.step) not in disobeyed:
                disobeyed |= set() if moment.obeyed else {(record.id, moment.step)}
                strata.setdefault(stratum_of(record, records), ([], []))[not moment.obeyed].append(record)
        of_claims.append([*strata.values()])
    return of_claims


def replayed(records: list[EpisodeRecord], of_claims: list[list[Arms]], weights: dict[str, int]) -> Fraction:
    """Impute claim by claim: each disobedient episode of a stratum that holds five obedient ones, else nothing."""
    ends = {record.id: outcome_of(record) for record in records}
    for strata in of_claims:
        drawn = [
            [[record for record in arm for _ in range(weights[record.task])] for arm in arms] for arms in strata
        ]
        overlap = [(ones, zeros) for ones, zeros in drawn if zeros and len(ones) >= 5]
        every = [ends[record.id] for ones, _ in overlap for record in ones]
        for ones, zeros in overlap:
            prior = 10 * sum(every) / Fraction(len(every))
            mean = (sum(ends[record.id] for record in ones) + prior) / (len(ones) + 10)
            shift = mean - sum(ends[record.id] for record in zeros) / Fraction(len(zeros))
            ends |= {record.id: ends[record.id] + shift for record in {zero.id: zero for zero in zeros}.values()}
    total = sum(weights[record.task] * ends[record.id] for record in records)
    return total / Fraction(sum(weights[record.task] for record in records))


@pytest.mark.parametrize("seed", range(4))
def test_effects_intervals_z_and_robustness_values_are_those_of_the_formulas(seed: int) -> None:
    records = world(seed)
    for claim in CLAIMS:
        figures, expected = contrast(cases_of(claim, records)), by_hand(claim, records)
        assert figures is not None
        assert expected is not None
        value, margin, z, e = expected
        assert (figures.difference.value, figures.z, figures.robustness_value) == pytest.approx(
            (value, z, e), abs=1e-9
        )
        assert figures.difference.low == pytest.approx(max(value - margin, -1), abs=1e-9)
        assert figures.difference.high == pytest.approx(min(value + margin, 1), abs=1e-9)


def test_replay_and_its_interval_are_those_of_the_written_rule() -> None:
    records = world(7)
    tasks = sorted({record.task for record in records})
    once = dict.fromkeys(tasks, 1)
    both = compare(records, CLAIMS[:1], CLAIMS, seed=3)
    first, all_claims = (arms_of(records, claims) for claims in (CLAIMS[:1], CLAIMS))
    before, after = replayed(records, first, once), replayed(records, all_claims, once)
    assert before != after
    assert (both.before.value, both.delta.value) == pytest.approx((float(before), float(after - before)), abs=1e-9)
    draws, deltas = random.Random(3), []
    for _ in range(REFITS):
        weights = dict.fromkeys(tasks, 0)
        for task in draws.choices(tasks, k=len(tasks)):
            weights[task] += 1
        deltas.append(replayed(records, all_claims, weights) - replayed(records, first, weights))
    ranked = sorted(map(float, deltas))
    assert (both.delta.low, both.delta.high) == pytest.approx((ranked[5], ranked[194]), abs=1e-9)


def test_each_arm_loses_exactly_those_that_never_try_again() -> None:
    claim, records = AfterError(template=NO_TABLE, do="b"), world(9)
    left, censoring = population(claim, records)
    tried, lost = {}, {True: [0, 0], False: [0, 0]}
    for record in records:
        moment = moment_of(claim, record)
        if moment is None:
            continue
        failed = record.steps[moment.step]
        later = [step for step in record.steps[moment.step + 1 :][:5] if step.action == failed.action]
        lost[moment.obeyed][0] += not later
        lost[moment.obeyed][1] += 1
        if later:
            tried[record.id] = float(not later[0].error)
    assert {tried_again.id: float(outcome_of(tried_again)) for tried_again in left} == tried
    shares = {arm: gone / every for arm, (gone, every) in lost.items()}
    assert (censoring.obeyed, censoring.disobeyed) == (shares[True], shares[False])


def test_no_two_splits_share_a_task_a_prompt_or_an_answer() -> None:
    records = world(11, episodes=300)
    division = divide(records, form_groups({}, records), "key")
    parts = [division.explore, division.sealed, division.audit]
    assert sorted(record.id for part in parts for record in part) == sorted(record.id for record in records)
    for name in ("task", "prompt_key", "answer_key"):
        seen = [{getattr(record, name) for record in part} - {""} for part in parts]
        assert sum(map(len, seen)) == len(set().union(*seen)), name
