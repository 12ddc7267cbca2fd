"""Claims about how likely something is done in one place, given how often it is done in all."""

from __future__ import annotations

import random
from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies.gate.stats.conditional_odds import ActionCounts, chance_here, odds_ratio

counts = st.tuples(st.integers(1, 6), st.integers(0, 9)).flatmap(
    lambda sizes: st.builds(
        ActionCounts, st.integers(0, sizes[0]), st.just(sizes[0]), st.integers(0, sizes[1]), st.just(sizes[1])
    )
)


@given(counts)
def test_where_no_place_asks_for_it_more_one_action_has_its_share(table: ActionCounts) -> None:
    alone = ActionCounts(min(table.here, 1), 1, table.there, table.of_there)
    share = (alone.here + alone.there) / (1 + alone.of_there)
    assert chance_here(alone, 1.0) == pytest.approx(share)


@given(counts, st.floats(0.05, 20))
def test_a_chance_lies_between_none_and_certain_and_rises_with_the_odds(table: ActionCounts, odds: float) -> None:
    low, high = chance_here(table, odds), chance_here(table, 2 * odds)
    assert -1e-9 <= low <= high + 1e-9 <= 1 + 1e-6
    if not table.here + table.there:
        assert high == 0
    if table.here + table.there == table.of_here + table.of_there:
        assert low == pytest.approx(1)


@pytest.mark.parametrize("of_here", [1, 3])
def test_of_agents_who_differ_only_in_how_often_nothing_is_left_once_it_is_known_how_often_in_all(
    of_here: int,
) -> None:
    draws, times = random.Random(of_here), 3.0
    rarely, often = 0.2, 1.5  # odds elsewhere

    def doings(odds: float, of: int) -> int:
        return sum(draws.random() < odds / (1 + odds) for _ in range(of))

    agents = [draws.choice((rarely, often)) for _ in range(6_000)]
    tables = [
        ActionCounts(doings(times * odds, of_here), of_here, doings(odds, of := draws.randint(0, 6)), of)
        for odds in agents
    ]
    ratio = odds_ratio(tables)
    assert ratio == pytest.approx(times, rel=0.1)
    left: defaultdict[float, list[float]] = defaultdict(list)
    for odds, table in zip(agents, tables, strict=True):
        left[odds].append((table.here > 0) - chance_here(table, ratio))
    for rests in left.values():
        assert sum(rests) / len(rests) == pytest.approx(0, abs=0.02)


def test_sessions_of_thousands_of_actions_have_chances_too() -> None:
    assert chance_here(ActionCounts(1, 1, 3_000, 5_999), 1.0) == pytest.approx(3_001 / 6_000)
    assert 0 < chance_here(ActionCounts(10, 2_000, 10, 4_000), 0.5) <= 1
