from __future__ import annotations

import msgspec
import pytest

from events.types.claims import AfterError
from events.types.score import Score, Unmeasured
from strategies.episodes.episode import EpisodeOutcome, EpisodeRecord
from strategies.gate.replay.contrast import judged, outcome_of
from strategies.gate.replay.measure import MeasurementStamp, measure, score
from strategies.gate.replay.panel import panel_of
from strategies.gate.replay.score import compare, estimate
from strategies.pool.splits import Division
from tests.worlds import NO_TABLE, call, division_of, episode, world_with_a_rule

DO_SHOW = AfterError(template=NO_TABLE, do="sql:SHOW")
NOT_SELECT = AfterError(template=NO_TABLE, avoid="sql:SELECT")
COLUMN = "Unknown column <*>"
DO_DESC = AfterError(template=COLUMN, do="sql:DESC")
STAMP = MeasurementStamp("evaluator", "2026-01-01T00:00:00.000000Z")


def answered(
    count: int, action: str, outcome: float, *, error: str = NO_TABLE, run: str = "r1"
) -> list[EpisodeRecord]:
    """Episodes that answer an error with an action, each of a task of its own."""
    return [
        episode(
            [call("sql:SELECT", error), call(action)],
            outcome=outcome,
            task=f"{run}{error}{action}{outcome}{i}",
            run=run,
        )
        for i in range(count)
    ]


def value_of(records: list[EpisodeRecord], *claims: AfterError) -> tuple[float, float]:
    panel = panel_of(records, claims)
    return estimate(panel, [1] * len(panel.cells))


def test_without_claims_the_value_is_the_mean_outcome() -> None:
    records = answered(3, "sql:SHOW", 1.0) + answered(1, "sql:SELECT", 0.0)
    assert value_of(records) == (0.75, 1.0)


def test_a_disobedient_episode_is_imputed_by_the_shrunk_mean_of_its_stratum() -> None:
    """Two strata overlap: 6 of 8 and 2 of 8 obedient succeed, so m = .5; (6 + 5) / 18 and (2 + 5) / 18."""
    records = [
        *answered(6, "sql:SHOW", 1.0, run="r1"),
        *answered(2, "sql:SHOW", 0.0, run="r1"),
        *answered(4, "sql:SELECT", 0.0, run="r1"),
        *answered(2, "sql:SHOW", 1.0, run="r2"),
        *answered(6, "sql:SHOW", 0.0, run="r2"),
        *answered(2, "sql:SELECT", 1.0, run="r2"),
    ]
    value, coverage = value_of(records, DO_SHOW)
    assert value == pytest.approx((8 + 4 * 11 / 18 + 2 * 7 / 18) / 22)
    assert coverage == 1.0


def test_without_five_obedient_ones_nothing_is_imputed() -> None:
    records = answered(4, "sql:SHOW", 1.0) + answered(12, "sql:SELECT", 0.0)
    assert value_of(records, DO_SHOW) == (0.25, 0.0)


def test_the_prior_comes_from_overlapping_strata_only() -> None:
    """Run r2 obeys always and wins always: it says nothing about r1, where obeying never wins."""
    records = [
        *answered(5, "sql:SHOW", 0.0, run="r1"),
        *answered(5, "sql:SELECT", 0.0, run="r1"),
        *answered(10, "sql:SHOW", 1.0, run="r2"),
    ]
    assert value_of(records, DO_SHOW) == (0.5, 1.0)


def test_coverage_is_the_imputed_share_of_the_disobedient() -> None:
    records = [
        *answered(5, "sql:SHOW", 1.0, run="r1"),
        *answered(1, "sql:SELECT", 0.0, run="r1"),
        *answered(3, "sql:SELECT", 0.0, run="r2"),
    ]
    assert value_of(records, DO_SHOW)[1] == 0.25


def test_each_claim_is_replayed_on_what_those_before_it_left() -> None:
    table = answered(10, "sql:SHOW", 1.0) + answered(10, "sql:SELECT", 0.0)
    column = answered(10, "sql:DESC", 0.0, error=COLUMN) + answered(10, "sql:SELECT", 0.0, error=COLUMN)
    both = [
        episode(
            [call("sql:SELECT", COLUMN), call("sql:SELECT", NO_TABLE), call("sql:SELECT")],
            outcome=0.0,
            task=f"both{i}",
        )
        for i in range(10)
    ]
    records = table + column + both
    assert value_of(records, DO_SHOW)[0] == pytest.approx((10 + 10 + 10) / 50)
    assert value_of(records, DO_SHOW, DO_DESC)[0] == pytest.approx((10 + 10) / 50)


def test_a_second_claim_counts_in_episodes_that_met_the_first_before() -> None:
    records = [
        episode(
            [call("sql:SELECT", NO_TABLE), call(first), call("sql:SELECT", COLUMN), call(second)],
            outcome=0.2 + 0.3 * (first == "sql:SHOW") + 0.3 * (second == "sql:DESC"),
            task=f"{first}{second}{number}",
        )
        for first in ("sql:SHOW", "sql:EXPLAIN")
        for second in ("sql:DESC", "sql:EXPLAIN")
        for number in range(10)
    ]
    values = [value_of(records, *claims)[0] for claims in ((), (DO_SHOW,), (DO_DESC,), (DO_SHOW, DO_DESC))]
    assert values == pytest.approx([0.5, 0.65, 0.65, 0.8])


def test_what_two_claims_gain_together_counts_once() -> None:
    """Who looks after the first error looks after the second: nobody knows which of the two it was."""
    records = [
        episode(
            [call("sql:SELECT", NO_TABLE), call(look), call("sql:SELECT", COLUMN), call(look)],
            outcome=float(look == "sql:DESC"),
            task=f"{look}{number}",
        )
        for look in ("sql:DESC", "sql:SELECT")
        for number in range(10)
    ]
    first = AfterError(template=NO_TABLE, do="sql:DESC")
    assert compare(records, (first,), (first, DO_DESC), seed=1).delta == (0.0, 0.0, 0.0)


def test_an_avoid_behind_its_do_changes_nothing() -> None:
    records = world_with_a_rule(1, tasks=60)
    assert value_of(records, DO_SHOW, NOT_SELECT) == value_of(records, DO_SHOW)


def test_the_same_seed_gives_the_same_intervals_and_another_seed_others() -> None:
    records = world_with_a_rule(1, tasks=60)
    assert compare(records, (), (DO_SHOW,), seed=1) == compare(records, (), (DO_SHOW,), seed=1)
    assert compare(records, (), (DO_SHOW,), seed=1).delta != compare(records, (), (DO_SHOW,), seed=2).delta


def test_the_paired_delta_is_narrower_than_the_scores_it_compares() -> None:
    both = compare(world_with_a_rule(1, lift=0.15), (), (DO_SHOW,), seed=1)
    assert both.delta.value == pytest.approx(both.after.value - both.before.value)
    assert both.before.low < both.before.value < both.before.high
    assert both.delta.high - both.delta.low < (both.after.high - both.after.low)
    assert both.before.high > both.after.low  # the marginal intervals overlap
    assert both.delta.low > 0  # the paired difference is clear


@pytest.mark.parametrize("outcome", [0.0, 1.0])
def test_where_all_succeed_or_none_the_interval_of_a_score_knows_how_few_they_are(outcome: float) -> None:
    both = compare(answered(9, "sql:SHOW", outcome), (), (DO_SHOW,), seed=1)
    bounds = (0.7, 1.0) if outcome else (0.0, 0.3)
    assert both.after == pytest.approx((outcome, *bounds), abs=0.01)
    assert both.delta == (0, 0, 0)


def test_an_unchanged_version_has_no_delta() -> None:
    both = compare(world_with_a_rule(1, tasks=50), (DO_SHOW,), (DO_SHOW,), seed=1)
    assert both.delta == (0.0, 0.0, 0.0)


def test_an_avoid_stays_only_with_an_estimate_of_its_own_above_zero() -> None:
    """Whoever does not SELECT, but DESC, loses: avoiding SELECT is not what helps."""
    records = [
        *answered(20, "sql:SHOW", 1.0),
        *answered(20, "sql:SELECT", 0.6),
        *answered(60, "sql:DESC", 0.0),
    ]
    division = Division((), tuple(records), ())
    assert measure([DO_SHOW, NOT_SELECT], (), division, STAMP, seed=1).kept == (DO_SHOW,)
    helpful = Division((), tuple(records[:40]), ())
    assert measure([DO_SHOW, NOT_SELECT], (), helpful, STAMP, seed=1).kept == (DO_SHOW, NOT_SELECT)


def test_a_measurement_carries_one_evaluator_and_both_splits() -> None:
    evidence = measure([DO_SHOW], (), division_of(world_with_a_rule(3), "key"), STAMP, seed=1)
    scores = (evidence.sealed.before, evidence.sealed.after, evidence.audit.before, evidence.audit.after)
    assert [split_score.split for split_score in scores if isinstance(split_score, Score)] == [
        "sealed",
        "sealed",
        "audit",
        "audit",
    ]
    assert {split_score.evaluator for split_score in scores if isinstance(split_score, Score)} == {"evaluator"}
    assert evidence.sealed.effect is not None
    assert evidence.sealed.effect.tasks > 50
    assert set(evidence.sealed.effect.scope) == {"large", "small"}


def test_without_outcomes_there_is_no_score_and_the_reason_is_given() -> None:
    blind = Division((), (episode([call("a")], outcome=None),), ())
    evidence = measure([DO_SHOW], (), blind, STAMP, seed=1)
    assert isinstance(evidence.sealed.after, Unmeasured)
    assert "sealed" in evidence.sealed.after.reason
    assert evidence.figures.effect is None


def test_the_score_of_a_version_is_what_a_candidate_on_it_is_compared_with() -> None:
    division = division_of(world_with_a_rule(3), "key")
    evidence = measure([DO_DESC], [DO_SHOW], division, STAMP, seed=1)
    assert score([DO_SHOW], division, STAMP, seed=1) == (evidence.sealed.before, evidence.audit.before)


def test_of_two_claims_that_cannot_both_be_obeyed_the_first_is_replayed() -> None:
    division = division_of(world_with_a_rule(3), "key")
    live = [AfterError(template=NO_TABLE, avoid="sql:SHOW")]
    last = measure([DO_SHOW], live, division, STAMP, seed=1)
    first = measure([DO_SHOW], live, division, STAMP, seed=1, place=0)
    scores = (last.sealed.before, last.sealed.after, first.sealed.after)
    before, behind, ahead = (split_score.value for split_score in scores if isinstance(split_score, Score))
    assert before == behind < ahead


def test_a_live_claim_with_another_action_at_the_moment_is_found() -> None:
    live = AfterError(template=NO_TABLE, do="sql:DESC")
    evidence = measure([DO_SHOW], [live, DO_DESC], division_of(world_with_a_rule(3), "key"), STAMP, seed=1)
    assert evidence.contradicted == (live,)


def test_heuristic_outcomes_count_only_where_there_are_no_others() -> None:
    firm = episode([call("a")], task="firm")
    guess = msgspec.structs.replace(episode([call("a")], task="guess"), outcome=EpisodeOutcome(0.0, "heuristic"))
    silent = episode([call("a")], outcome=None, task="silent")
    assert judged([firm, guess, silent]) == ((firm,), False)
    assert judged([guess, silent]) == ((guess,), True)
    assert judged([silent]) == ((), False)


def test_an_episode_without_an_outcome_has_none_to_give() -> None:
    with pytest.raises(ValueError, match="no outcome"):
        outcome_of(episode([call("a")], outcome=None))
