"""The gate on worlds without an effect, and on the recorded one that has some."""

from __future__ import annotations

import statistics
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from events.types.claims import LOOK, After, AfterError
from strategies.gate.placebos import tasks_permuted
from strategies.gate.replay.contrast import cases_of, contrast
from strategies.gate.replay.measure import MeasurementStamp, measure
from strategies.gate.rules import HINTED
from strategies.gate.stats.mantel_haenszel import one_sided_p
from strategies.gate.verdict import judge
from strategies.policy.written_rules import WRITTEN_RULE
from strategies.propose.proposal import NewLines
from strategies.propose.recovery import recovery
from tests.worlds import (
    NO_TABLE,
    asking,
    division_of,
    evolved,
    hinted,
    outcomes_shuffled,
    promoted,
    world_with_a_rule,
    world_without_a_rule,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from events.types.claims import Claim
    from strategies.episodes.episode import EpisodeRecord
    from strategies.gate.replay.contrast import Contrast
    from strategies.pool.splits import Division

SEEDS = range(4)
"""Placebos of a kind; `bench.worlds` draws forty and more."""
KEYS = range(20)
DRAWS = 7
"""The seed of refits, as for what is sent through: the same episodes are drawn once."""
STAMP = MeasurementStamp("evaluator", "2026-01-01T00:00:00.000000Z")
DO_SHOW = AfterError(template=NO_TABLE, do="sql:SHOW")


def templates(records: Sequence[EpisodeRecord]) -> list[str]:
    return sorted({step.template for record in records for step in record.steps if step.error})


@pytest.fixture(scope="module")
def divisions(intercode: Sequence[EpisodeRecord]) -> list[Division]:
    """The recorded runs under each split key."""
    return [division_of(intercode, str(seed)) for seed in KEYS]


def sealed_figures(divisions: Sequence[Division], claim: Claim) -> list[Contrast]:
    figures = [contrast(cases_of(claim, division.sealed)) for division in divisions]
    return [figure for figure in figures if figure is not None]


@pytest.mark.data
@pytest.mark.usefixtures("outcomes_alone_differ")
@pytest.mark.parametrize("placebo", [outcomes_shuffled, tasks_permuted])
def test_nothing_is_promoted_where_recorded_outcomes_are_dealt_out_again(
    intercode: Sequence[EpisodeRecord], placebo: Callable[[Sequence[EpisodeRecord], int], list[EpisodeRecord]]
) -> None:
    names = templates(intercode)
    judged_count = 0
    for seed in SEEDS:
        division = division_of(placebo(intercode, seed), str(seed))
        assert [
            judgement
            for judgement in evolved(division, names, str(seed))
            if judgement.verdict.decision == "promote"
        ] == []
        direct = measure([DO_SHOW], (), division, STAMP, seed=DRAWS)  # past explore
        assert judge(direct.figures, WRITTEN_RULE, 1).decision != "promote"
        judged_count += direct.figures.effect is not None
    assert judged_count == len(SEEDS)


def test_nothing_is_promoted_where_actions_do_not_matter_and_success_ends_the_episode() -> None:
    past_explore = 0
    for seed in SEEDS:
        division = division_of(world_without_a_rule(seed), str(seed))
        assert [
            judgement
            for judgement in evolved(division, [NO_TABLE], str(seed))
            if judgement.verdict.decision == "promote"
        ] == []
        direct = measure([DO_SHOW], (), division, STAMP, seed=DRAWS)
        assert direct.figures.effect is not None
        past_explore += judge(direct.figures, WRITTEN_RULE, 1).decision == "promote"
    assert past_explore == 0, "one test in a hundred may be wrong, and this makes four"


@pytest.mark.parametrize("flatters", ["", "sql:SHOW"])
def test_noisy_hints_from_the_world_promote_nothing_and_biased_ones_show_why(flatters: str) -> None:
    would_pass = 0
    for seed in SEEDS:
        for world in (world_without_a_rule(seed), world_with_a_rule(seed, lift=0.0)):
            division = division_of(hinted(world, seed, right=0.75, flatters=flatters), str(seed))
            assert promoted(evolved(division, [NO_TABLE], str(seed))) == []
            figures = measure([DO_SHOW], (), division, STAMP, seed=DRAWS).figures  # past explore
            assert judge(figures, WRITTEN_RULE, 1).decision != "promote"
            would_pass += judge(replace(figures, hints=()), WRITTEN_RULE, 1).decision == "promote"
    assert would_pass == (len(SEEDS) if flatters else 0)


def test_a_true_rule_that_only_hints_show_waits_for_a_person() -> None:
    for seed in SEEDS:
        records = hinted(world_with_a_rule(seed, lift=0.6), seed, right=0.9)
        (only,) = evolved(division_of(records, str(seed)), [NO_TABLE], str(seed))
        assert only.verdict.decision == "hold"
        assert any(reason.startswith(HINTED) for reason in only.verdict.reasons)
        assert "last_check" in " ".join(only.verdict.reasons)


def test_a_true_rule_of_the_same_size_is_promoted_on_every_seed() -> None:
    for seed in SEEDS:
        (only,) = evolved(division_of(world_with_a_rule(seed), str(seed)), [NO_TABLE], str(seed))
        assert only.verdict.decision == "promote"


@pytest.mark.data
def test_a_permutation_of_tasks_keeps_each_outcome_vector_whole(intercode: Sequence[EpisodeRecord]) -> None:
    def vectors(records: Sequence[EpisodeRecord]) -> list[tuple[tuple[str, float], ...]]:
        by_task: dict[str, list[tuple[str, float]]] = {}
        for record in records:
            assert record.outcome is not None
            by_task.setdefault(record.task, []).append((record.run, record.outcome.value))
        return sorted(tuple(sorted(vector)) for vector in by_task.values())

    assert vectors(tasks_permuted(intercode, 3)) == vectors(intercode)


@pytest.mark.data
@pytest.mark.usefixtures("outcomes_alone_differ")
@pytest.mark.parametrize(
    ("claim", "median", "passes"),
    [
        (DO_SHOW, 0.44, 20),
        (AfterError(template=NO_TABLE, do="sql:SELECT"), -0.43, 0),
        (AfterError(template="Unknown column <*> in <*>", do="sql:SELECT"), -0.31, 0),
        (After(action="sql:SELECT", failing=True, avoid="sql:SELECT"), 0.33, 20),
    ],
)
def test_sealed_figures_of_the_recorded_runs_are_those_of_the_page(
    divisions: Sequence[Division], claim: Claim, median: float, passes: int
) -> None:
    figures = sealed_figures(divisions, claim)
    assert statistics.median(figure.difference.value for figure in figures) == pytest.approx(median, abs=0.03)
    assert sum(one_sided_p(figure.z) <= WRITTEN_RULE.alpha for figure in figures) == passes


@pytest.mark.data
@pytest.mark.usefixtures("outcomes_alone_differ")
def test_looking_at_the_schema_is_promoted_on_at_least_19_of_20_split_keys(
    divisions: Sequence[Division],
) -> None:
    promoted = 0
    for seed, division in zip(KEYS, divisions, strict=True):
        (only,) = evolved(division, [NO_TABLE], str(seed))
        effect, delta = only.evidence.sealed.effect, only.evidence.sealed.delta
        claim = only.evidence.kept[0]
        assert isinstance(claim, AfterError)
        assert claim.do in {DO_SHOW.do, LOOK}
        assert effect is not None
        assert delta is not None
        assert 0.005 < delta.low < delta.high < 0.035
        promoted += only.verdict.decision == "promote" and effect.risk_difference >= 0.30
    assert promoted >= 19


@pytest.mark.data
def test_explore_alone_decides_what_is_proposed(intercode: Sequence[EpisodeRecord]) -> None:
    division = division_of(intercode, "7")
    mined = recovery(asking(division.explore, template=NO_TABLE))
    assert isinstance(mined.proposal, NewLines)
    assert "SHOW" in mined.proposal.lines[0].text
    assert recovery(asking(division.explore[::-1], template=NO_TABLE)) == mined
